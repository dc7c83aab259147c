"""Read texts into keys and the places where they stand: words, names, numbers with their units, dates.

Every text is one row of places; each place carries the keys of its word: the word itself, its stem, its
name in both languages, its number, its month.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from decimal import Decimal

from bot.chat.guard.clock import WORDS_BEHIND, half_day, of_twelve
from bot.chat.guard.dates import ISO_DATE, SLASH_DATE, date_parts
from bot.chat.guard.numbers import MULTIPLIERS, NUMBER_WORDS, ORDINAL_WORDS, key, keys_of
from bot.chat.guard.twins import cognate_key, skeleton
from bot.chat.guard.units import UNITS
from bot.chat.guard.word_keys import parts, within_name, word_keys
from corpus.text import fold

PLACE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%€$£]")
GLUE = re.compile(r"[^\W\d_]-?\Z")  # GPL-3.0, h264, v2
PAIRS = frozenset("both ambos ambas".split())
SHARES = frozenset("in of de cada".split())
UNIT_NEAR = 3  # «two working days», «one day in ten»


class Places:
    """Grows with each text that is read."""

    def __init__(self) -> None:
        self.places: dict[str, list[tuple[int, int]]] = {}
        """Row and place of each key."""
        self.units: dict[str, set[str | None]] = {}
        """Units each number stands with; None among them where no word follows it."""
        self.cognates: dict[str, list[str]] = {}
        """Skeletons of the words that begin alike in both languages."""

    def read(self, row: int, passage: str) -> None:
        """Add the words of a text, which is read as one row."""
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
                        self.add(within_name(name), row, place)
                    continue
                self._number(row, place, texts, alone=alone)
                self._hour(place, texts, gap)
            elif text.isalpha():
                capital = bool(original) and original[place][:1].isupper()
                dated = following[:4].isdecimal() and len(following) == 4
                self._word(row, place, text, capital=capital or dated)
                if text in ORDINAL_WORDS:
                    self.add(f"n{ORDINAL_WORDS[text]}", row, place)
                if following.isalpha():
                    self.add(text + following, row, place)
        for pattern in (ISO_DATE, SLASH_DATE):
            for match in pattern.finditer(folded):
                self._date(row, bisect_left(starts, match.start()), match)

    def _word(self, row: int, place: int, word: str, *, capital: bool) -> None:
        for name in word_keys(word, capital=capital):
            self.add(name, row, place)
        if short := cognate_key(word):
            known = self.cognates.setdefault(short, [])
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
            self.add(name, row, place)
            self.units.setdefault(name, set()).update(units)
            for part in parts(name):
                self.add(part, row, place)

    def _hour(self, place: int, texts: list[str], gap: str) -> None:
        text = texts[place]
        hour = NUMBER_WORDS.get(text) or (int(text) if len(text) < 3 and text.isdecimal() else None)
        behind = texts[place + 1 : place + 1 + WORDS_BEHIND]
        if hour is not None and (half := half_day(hour, behind, gap)):
            self.units.setdefault(f"n{of_twelve(hour)}", set()).add(half)

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
            self.add(name, row, place)

    def add(self, name: str, row: int, place: int) -> None:
        """This key stands there."""
        self.places.setdefault(name, []).append((row, place))
