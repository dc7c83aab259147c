"""Two facts that belong together: the parts of a date or of a length, the neighbours of a name.

An answer that joins a part of one passage to a part of another invents a fact from true pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.guard.evidence import DATE_NEAR, NEAR, Evidence
from bot.chat.guard.units import UNITS
from bot.chat.names import TECHNOLOGIES
from corpus.text import fold

LINKS = frozenset({"", ",", "de", "of", "del", "de,", "the"})  # between the parts of a date
BETWEEN_YEARS_AND_MONTHS = frozenset({"and", "y"})
MOST_GAP = 24  # characters kept of what was written since the last fact


class LinkedFacts:
    """Remembers the fact before and what was written since, to compare the next one with it."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._keys: tuple[str, ...] = ()  # of the fact before
        self._since = ""  # what was written since that fact
        self._gap = ""  # the same, before the number that waits

    def note(self, keys: tuple[str, ...]) -> None:
        """These are the keys of the last fact now."""
        self._keys, self._since = keys, ""

    def pass_over(self, text: str) -> None:
        """`text` was written, and is no fact to compare with."""
        self._since = (self._since + text)[-MOST_GAP:]

    def number_waits(self, between: str) -> None:
        """A number begins behind `between`; it is decided on later, by `number_torn`."""
        self._gap = self._since + between

    def number_torn(self, keys: Sequence[str]) -> bool:
        """Whether the number that waited belongs to the fact before it, but in no passage."""
        return self._torn("", keys, self._gap)

    def length_torn(self, keys: Sequence[str], unit: str) -> bool:
        """Whether the number that waited, with its unit, goes on with a length that nothing gives.

        «1 year 9 months» of one year here and nine months there; a year and its months stand together
        wherever a length stands.
        """
        between = [word.strip(",") for word in self._gap.split()]
        after_years = between[:1] != [] and UNITS.get(fold(between[0])) == "year"
        linked = after_years and BETWEEN_YEARS_AND_MONTHS.issuperset(between[1:])
        return unit == "month" and linked and not self._evidence.near(keys, self._keys, DATE_NEAR)

    def word_torn(self, folded: str, keys: Sequence[str], between: str) -> bool:
        """Whether the word behind `between` belongs to the fact before it, but in no passage."""
        return self._torn(folded, keys, self._since + between)

    def _torn(self, folded: str, keys: Sequence[str], gap: str) -> bool:
        """Whether the fact belongs to the one before it (`gap` between them), but in no passage."""
        if not self._keys:
            return False
        month = [
            any(name[:1] == "m" and name[1:].isdecimal() for name in row)
            for row in (keys, self._keys)
        ]
        if any(month):
            linked = gap.strip() in LINKS and gap != ""
        else:
            numbers = any(
                name[:1] == "n" and name[1:2].isdecimal() for name in (*keys, *self._keys)
            )
            plain = folded in TECHNOLOGIES or self._keys[0] in TECHNOLOGIES
            linked = gap == " " and not numbers and not plain
        within = DATE_NEAR if any(month) else NEAR
        return linked and self._evidence.apart(keys, self._keys, within)
