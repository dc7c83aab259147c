"""Which chat servers are free, and which can't be reached and are left alone for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

REST_SECONDS = 5.0
"""A server that could not be reached is tried again after it: one that starts needs 2 s and more, and
a visitor who is sent to one in vain loses 3 s at the most before another takes over."""


class Servers:
    """Chat servers by number, from 0."""

    def __init__(
        self, count: int, rested: Callable[[], None], rest_seconds: float = REST_SECONDS
    ) -> None:
        """`rested` is called when a server may be tried again."""
        self._count = count
        self._rested = rested
        self._rest_seconds = rest_seconds
        self._free = list(range(count))
        self._resting: dict[int, asyncio.TimerHandle] = {}

    @property
    def up(self) -> int:
        """Servers that are not known to be down, taken ones among them."""
        return self._count - len(self._resting)

    @property
    def expected(self) -> int:
        """Servers to reckon with for the length of a wait: one at least."""
        return max(1, self.up)

    def usable(self) -> list[int]:
        """Free servers, the longest unused first: its slot holds what is least likely asked for.

        One that rests is among them only while all of them do: then trying is better than waiting.
        """
        return [each for each in self._free if not self.up or each not in self._resting]

    def take(self, server: int) -> None:
        """It answers from now on."""
        self._free.remove(server)

    def give_back(self, server: int) -> None:
        """It is free again."""
        self._free.append(server)

    def rest(self, server: int) -> None:
        """It can't be reached; needs the running loop."""
        if (earlier := self._resting.pop(server, None)) is not None:
            earlier.cancel()
        loop = asyncio.get_running_loop()
        self._resting[server] = loop.call_later(self._rest_seconds, self._end_rest, server)

    def _end_rest(self, server: int) -> None:
        del self._resting[server]
        self._rested()
