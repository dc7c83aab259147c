"""How long something lasted, worked out for the model, which would count wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from bot.chat.context import Context
from bot.chat.found import Found
from corpus.model import Language
from corpus.reader import Index, Passage
from corpus.time_notes import section_note, span_note

MOST_NOTES = 4  # some 20 tokens each, and every token costs 30 ms
LENGTHS = frozenset({"years-of", "how-long", "since-when", "until-when"})
"""Intents that want a length. Where and for whom somebody worked stands on the page already."""
SUMMED = frozenset({"years-of", "how-long"})
"""Intents that want all entries together."""


def time_notes(found: Found, context: Context, language: Language, today: date) -> tuple[str, ...]:
    """Lengths of the entries asked about, and their sum; nothing for any other question.

    They count to `today`, the day of the question, so they stand behind it and not on the page.
    """
    asked = found.retrieved.time
    if asked is None or asked.intent not in LENGTHS:
        return ()
    notes: list[str] = []
    for n in context.found:
        passage = context.passages[n - 1]
        if passage.chunk.section == asked.kind and len(notes) < MOST_NOTES:
            note = span_note(passage.chunk.spans, language, today)
            if note:
                notes.append(f"[{n}] {note}")
    best = next((p for p in context.prefix if p.chunk.section == asked.kind), None)
    if best is not None and asked.intent in SUMMED:
        chunks = [passage.chunk for passage in _whole(found.index, best)]
        if summed := section_note(chunks, asked.kind, language, today):
            notes.append(summed)
    return tuple(notes)


def _whole(index: Index, passage: Passage) -> Iterator[Passage]:
    """All passages of its document."""
    for page in index.pages:
        if page.document.path == passage.document.path:
            yield from page.passages
