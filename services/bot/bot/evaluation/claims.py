"""What a sentence asserts that can be looked up: the facts a program can check, and nothing else.

Counted are numbers (in digits, and in words from two up), times of day, lengths of time, dates, months,
days of the week, e-mail and web addresses, quotations of three words or more, terms between backticks,
and names (bot.evaluation.names). Not counted: what is said with ordinary words only, a single
capitalised word at the beginning of a sentence, and ordinals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from bot.evaluation.addresses import EMAIL, QUOTATION, URL, address, quotations
from bot.evaluation.dates import MONTHS, WEEKDAYS, dates, lone_months, weekdays
from bot.evaluation.facts import folded
from bot.evaluation.names import names
from bot.evaluation.numbers import clock_times, durations, numbers, spelt

ClaimKind = Literal[
    "number", "time", "length", "date", "month", "weekday", "email", "url", "quotation", "name"
]

CROSSED_OUT = "¦"  # no white space, which folding would collapse


class Claim(Struct, frozen=True, kw_only=True):
    """One fact of a sentence."""

    kind: ClaimKind
    said: str
    """As the answer has it, case and accents folded where it is a number or a date."""
    value: Any
    """What is compared; its type depends on the kind (bot.evaluation.evidence)."""


def claims(sentence: str, lang: str) -> list[Claim]:
    """The facts of a sentence in that language, in the order of their kinds."""
    return list(_claims(sentence, lang))


def _claims(text: str, lang: str) -> Iterator[Claim]:
    for quoted in quotations(text):
        yield Claim(kind="quotation", said=quoted, value=quoted)
        text = text.replace(quoted, " ")
    text = QUOTATION.sub(lambda match: f" {''.join(part or '' for part in match.groups())} ", text)
    for match in list(EMAIL.finditer(text)):
        yield Claim(kind="email", said=match[0], value=folded(match[0].rstrip(".")))
        text = text.replace(match[0], " ")
    for match in list(URL.finditer(text)):
        if (bare := address(match[0])) and not _is_name_with_dot(match[0]):
            yield Claim(kind="url", said=match[0], value=bare)
            text = text.replace(match[0], " ")
    for name in names(text):
        if folded(name) not in MONTHS and folded(name) not in WEEKDAYS:
            yield Claim(kind="name", said=name, value=name)
    yield from _measures(text, lang)


def _measures(text: str, lang: str) -> Iterator[Claim]:
    small = folded(text)
    months = list(lone_months(text))
    for weekday, number in weekdays(text):
        yield Claim(kind="weekday", said=weekday, value=number)
    for dated in list(dates(small)):
        yield Claim(kind="date", said=dated.said, value=dated.days)
        small = _without(small, dated.start, dated.end)
        months = [month for month in months if folded(month[0]) not in dated.said]
    for month, number in months:
        yield Claim(kind="month", said=month, value=number)
    for duration in list(durations(small)):
        if not duration.idiom:
            yield Claim(kind="length", said=duration.said, value=duration)
        small = _without(small, duration.start, duration.end)
    for said, value, start, end in list(clock_times(small)):
        yield Claim(kind="time", said=said, value=value)
        small = _without(small, start, end)
    for said, values, _, _ in numbers(small):
        yield Claim(kind="number", said=said, value=values)
    for word, number in spelt(small, lang):
        yield Claim(kind="number", said=word, value=frozenset({str(number)}))


def _without(text: str, start: int, end: int) -> str:
    """The text with a part crossed out, so that all other positions stay."""
    return f"{text[:start]}{CROSSED_OUT * (end - start)}{text[end:]}"


def _is_name_with_dot(said: str) -> bool:
    """Names such as Socket.io end like a domain and begin with a capital."""
    return said[:1].isupper() and "/" not in said
