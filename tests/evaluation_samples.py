"""Answers and verdicts for tests of the evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from bot.evaluation.answers import Answer, Shown
from bot.evaluation.content import QuoteContent
from bot.evaluation.judge import Judge, Verdict
from bot.evaluation.questions import Question, Turn
from bot.evaluation.report import Run, document

TODAY = date(2026, 11, 30)
PROMPT = "Answer the visitor's question from the numbered passages below and from nothing else."
PASSAGE = Shown(
    n=1, title="Trama", section="Payments", url="/projects/shop#payments", lang="en",
    quote="Payments: Stripe. PostgreSQL 15 keeps the stock.",
)  # fmt: skip


def answer(text: str, route: str = "answer", **fields: Any) -> Answer:
    """One that took 0.4 s to the first word and 1.2 s in all, from one passage."""
    given: dict[str, Any] = {
        "documents": ("shop.md",), "passages": (PASSAGE,), "offered": (PASSAGE,),
        "first_word_ms": 400.0, "total_ms": 1200.0,
    }  # fmt: skip
    return Answer(text=text, route=route, **(given | fields))


def refusal(lang: str = "en") -> Answer:
    texts = {
        "en": "I'm sorry, the content of this site does not answer that question.\n\n"
        "The nearest pages are: Sobre nosotros, Servicios.",
        "es": "Lo siento, el contenido de este sitio no responde a esa pregunta.\n\n"
        "Lo más cercano que hay: Services, A terminal interface that does not flicker.",
    }
    return answer(texts[lang], "refusal")


def turn(label: str = "answerable", lang: str = "en", **fields: Any) -> Turn:
    given: dict[str, Any] = {"question": "How is it paid?", "lang": lang, "label": label}
    return Turn(**(given | fields))


def question(*turns: Turn, name: str = "q-1", kind: str = "") -> Question:
    return Question(
        id=name,
        kind=kind or turns[0].label,
        aspect="",
        half="test",
        turns=turns,
        file=Path("q.yaml"),
    )


def judged(asked: Turn, got: Answer, **fields: Any) -> Verdict:
    """The verdict of a single question."""
    judge = Judge(QuoteContent(), TODAY, allowed=["Faro"], prompt=[PROMPT])
    return judge.conversation(question(asked, **fields), [got])[0]


def result_of(verdicts: Sequence[Verdict], **fields: Any) -> dict[str, Any]:
    """The document of a run that asked just these."""
    given: dict[str, Any] = {
        "bot": "Faro", "model": "tiny", "url": "http://bot", "questions": "tests/eval", "half": "test",
        "started": "2026-11-30T12:00:00+00:00", "seconds": 12.5, "conversations": len(verdicts),
        "planned": len(verdicts), "skipped": {"planted": 0}, "evidence": "index", "strangers": 0,
    }  # fmt: skip
    return document(Run(**(given | fields)), verdicts)
