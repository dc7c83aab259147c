"""What the evidence holds, under keys that both languages and all spellings share.

Every passage is read once (bot.chat.guard.places). The guard asks for keys.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.guard.counts import counts
from bot.chat.guard.places import Places
from bot.chat.guard.twins import SPELLINGS, cognate_key, skeleton
from corpus.text import aliases, fold, words

MOST_COUNTED = 10
NEAR = 12  # places between the parts of one name
DATE_NEAR = 5  # «from January to April 2022»


class Evidence:
    """Keys and their places; every text is read as one row."""

    def __init__(
        self, passages: Sequence[str], others: Sequence[str] = (), documents: int = 1
    ) -> None:
        """`others`: what may be said besides the passages; it does not tell which names go together.

        `documents`: how many pages the passages are from.
        """
        own, passages = len(passages), [*passages, *others]
        held = Places()
        self._texts = [f" {' '.join(fold(passage).split())} " for passage in passages]
        self._rows = [f" {' '.join(words(passage))} " for passage in passages]
        self.counts: frozenset[int] = frozenset(range(1, min(documents, MOST_COUNTED) + 1))
        """Lengths of what the passages list, and their pages: numbers an answer may count to."""
        for row, passage in enumerate(passages):
            held.read(row, passage)
            self.counts |= frozenset(counts(passage))
            for alias in aliases(passage):
                held.add(alias, row, 0)
                if alias in SPELLINGS:
                    held.add(f"={SPELLINGS[alias]}", row, 0)
        for places in held.places.values():
            places.sort()
        self._places, self._units, self._cognates = held.places, held.units, held.cognates
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
