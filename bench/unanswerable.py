"""How often questions with and without an answer are answered, through the whole pipeline.

    python -m bench.unanswerable --corpus FILE --questions FILE --chat URL [--limit N] [--json]

SQuAD-2.0-format files; needs a running embedding server and the chat server at --chat. The corpus
becomes an index by the product's own code, and every question goes through the real ChatService. What
stops it is told apart: the gate (no model is called), the model's own "not in the passages", and the
guard (an unsupported fact, or another language: the answer ends in a quotation). `--limit` takes so
many of each kind, evenly spread.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from bench.figures import table
from bench.squad import Question, build_index, read_corpus, read_questions
from bot.adapters.build import open_ports
from bot.chat.events import Chunk, Done, Failed
from bot.chat.ports import Ports
from bot.chat.service import Ask, ChatService
from bot.evaluation.facts import folded, holds
from corpus.embedding import EmbeddingClient
from corpus.settings import KnownAnswerSettings, RedisSettings, Settings
from corpus.settings_file import load_settings
from tests.captured_log import listening

Outcome = Literal["gate", "model", "guard", "answered", "other", "failed"]
OUTCOMES: tuple[tuple[Outcome, str], ...] = (
    ("gate", "refused by the gate"),
    ("model", "declined by the model"),
    ("guard", "ended by the guard"),
    ("answered", "answered"),
    ("other", "answered without a model"),
    ("failed", "failed"),
)
QUOTED = "answer completed by quotation"  # bot.chat.generate's record; its `kind` says of what


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one question."""

    outcome: Outcome
    kind: str | None
    """Of the fact that the guard stopped."""
    holds_answer: bool
    """The text shown holds one of the file's answers."""


class Quotations(logging.Handler):
    """Notes why an answer was completed by quotation; the stream does not say it."""

    def __init__(self) -> None:
        super().__init__()
        self.kind: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record of bot.chat."""
        if record.getMessage() == QUOTED:
            self.kind = str(getattr(record, "kind", "unknown"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, and print the table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.unanswerable", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--chat", help="chat server [default: the configured one]")
    parser.add_argument("--limit", type=int, help="so many possible and so many impossible ones")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = load_settings(options.config)
    paragraphs, place = read_corpus(options.corpus)
    questions = spread(read_questions(options.questions, paragraphs, place), options.limit)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with EmbeddingClient(settings.embeddings) as client:
            build_index(folder, paragraphs, settings, client).close()
        found = asyncio.run(ask_all(bare(settings, folder, options.chat), questions))
    result = summary(questions, found)
    print(msgspec.json.encode(result).decode() if options.json else _render(result))


def spread(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """At most `limit` possible and `limit` impossible questions, evenly over the file."""
    chosen: list[Question] = []
    for impossible in (False, True):
        kind = [question for question in questions if question.impossible == impossible]
        most = len(kind) if limit is None else min(limit, len(kind))
        chosen += [kind[n * len(kind) // most] for n in range(most)]
    return chosen


def bare(settings: Settings, folder: Path, chat: str | None) -> Settings:
    """The owner's settings over another index, and nothing remembered between questions."""
    provider = settings.provider
    provider = replace(
        provider, endpoint=chat or provider.endpoint, states_path="", warm_when_idle=False
    )
    return replace(
        settings,
        providers=(provider,),
        rag=replace(settings.rag, index_path=str(folder)),
        known_answers=KnownAnswerSettings(enabled=False),
        redis=RedisSettings(),
    )


async def ask_all(settings: Settings, questions: Sequence[Question]) -> list[Asked]:
    """Every question in a conversation of its own, one after the other."""
    found = []
    async with open_ports(settings) as ports:
        await _ready(ports)
        service = ChatService(settings, ports)
        quotations = Quotations()
        with listening(quotations, logging.getLogger("bot.chat"), logging.INFO):
            for number, question in enumerate(questions, start=1):
                found.append(await _ask(service, question, quotations))
                print(f"\r{number} of {len(questions)}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    return found


def summary(questions: Sequence[Question], found: Sequence[Asked]) -> dict[str, Any]:
    """Shares of each outcome for possible and impossible questions."""
    result: dict[str, Any] = {}
    for name, impossible in (("possible", False), ("impossible", True)):
        asked = [a for q, a in zip(questions, found, strict=True) if q.impossible == impossible]
        counts = Counter(item.outcome for item in asked)
        total = len(asked) or 1
        result[name] = {
            "n": len(asked),
            **{outcome: round(counts[outcome] / total, 4) for outcome, _ in OUTCOMES},
            "guard_kinds": dict(Counter(item.kind for item in asked if item.kind)),
        }
        if not impossible:
            right = sum(item.holds_answer for item in asked)
            result[name]["holds_answer"] = round(right / total, 4)
    return result


async def _ready(ports: Ports) -> None:
    """The watcher compares the embedder in the background; here the first question counts too."""
    await ports.embedder.probe()
    state = ports.index.state()
    if state.index is None or not state.dense:
        sys.exit(f"no search by meaning: {state.problem}")


async def _ask(service: ChatService, question: Question, quotations: Quotations) -> Asked:
    quotations.kind = None
    text = ""
    outcome: Outcome = "failed"
    ticket = service.admit()
    async with aclosing(service.answer(Ask(question=question.text), ticket)) as events:
        async for event in events:
            if isinstance(event, Chunk):
                text += event.content
            elif isinstance(event, Done):
                outcome = _outcome(event, quotations.kind)
            elif isinstance(event, Failed):
                print(f"\n{question.id}: {event.code}", file=sys.stderr)
    shown = folded(text)
    return Asked(
        outcome=outcome,
        kind=quotations.kind,
        holds_answer=outcome in ("answered", "guard")
        and any(holds(shown, answer) for answer in question.answers),
    )


def _outcome(done: Done, quoted: str | None) -> Outcome:
    if done.route == "refusal":
        return "model" if done.usage.input_tokens or done.usage.output_tokens else "gate"
    if done.route == "passages":
        return "failed"  # the model was away
    if done.route != "answer":
        return "other"
    return "guard" if quoted else "answered"


def _render(result: dict[str, Any]) -> str:
    kinds = ("possible", "impossible")
    rows = [
        [title, *(f"{result[kind][outcome]:.1%}" for kind in kinds)] for outcome, title in OUTCOMES
    ]
    heads = ["", *(f"{kind} ({result[kind]['n']})" for kind in kinds)]
    lines = [table(heads, rows)]
    lines.append(
        f"possible ones whose text holds the answer: {result['possible']['holds_answer']:.1%}"
    )
    lines += [f"guard, {kind}: {result[kind]['guard_kinds']}" for kind in kinds]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
