"""Numbers, clock times and lengths of time in a text of either language, in a form that compares.

`1,150`, `1.150` and `1 150` are one number; so are `dos` and `2`, `4 million` and `4,000,000`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from bot.evaluation.facts import folded

NARROW = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")
NUMBER = re.compile(r"(?<![^\W\d_])(?<![\d][.,])\d+(?:[.,]\d+)*")
CLOCK = re.compile(
    r"(?<![\d.,])(\d{1,2}):([0-5]\d)(?!\d)(?:\s*([ap])\.?\s?m\b)?|(?<![\d.,])(\d{1,2})\s*([ap])\.?\s?m\b",
    re.I,
)
GROUPS = re.compile(r"\d{1,3}(?:[.,]\d{3})+\Z")
DECIMAL = re.compile(r"\d+(?:\.\d+)?")
MAGNITUDE = {
    "thousand": 1_000, "mil": 1_000, "k": 1_000, "million": 1_000_000, "millions": 1_000_000,
    "millon": 1_000_000, "millones": 1_000_000,
}  # fmt: skip
AFTER = re.compile(r"\s?([^\W\d_]+)")
WORDS = {
    word: number
    for line in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
        "dieciseis diecisiete dieciocho diecinueve veinte",
    )
    for number, word in enumerate(line.split())
} | {
    "un": 1, "una": 1, "thirty": 30, "treinta": 30, "forty": 40, "cuarenta": 40, "fifty": 50,
    "cincuenta": 50, "sixty": 60, "sesenta": 60, "seventy": 70, "setenta": 70, "eighty": 80,
    "ochenta": 80, "ninety": 90, "noventa": 90, "hundred": 100, "cien": 100,
}  # fmt: skip
# An article and an English adverb: as numbers they stand in evidence only.
NOT_CLAIMED = {"en": {"zero", "one", "once"}, "es": {"cero", "un", "una", "uno"}}
YEAR = r"(?:years?|anos?)"
MONTH = r"(?:months?|mes(?:es)?)"
ARTICLES = frozenset({"a", "un", "una"})
AMOUNT = rf"(?:\d+|a|{'|'.join(sorted(WORDS, key=len, reverse=True))})"
LENGTH = re.compile(
    rf"(?<![\w.,])({AMOUNT})\s+{YEAR}\b(?:,?\s*(?:and|y|con)?\s*({AMOUNT})\s+{MONTH}\b)?|(?<![\w.,])({AMOUNT})\s+{MONTH}\b"
)
# The lower end of «12 to 13 years», whose unit stands behind the upper one.
LOWER_END = re.compile(
    rf"(?<![\w.,])(?!a\b)({AMOUNT})\s*(?:to|a|or|o|-|–)\s*(?={AMOUNT}\s+(?:({YEAR})|{MONTH})\b)"
)
MONTHS_PER_YEAR = 12


class Duration(Struct, frozen=True, kw_only=True):
    """A length of time in words; `whole_years` when no months are told."""

    said: str
    months: int
    whole_years: bool
    start: int
    end: int

    @property
    def idiom(self) -> bool:
        """`a year`, `un mes`: often no measure at all, as in «twice a year»."""
        return self.said.split()[0] in ARTICLES and self.months in (1, MONTHS_PER_YEAR)


def readings(said: str, after: str = "") -> frozenset[str]:
    """Every number the digits may mean, a following word such as `million` included."""
    found = {_trimmed(said)}
    if GROUPS.fullmatch(said):
        found.add(re.sub(r"[.,]", "", said).lstrip("0") or "0")
    if said.count(",") == 1 and "." not in said:
        found.add(_trimmed(said.replace(",", ".")))
    if (match := AFTER.match(after)) and (times := MAGNITUDE.get(folded(match[1]))):
        found |= {f"{float(n) * times:.0f}" for n in found if DECIMAL.fullmatch(n)}
    return frozenset(found)


def numbers(text: str) -> Iterator[tuple[str, frozenset[str], int, int]]:
    """Each number in digits: as written, its readings, start and end."""
    text = NARROW.sub(",", text)
    for match in NUMBER.finditer(text):
        yield match[0], readings(match[0], text[match.end() :]), match.start(), match.end()


def spelt(text: str, lang: str | None = None) -> Iterator[tuple[str, int]]:
    """Each number in words with its value; with `lang` only words that surely are one there."""
    skipped = NOT_CLAIMED.get(lang or "", set())
    for word in re.findall(r"[^\W\d_]+", folded(text)):
        if word in WORDS and word not in skipped:
            yield word, WORDS[word]


def clock_times(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Each time of day: as written, `HH:MM` of 24 hours, start and end."""
    for match in CLOCK.finditer(text):
        hour, half = int(match[1] or match[4]), (match[3] or match[5] or "").lower()
        if half == "p" and hour < 12:
            hour += 12
        elif half == "a" and hour == 12:
            hour = 0
        if hour < 24:
            yield match[0], f"{hour:02}:{match[2] or '00'}", match.start(), match.end()


def durations(text: str) -> Iterator[Duration]:
    """Each length in years and months; positions are those in the folded text."""
    text = folded(text)
    for match in LOWER_END.finditer(text):
        yield Duration(
            said=match[0].strip(),
            months=_value(match[1]) * (MONTHS_PER_YEAR if match[2] else 1),
            whole_years=match[2] is not None,
            start=match.start(),
            end=match.end(),
        )
    for match in LENGTH.finditer(text):
        years, more, alone = (_value(part) for part in match.groups())
        yield Duration(
            said=match[0],
            months=MONTHS_PER_YEAR * years + more + alone,
            whole_years=match[1] is not None and match[2] is None,
            start=match.start(),
            end=match.end(),
        )


def _value(amount: str | None) -> int:
    if amount is None:
        return 0
    return int(amount) if amount.isdigit() else WORDS.get(amount, 1)


def _trimmed(number: str) -> str:
    """Without leading zeros: `04` is `4`; a decimal comma stays for the caller to read."""
    head, *rest = re.split(r"(?=[.,])", number, maxsplit=1)
    return (head.lstrip("0") or "0") + "".join(rest)
