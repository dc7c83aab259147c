"""What the evidence holds, under keys that both languages and all spellings share.

Every passage is read once into a row of places; each place carries the keys of its word: the word
itself, its stem, its name in both languages, its number, its month. The guard asks for keys.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal

from bot.chat.guard.clock import WORDS_BEHIND, half_day, of_twelve
from bot.chat.guard.counts import counts
from bot.chat.guard.dates import ISO_DATE, SLASH_DATE, date_parts
from bot.chat.guard.numbers import MULTIPLIERS, NUMBER_WORDS, ORDINAL_WORDS, key, keys_of
from bot.chat.guard.twins import SPELLINGS, cognate_key, skeleton
from bot.chat.guard.units import UNITS
from bot.chat.guard.word_keys import parts, within_name, word_keys
from corpus.text import aliases, fold, words

PLACE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%€$£]")
GLUE = re.compile(r"[^\W\d_]-?\Z")  # GPL-3.0, h264, v2
PAIRS = frozenset("both ambos ambas".split())
SHARES = frozenset("in of de cada".split())
MOST_COUNTED = 10
NEAR = 12  # places between the parts of one name
DATE_NEAR = 5  # «from January to April 2022»
UNIT_NEAR = 3  # «two working days», «one day in ten»


class Evidence:
    """Keys and their places; every text is read as one row."""

    def __init__(
        self, passages: Sequence[str], others: Sequence[str] = (), documents: int = 1
    ) -> None:
        """`others`: what may be said besides the passages; it does not tell which names go together.

        `documents`: how many pages the passages are from.
        """
        own, passages = len(passages), [*passages, *others]
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._units: dict[str, set[str | None]] = {}
        self._cognates: dict[str, list[str]] = {}
        self._texts = [f" {' '.join(fold(passage).split())} " for passage in passages]
        self._rows = [f" {' '.join(words(passage))} " for passage in passages]
        self.counts: frozenset[int] = frozenset(range(1, min(documents, MOST_COUNTED) + 1))
        """Lengths of what the passages list, and their pages: numbers an answer may count to."""
        for row, passage in enumerate(passages):
            self._read(row, passage)
            self.counts |= frozenset(counts(passage))
            for alias in aliases(passage):
                self._add(alias, row, 0)
                if alias in SPELLINGS:
                    self._add(f"={SPELLINGS[alias]}", row, 0)
        for places in self._places.values():
            places.sort()
        self._own = own

    def holds(self, *keys: str) -> bool:
        """Whether any of the keys stands somewhere."""
        return any(name in self._places for name in keys)

    def holds_text(self, text: str, *, in_passages: bool = False) -> bool:
        """Whether the text stands there as it is, but for case, accents and blanks.

        `in_passages`: the question and what else may be said do not count.
        """
        wanted = " ".join(fold(text).split())
        texts = self._texts[: self._own] if in_passages else self._texts
        return bool(wanted) and any(_whole(wanted, each) for each in texts)

    def holds_words(self, text: str) -> bool:
        """Whether the words of the text stand in a row in a passage."""
        wanted = " ".join(words(text))
        return bool(wanted) and any(f" {wanted} " in row for row in self._rows)

    def holds_related(self, folded: str) -> bool:
        """Whether a word stands there that differs by its ending only, in either language."""
        mine = skeleton(folded)
        short = cognate_key(folded)
        return short is not None and any(
            _shared(mine, other) * 3 >= 2 * max(len(mine), len(other))
            for other in self._cognates.get(short, ())
        )

    def units(self, number: str) -> set[str | None]:
        """Units the number stands with; None among them where no word follows it, as in a table.

        Hours are those of a twelve-hour face, with `am` or `pm`: 21:00 is 9 pm.
        """
        return self._units.get(number, set())

    def apart(self, first: Sequence[str], second: Sequence[str], within: int = NEAR) -> bool:
        """Whether passages hold both, yet nowhere `within` places of each other."""
        both = self._in_passage(first) and self._in_passage(second)
        return both and not self.near(first, second, within)

    def near(self, first: Sequence[str], second: Sequence[str], within: int = NEAR) -> bool:
        """Whether two of the keys stand in one text `within` places of each other."""
        return any(
            _meet(self._places.get(a, ()), self._places.get(b, ()), within)
            for a in first
            for b in second
        )

    def _in_passage(self, keys: Sequence[str]) -> bool:
        return any(name in self._places and self._places[name][0][0] < self._own for name in keys)

    def _read(self, row: int, passage: str) -> None:
        folded = fold(passage)
        matches = list(PLACE.finditer(folded))
        starts = [match.start() for match in matches]
        original = (
            [passage[m.start() : m.end()] for m in matches] if len(folded) == len(passage) else []
        )
        texts = [match[0] for match in matches]
        for place, text in enumerate(texts):
            following = texts[place + 1] if place + 1 < len(texts) else ""
            if text[0].isdecimal() or text in NUMBER_WORDS:
                end = matches[place].end()
                gap = folded[end : starts[place + 1]] if following else ""
                alone = not following.isalpha() or bool(gap.strip(" -\n\u00a0\u202f"))
                before = folded[max(starts[place] - 2, 0) : starts[place]]
                if text[0].isdecimal() and GLUE.search(before):
                    for name in keys_of(text):
                        self._add(within_name(name), row, place)
                    continue
                self._number(row, place, texts, alone=alone)
                self._hour(place, texts, gap)
            elif text.isalpha():
                capital = bool(original) and original[place][:1].isupper()
                dated = following[:4].isdecimal() and len(following) == 4
                self._word(row, place, text, capital=capital or dated)
                if text in ORDINAL_WORDS:
                    self._add(f"n{ORDINAL_WORDS[text]}", row, place)
                if following.isalpha():
                    self._add(text + following, row, place)
        for pattern in (ISO_DATE, SLASH_DATE):
            for match in pattern.finditer(folded):
                self._date(row, bisect_left(starts, match.start()), match)

    def _word(self, row: int, place: int, word: str, *, capital: bool) -> None:
        for name in word_keys(word, capital=capital):
            self._add(name, row, place)
        if short := cognate_key(word):
            known = self._cognates.setdefault(short, [])
            bones = skeleton(word)
            if bones not in known:
                known.append(bones)

    def _number(self, row: int, place: int, texts: list[str], *, alone: bool) -> None:
        text = texts[place]
        after = texts[place + 1 : place + 4]
        factor, skip = 1, 0
        if after and after[0] in MULTIPLIERS:
            factor, skip = MULTIPLIERS[after[0]], 1
        if text[0].isdecimal():
            found = set(keys_of(text)) | set(keys_of(text, factor))
        else:
            value = NUMBER_WORDS[text]
            found = {f"n{value}", key(Decimal(value) * factor)}
            rest = after[1:2] if after[:1] == ["y"] else after[:1]
            if value in range(20, 91, 10) and rest and NUMBER_WORDS.get(rest[0], 10) < 10:
                found.add(f"n{value + NUMBER_WORDS[rest[0]]}")
                skip = 1 + (after[0] == "y")
        units = self._units_around(texts, place + 1 + skip, place)
        if alone:
            units.add(None)
        for name in found:
            self._add(name, row, place)
            self._units.setdefault(name, set()).update(units)
            for part in parts(name):
                self._add(part, row, place)

    def _hour(self, place: int, texts: list[str], gap: str) -> None:
        text = texts[place]
        hour = NUMBER_WORDS.get(text) or (int(text) if len(text) < 3 and text.isdecimal() else None)
        behind = texts[place + 1 : place + 1 + WORDS_BEHIND]
        if hour is not None and (half := half_day(hour, behind, gap)):
            self._units.setdefault(f"n{of_twelve(hour)}", set()).add(half)

    @staticmethod
    def _units_around(texts: list[str], behind: int, place: int) -> set[str | None]:
        """Units up to `UNIT_NEAR` words behind a number, or before it in «one day in ten»."""
        if texts[place] in PAIRS:
            return set()
        around = texts[behind : behind + UNIT_NEAR]
        if place > 1 and texts[place - 1] in SHARES:
            around.append(texts[place - 2])
        units: set[str | None] = {UNITS[word] for word in around if word in UNITS}
        if texts[behind : behind + 2] == ["por", "ciento"]:
            units.add("percent")
        return units

    def _date(self, row: int, place: int, match: re.Match[str]) -> None:
        year, months, days = date_parts(match)
        for name in (f"n{year}", *(f"m{month}" for month in months), *(f"n{day}" for day in days)):
            self._add(name, row, place)

    def _add(self, name: str, row: int, place: int) -> None:
        self._places.setdefault(name, []).append((row, place))


def _whole(wanted: str, text: str) -> bool:
    """Whether `wanted` stands in `text` with no word going on before or behind it."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (text[at - 1].isalnum() and wanted[0].isalnum()) and not (
            text[end].isalnum() and wanted[-1].isalnum()
        ):
            return True
        at = text.find(wanted, at + 1)
    return False


def _shared(first: str, second: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def _meet(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]], within: int) -> bool:
    """Whether two places are near each other; both lists are in order, so one walk is enough."""
    i = j = 0
    while i < len(first) and j < len(second):
        (row, place), (other_row, other) = first[i], second[j]
        if row == other_row and abs(place - other) <= within:
            return True
        if first[i] < second[j]:
            i += 1
        else:
            j += 1
    return False
