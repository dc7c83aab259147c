"""Who is next when visitors take turns: one question of each, however many one of them has asked."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from itertools import zip_longest
from typing import Generic, TypeVar

Place = TypeVar("Place", bound=Hashable)


class FairLine(Generic[Place]):
    """A lane for each visitor, first come first served inside it; the lanes take turns.

    A visitor who is being served stands behind all others, so with one server everybody who waits
    gets a turn before the same visitor's next one.
    """

    def __init__(self) -> None:
        self._lanes: dict[Hashable, deque[Place]] = {}
        self._served: Counter[Hashable] = Counter()

    def __len__(self) -> int:
        """Places waiting."""
        return sum(map(len, self._lanes.values()))

    def enter(self, visitor: Hashable, place: Place) -> None:
        """Wait in the visitor's lane."""
        self._lanes.setdefault(visitor, deque()).append(place)

    def leave(self, visitor: Hashable, place: Place) -> bool:
        """Give up waiting; False when the place did not wait."""
        lane = self._lanes.get(visitor)
        if lane is None or place not in lane:
            return False
        lane.remove(place)
        if not lane:
            del self._lanes[visitor]
        return True

    def begin_next(self) -> Place | None:
        """Take the next place out of the line, to be served; None when nobody waits."""
        if not (visitors := self._turns()):
            return None
        visitor = visitors[0]
        place = self._lanes[visitor].popleft()
        self._served[visitor] += 1
        self._to_the_back(visitor)
        return place

    def end(self, visitor: Hashable) -> None:
        """An answer of the visitor is over."""
        self._served[visitor] -= 1
        if not self._served[visitor]:
            del self._served[visitor]
        self._to_the_back(visitor)

    def order(self) -> list[Place]:
        """The places in the order they are served in when nobody comes or goes."""
        rounds = zip_longest(*(self._lanes[visitor] for visitor in self._turns()))
        return [place for places in rounds for place in places if place is not None]

    def _turns(self) -> list[Hashable]:
        """Visitors with a place in the line; of two the one with fewer answers running is first."""
        return sorted(self._lanes, key=lambda visitor: self._served[visitor])

    def _to_the_back(self, visitor: Hashable) -> None:
        if lane := self._lanes.pop(visitor, None):
            self._lanes[visitor] = lane
