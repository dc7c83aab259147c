"""The questions a calibration is fitted on: made, shipped, and the owner's own labelled ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import numpy as np
import yaml
from msgspec import Struct

from bot.calibration.made import made_questions
from corpus.model import Language
from corpus.reader import Index
from corpus.text import content_words

Label = Literal["answerable", "far", "near"]
Origin = Literal["made", "shipped", "owner"]
SHIPPED_FILE = "questions.yaml"
ENOUGH_LABELLED = 20  # answerable questions of the owner's, to fit on them instead of made ones


class Question(Struct, frozen=True, kw_only=True):
    """One question with what is right to do about it."""

    text: str
    label: Label
    origin: Origin


class Negative(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shipped question no site answers unless one of its terms stands there."""

    ask: str
    lang: Language
    terms: tuple[str, ...]


class QuestionsError(Exception):
    """The owner's file can't be used; the message names it and says why."""


def shipped() -> dict[Label, tuple[Negative, ...]]:
    """The packaged negatives by label."""
    text = files("bot.calibration").joinpath(SHIPPED_FILE).read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), dict[Label, tuple[Negative, ...]])


def suited_to(index: Index) -> list[Question]:
    """The shipped negatives of which no term stands in the content."""
    return [
        Question(text=negative.ask, label=label, origin="shipped")
        for label, negatives in shipped().items()
        for negative in negatives
        if not any(holds(index, term) for term in negative.terms)
    ]


def holds(index: Index, term: str) -> bool:
    """Whether one passage holds every word of `term`, accents and case folded."""
    rows = [index.holding(word) for word in content_words(term)]
    return bool(rows) and reduce(np.intersect1d, rows).size > 0


def read_labelled(path: Path) -> list[Question]:
    """The owner's questions: `questions`, each with `question` and `label`; other keys are notes.

    Raises:
        QuestionsError: unreadable, or an entry without a question or with another label.
    """
    try:
        entries = yaml.safe_load(path.read_text("utf-8"))["questions"]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError) as error:
        raise QuestionsError(f"{path} holds no list `questions` ({_short(error)})") from error
    if not isinstance(entries, list):
        raise QuestionsError(f"{path}: `questions` is not a list")
    return [_labelled(path, number, entry) for number, entry in enumerate(entries, start=1)]


def labelled_answerable(questions: Sequence[Question]) -> int:
    """How many answerable ones are the owner's own."""
    return sum(q.label == "answerable" and q.origin == "owner" for q in questions)


def gather(index: Index, labelled: Sequence[Question]) -> list[Question]:
    """The owner's and the shipped ones, and made ones while the owner has too few.

    Each text once; the owner's label goes before any other.
    """
    made: list[Question] = []
    if labelled_answerable(labelled) < ENOUGH_LABELLED:
        made = [Question(text=q, label="answerable", origin="made") for q in made_questions(index)]
    found: dict[str, Question] = {}
    for question in [*labelled, *made, *suited_to(index)]:
        found.setdefault(question.text.casefold(), question)
    return list(found.values())


def _labelled(path: Path, number: int, entry: Any) -> Question:
    text = entry.get("question") if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise QuestionsError(f"{path}: entry {number} has no `question`")
    label = entry.get("label")
    if label not in get_args(Label):
        raise QuestionsError(
            f"{path}: entry {number} has label {label!r}; allowed: {', '.join(get_args(Label))}"
        )
    return Question(text=text.strip(), label=label, origin="owner")


def _short(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
