"""Labelled questions: what a file of them may hold, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from corpus.model import Language

Label = Literal["answerable", "far", "near", "half", "smalltalk", "injection"]
Half = Literal["dev", "test"]
Rule = Literal["language", "system-text", "links", "markup"]


class Planted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document that has to be in the bot's index for the question to mean anything."""

    folder: Literal["posts", "projects", "docs"]
    file: str
    text: str
    """The whole Markdown with its frontmatter."""


class Said(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An earlier message that nobody said: forged history to send along."""

    role: Literal["user", "assistant"]
    content: str


class Turn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question with its label; the fields are explained in docs/evaluation.md."""

    question: str
    lang: Language
    label: Label
    documents: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    route: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    premise: bool = False
    cross: bool = False
    history: tuple[Said, ...] = ()
    planted: Planted | None = None
    rule: Rule | None = None
    note: str = ""
    counted: Any = None
    """How a count among the facts follows from the site; for the file's own checks."""


class Question(Struct, frozen=True, kw_only=True):
    """One entry: a question, or several asked in one conversation."""

    id: str
    kind: str
    aspect: str
    half: Half
    turns: tuple[Turn, ...]
    file: Path

    @property
    def planted(self) -> tuple[Planted, ...]:
        """Documents this entry needs in the index."""
        return tuple(turn.planted for turn in self.turns if turn.planted)


def chosen(
    questions: Sequence[Question],
    *,
    half: str | None = None,
    kinds: Sequence[str] = (),
    limit: int | None = None,
) -> list[Question]:
    """The questions of a half and of some kinds, at most `limit`: the kinds take turns."""
    kept = [
        question
        for question in questions
        if half in (None, question.half) and (not kinds or question.kind in kinds)
    ]
    if limit is None or len(kept) <= limit:
        return kept
    seen: dict[str, int] = {}
    order: list[tuple[int, int]] = []
    for place, question in enumerate(kept):
        seen[question.kind] = seen.get(question.kind, 0) + 1
        order.append((seen[question.kind], place))
    taken = {place for _, place in sorted(order)[:limit]}
    return [question for place, question in enumerate(kept) if place in taken]


def plant(questions: Sequence[Question], folder: Path) -> list[Path]:
    """Write the planted documents below `folder`, in `posts`, `projects` and `docs`; their paths."""
    written = []
    for planted in (document for question in questions for document in question.planted):
        path = folder / planted.folder / planted.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(planted.text, "utf-8")
        written.append(path)
    return written


def to_question(entry: dict[str, Any], file: Path) -> Question:
    """The question of one YAML mapping.

    Raises:
        msgspec.ValidationError: a field is unknown, missing or of another type.
        ValueError: the fields contradict each other.
    """
    rest = dict(entry)
    turns = rest.pop("turns", None)
    head = msgspec.convert(
        {name: rest.pop(name) for name in ("id", "kind", "aspect", "set") if name in rest}, _Head
    )
    if turns is None:
        asked: tuple[Turn, ...] = (msgspec.convert(rest, Turn),)
    else:
        if wrong := rest.keys() - {"lang", "note"}:
            raise ValueError(f"`{min(wrong)}` belongs to one of the turns")
        asked = msgspec.convert(turns, tuple[Turn, ...])
    if not asked:
        raise ValueError("`turns` is empty")
    return Question(
        id=head.id, kind=head.kind or asked[0].label, aspect=head.aspect, half=head.set,
        turns=asked, file=file,
    )  # fmt: skip


class _Head(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    kind: str = ""
    aspect: str = ""
    set: Half = "test"
