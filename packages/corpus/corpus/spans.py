"""Stretches of time as a text gives them, and how long they are.

Months count as a reader counts them: both ends are included, so July 2024 to June 2026 is 24 months.
A bare year says less. At most it is the whole year, and at least half of it: 2021–2023 is 24 to 36
months. Where the two bounds differ, a length is told in whole years and never as one exact number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

import msgspec

MONTHS_PER_YEAR = 12
JANUARY, JUNE, JULY, DECEMBER = 1, 6, 7, 12


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One range of dates as it stands in a heading or a text."""

    text: str
    """As written, on one line: `Jul 2024 – Jun 2026`."""
    start: str
    """`YYYY-MM`, or `YYYY` where the text gives no month."""
    end: str | None
    """The same, of the last month or year; None for a range that goes on (`2021 – present`)."""
    entry: str = ""
    """What it dates as a whole: a job, a course. Empty for a range in running text."""


class Length(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A number of months, or the bounds of it."""

    least: int
    most: int

    @property
    def is_exact(self) -> bool:
        """True when the text gives both months."""
        return self.least == self.most


Months = tuple[int, int]
"""First and last month of a stretch, both included, counted from year 0; empty if last < first."""


def length(span: Span, today: date) -> Length:
    """How long a span is; one that goes on ends in the month of `today`."""
    return total([span], today)


def total(spans: Sequence[Span], today: date) -> Length:
    """How long the spans are together; months that several of them hold count once."""
    least = _months_of(surely(span, today) for span in spans)
    return Length(least=least, most=max(least, _months_of(at_most(span, today) for span in spans)))


def overlap(one: Span, other: Span, today: date) -> Length:
    """How long both go on at the same time."""
    least = _shared(surely(one, today), surely(other, today))
    return Length(least=least, most=max(least, _shared(at_most(one, today), at_most(other, today))))


def surely(span: Span, today: date) -> Months:
    """The months it holds by the careful reading: half of a bare year."""
    return _month(span.start, JULY), _end(span, JUNE, today)


def at_most(span: Span, today: date) -> Months:
    """The months it holds by the generous reading: the whole of a bare year."""
    return _month(span.start, JANUARY), _end(span, DECEMBER, today)


def _end(span: Span, month: int, today: date) -> int:
    now = today.year * MONTHS_PER_YEAR + today.month
    return now if span.end is None else _month(span.end, month)


def _month(point: str, of_bare_year: int) -> int:
    year, _, month = point.partition("-")
    return int(year) * MONTHS_PER_YEAR + (int(month) if month else of_bare_year)


def _shared(one: Months, other: Months) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]) + 1)


def _months_of(stretches: Iterable[Months]) -> int:
    months, covered_to = 0, -1
    for first, last in sorted(stretches):
        begin = max(first, covered_to + 1)
        months += max(0, last - begin + 1)
        covered_to = max(covered_to, last)
    return months
