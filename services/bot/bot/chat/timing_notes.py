"""How long something lasted, worked out for the model, which would count wrongly."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date

from bot.chat.context import Context, Note
from bot.chat.found import Found
from bot.chat.work_history.entries import named as named_by
from corpus.model import Language
from corpus.reader import Index, Passage
from corpus.spans import Span
from corpus.text import fold
from corpus.time_notes import section_notes, span_note

MOST_NOTES = 4  # some 20 tokens each, and every token costs 30 ms
LENGTHS = frozenset({"years-of", "how-long", "since-when", "until-when"})
"""Intents that want a length. Where and for whom somebody worked stands on the page already."""
SUMMED = frozenset({"years-of", "how-long"})
"""Intents that want all entries together."""
OVERLAPPING = re.compile(r"overlap|coincid|solap|simultan|same time|a la vez|mientras|while")


def time_notes(found: Found, context: Context, language: Language, today: date) -> tuple[Note, ...]:
    """Lengths of the entries asked about, and their sum; nothing for any other question.

    They count to `today`, the day of the question, so they stand behind it and not on the page. Where the
    question names entries («how long did you work for Metrimex?») only theirs are told: a model of 1.5B
    put «1 year 9 months» together from two others, and all of them are 200 tokens, 4 s on two CPUs.
    """
    asked = found.retrieved.time
    if asked is None or asked.intent not in LENGTHS:
        return ()
    best = next((p for p in context.prefix if p.chunk.section == asked.kind), None)
    chunks = [] if best is None else [p.chunk for p in _whole(found.index, best)]
    # «How many years of backend work?»: the word may stand in one entry and count for several.
    by_name = asked.intent != "years-of"
    entries = {span.entry for c in chunks if c.section == asked.kind for span in c.spans}
    named = named_by(found.retrieved.query, entries - {""}) if by_name else set()
    notes: list[Note] = []
    for n in context.found:
        chunk = context.passages[n - 1].chunk
        spans = [span for span in chunk.spans if not named or span.entry in named]
        if chunk.section == asked.kind and (note := span_note(spans, language, today)):
            notes.append(Note(text=f"[{n}] {note}", numbers=(n,)))
    del notes[MOST_NOTES:]
    # Of one entry alone what went on beside it is no answer, unless just that is asked.
    beside = len(named) != 1 or OVERLAPPING.search(fold(found.retrieved.query))
    if chunks and asked.intent in SUMMED and beside:
        for told in section_notes(chunks, asked.kind, language, today, named=named):
            notes.append(Note(text=told.text, numbers=_dated(context, told.spans)))
    return tuple(notes)


def _dated(context: Context, spans: Collection[Span]) -> tuple[int, ...]:
    """Numbers of the passages that hold one of the ranges at least."""
    numbered = enumerate(context.passages, start=1)
    return tuple(n for n, passage in numbered if not set(spans).isdisjoint(passage.chunk.spans))


def _whole(index: Index, passage: Passage) -> Iterator[Passage]:
    """All passages of its document."""
    for page in index.pages:
        if page.document.path == passage.document.path:
            yield from page.passages
