"""Say in words how long things took, so that a small model need not count months.

Pure functions of what the index holds and the day of the question. The notes are for the model; the
text quoted to visitors stays as it was written.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from datetime import date

import msgspec

from corpus.model import HEADING_JOINT, Chunk, Language
from corpus.section_kinds import SectionKind, kind_of_heading
from corpus.spans import MONTHS_PER_YEAR, Length, Span, length, overlap, total

MOST_SPANS = 6  # of one passage
MOST_OVERLAPS = 5

_KIND_NAMES: dict[Language, dict[SectionKind, str]] = {
    "en": {"experience": "Experience", "education": "Education", "projects": "Projects"},
    "es": {"experience": "Experiencia", "education": "Formación", "projects": "Proyectos"},
}
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "duration": "Duration", "so far": "so far", "year": "year", "years": "years", "month": "month",
        "months": "months", "and": " ", "to": "to", "about": "about", "up to": "up to",
        "total": "{kind} in total: {length} ({count} entries; time spent on several at once counts once)",
        "overlap": "At the same time: {one} and {other}, {length}",
    },
    "es": {
        "duration": "Duración", "so far": "hasta hoy", "year": "año", "years": "años", "month": "mes",
        "months": "meses", "and": " y ", "to": "a", "about": "unos", "up to": "hasta",
        "total": "{kind} en total: {length} ({count} entradas; lo simultáneo cuenta una vez)",
        "overlap": "A la vez: {one} y {other}, {length}",
    },
}  # fmt: skip


class SectionNote(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that several entries say together."""

    text: str
    spans: tuple[Span, ...]
    """The ranges it was worked out from."""


def span_note(spans: Sequence[Span], language: Language, today: date) -> str:
    """The lengths of a passage's ranges, `Duration: 2 years (Jul 2024 – Jun 2026)`; "" without any."""
    all_told = (told(span, language, today) for span in dict.fromkeys(spans))
    known = [text for text in all_told if text][:MOST_SPANS]
    return f"{_WORDS[language]['duration']}: {'; '.join(known)}" if known else ""


def section_notes(
    chunks: Sequence[Chunk],
    kind: SectionKind,
    language: Language,
    today: date,
    *,
    named: Collection[str] = (),
) -> list[SectionNote]:
    """How long all entries of one kind are together, and which went on at once.

    Args:
        chunks: of one document, in order.
        named: entries that are asked about. Then their sum with the others is left out, and what went on
            at once is told of these: of two or more among each other, of one with any.

    Returns:
        Nothing unless there are two dated entries at least.
    """
    entries = entries_of(chunks, kind)
    if len(entries) < 2 or kind not in _KIND_NAMES[language]:
        return []
    whole = total(entries, today)
    if whole.most == 0:
        return []
    words = _WORDS[language]
    notes: list[SectionNote] = []
    if not named:
        kind_name = _KIND_NAMES[language][kind]
        length_of_all = spelt(whole, language)
        text = words["total"].format(kind=kind_name, length=length_of_all, count=len(entries))
        notes.append(SectionNote(text=text, spans=tuple(entries)))
    least_named = min(len(named), 2)
    shared = [
        (one, other, both)
        for one, other in itertools.combinations(entries, 2)
        if (one.entry in named) + (other.entry in named) >= least_named
        and (both := overlap(one, other, today)).least > 0
    ]
    shared.sort(key=lambda each: -each[2].least)
    for one, other, both in shared[:MOST_OVERLAPS]:
        text = words["overlap"].format(
            one=one.entry, other=other.entry, length=spelt(both, language)
        )
        notes.append(SectionNote(text=text, spans=(one, other)))
    return notes


def spelt(length: Length, language: Language) -> str:
    """`1 year 3 months`, or whole years where the text gives no months: `2 to 3 years`."""
    words = _WORDS[language]
    if length.is_exact:
        years, months = divmod(length.most, MONTHS_PER_YEAR)
        parts = [_counted(years, "year", words)] if years else []
        parts += [_counted(months, "month", words)] if months or not years else []
        return words["and"].join(parts)
    least, most = _whole_years(length.least), max(_whole_years(length.most), 1)
    if least == 0:
        return f"{words['up to']} {_counted(most, 'year', words)}"
    if least == most:
        about = "un" if language == "es" and most == 1 else words["about"]
        return f"{about} {_counted(most, 'year', words) if about != 'un' else 'año'}"
    return f"{least} {words['to']} {_counted(most, 'year', words)}"


def told(span: Span, language: Language, today: date) -> str:
    """`2 years (Jul 2024 – Jun 2026)`; "" for a range that has not begun."""
    known = length(span, today)
    if known.most == 0:
        return ""
    so_far = f" {_WORDS[language]['so far']}" if span.end is None else ""
    return f"{spelt(known, language)}{so_far} ({span.text})"


def entries_of(chunks: Sequence[Chunk], kind: SectionKind) -> list[Span]:
    """What the ranges of one kind date, each once; parts of a dated entry are not entries."""
    found = {
        (chunk.heading, span): None
        for chunk in chunks
        if chunk.section == kind
        for span in chunk.spans
        if span.entry
    }
    # Below Experience, the list of its items is no entry: only a section that is dated itself.
    dated = {
        heading
        for heading, _ in found
        if kind_of_heading(heading.rsplit(HEADING_JOINT, 1)[-1]) is None
    }
    return [span for heading, span in found if not _is_below(heading, dated)]


def _is_below(heading: str, headings: set[str]) -> bool:
    parts = heading.split(HEADING_JOINT)
    return any(HEADING_JOINT.join(parts[:end]) in headings for end in range(1, len(parts)))


def _counted(number: int, unit: str, words: dict[str, str]) -> str:
    return f"{number} {words[unit if number == 1 else unit + 's']}"


def _whole_years(months: int) -> int:
    return (2 * months + MONTHS_PER_YEAR) // (2 * MONTHS_PER_YEAR)
