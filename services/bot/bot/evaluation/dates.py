"""Dates in a text of either language, with as many parts as the text gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from bot.evaluation.facts import folded

MONTHS = {
    name: number
    for line in (
        "january february march april may june july august september october november december",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "ene feb mar abr may jun jul ago sep oct nov dic",
    )
    for number, name in enumerate(line.split(), start=1)
} | {"sept": 9, "setiembre": 9, "set": 9}
SHORT = {name for name in MONTHS if len(name) <= 4 and name not in {"june", "july", "mayo"}}
WEEKDAYS = {
    name: number
    for line in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
        "lunes martes miercoles jueves viernes sabado domingo",
        "lunes martes miercoles jueves viernes sabados domingos",
    )
    for number, name in enumerate(line.split())
}
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_YEAR = r"(?:1[89]|20)\d\d"
ISO = re.compile(rf"\b({_YEAR})-(\d\d)(?:-(\d\d))?\b")
SLASHED = re.compile(rf"\b(\d{{1,2}})/(\d{{1,2}})/({_YEAR})\b")
DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|o|º)?\s+(?:de\s+|of\s+)?({_MONTH})\b\.?(?:,?\s+(?:de\s+|del\s+)?({_YEAR})\b)?"
)
MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.?\s+(?:de\s+|del\s+|of\s+)?(?:(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+({_YEAR})\b)?|({_YEAR})\b)"
)
# «from September 2022 to …» has its own year; in «julio a septiembre de 2024» the first month has not.
SHARED_YEAR = re.compile(
    rf"\b({_MONTH})\b\.?\s*(?:-|–|—|a|to|al|and|y|until|hasta)\s*({_MONTH})\b\.?\s+(?:de\s+|del\s+)?({_YEAR})\b"
)
# Each with the groups of year (whichever there is), month and day, once for every way to read it.
PATTERNS: tuple[tuple[re.Pattern[str], tuple[tuple[tuple[int, ...], int, int], ...]], ...] = (
    (ISO, (((1,), 2, 3),)),
    (SLASHED, (((3,), 2, 1), ((3,), 1, 2))),
    (DAY_FIRST, (((3,), 2, 1),)),
    (MONTH_FIRST, (((3, 4), 1, 2),)),
)
ALONE = re.compile(r"\b[^\W\d_]{3,10}\b")


class Day(Struct, frozen=True, kw_only=True):
    """A date or a part of one; what the text leaves out is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def within(self, other: Day) -> bool:
        """Whether `other` says all that this one says."""
        return all(
            mine in (None, theirs)
            for mine, theirs in (
                (self.year, other.year), (self.month, other.month), (self.day, other.day),
            )
        )  # fmt: skip


class Dated(Struct, frozen=True, kw_only=True):
    """Where a text gives a date; `days` has two readings of 03/04/2024."""

    said: str
    days: tuple[Day, ...]
    start: int
    end: int


def dates(text: str) -> Iterator[Dated]:
    """The dates with a number in them, each once; positions are those in the folded text."""
    text = folded(text)
    for pattern, orders in PATTERNS:
        for match in pattern.finditer(text):
            days = tuple(
                day
                for year, month, number in orders
                if (day := _day(_group(match, *year), match[month], _group(match, number)))
            )
            if days:
                yield Dated(said=match[0], days=days, start=match.start(), end=match.end())
                text = f"{text[: match.start()]}{' ' * len(match[0])}{text[match.end() :]}"


def told_dates(text: str) -> set[Day]:
    """Everything a text says about dates: for evidence, so months without a number count too."""
    found = {day for dated in dates(text) for day in dated.days}
    text = folded(text)
    for first, last, year in SHARED_YEAR.findall(text):
        found |= {Day(year=int(year), month=MONTHS[first]), Day(year=int(year), month=MONTHS[last])}
    found |= {Day(month=MONTHS[word]) for word in ALONE.findall(text) if word in MONTHS}
    return found


def lone_months(text: str) -> Iterator[tuple[str, int]]:
    """Months named without a number. Short forms and the words may, march are left out where small."""
    for match in ALONE.finditer(text):
        word = folded(match[0])
        if word in MONTHS and word not in SHORT and (match[0] != "march"):
            yield match[0], MONTHS[word]


def weekdays(text: str) -> Iterator[tuple[str, int]]:
    """Days of the week; the Spanish number `martes` is no other word's."""
    for match in ALONE.finditer(text):
        if (word := folded(match[0])) in WEEKDAYS:
            yield match[0], WEEKDAYS[word]


def holds_date(told: Iterable[Day], said: Iterable[Day]) -> bool:
    """Whether one reading of a date stands in what the evidence tells, with all its parts."""
    told = list(told)
    return any(day.within(other) for day in said for other in told)


def _group(match: re.Match[str], *numbers: int) -> str | None:
    return next((match[number] for number in numbers if match[number]), None)


def _day(year: str | None, month: str, day: str | None) -> Day | None:
    number = int(month) if month.isdigit() else MONTHS[month]
    days = int(day) if day else None
    if not 1 <= number <= 12 or (days is not None and not 1 <= days <= 31):
        return None
    return Day(year=int(year) if year else None, month=number, day=days)
