"""One answer at a time on the model, a bounded line behind it, and a place that is always given back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from time import monotonic

from bot.chat.errors import Busy, Restarting

TYPICAL_ANSWER_SECONDS = 12.0  # first guess of an answer's length; replaced by what is measured
SMOOTHING = 0.3  # weight of the newest measurement


class Ticket:
    """A place at the model. Release it always; releasing twice does nothing."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._turn = asyncio.Event()
        self._moved = asyncio.Event()
        self._served_since: float | None = None
        self._released = False

    async def wait_turn(self) -> AsyncGenerator[tuple[int, float], None]:
        """Yield (position, eta in seconds) on each change until it is this ticket's turn."""
        self._admission._enter(self)
        last = 0
        while not self._turn.is_set():
            if self._admission._closing:
                raise Restarting("the server is shutting down")
            position = self._admission._position(self)
            if position != last:
                last = position
                yield position, self._admission.eta_seconds(position)
            self._moved.clear()
            await self._moved.wait()

    def release(self) -> None:
        """Give the place back; safe from `finally` since it never awaits (litestar#3772)."""
        if not self._released:
            self._released = True
            self._admission._leave(self)

    async def arelease(self) -> None:
        """`release` for a BackgroundTask, which sends sync functions to a thread."""
        self.release()


class Admission:
    """Admits at most `queue_size` waiting visitors beside the one being answered."""

    def __init__(self, queue_size: int) -> None:
        self._queue_size = queue_size
        self._admitted: set[Ticket] = set()
        self._line: deque[Ticket] = deque()
        self._serving: Ticket | None = None
        self._answer_seconds = TYPICAL_ANSWER_SECONDS
        self._closing = False

    def admit(self) -> Ticket:
        """Reserve a place, before any byte is sent.

        Raises:
            Busy: the line is full.
        """
        if len(self._admitted) > self._queue_size:
            raise Busy(self.eta_seconds(1))
        ticket = Ticket(self)
        self._admitted.add(ticket)
        return ticket

    def eta_seconds(self, position: int) -> float:
        """Expected wait at a position, from the running mean of measured answers."""
        return round(position * self._answer_seconds, 1)

    def wake_all(self) -> None:
        """Let every waiting ticket look around: the server is going down."""
        self._closing = True
        for waiting in self._line:
            waiting._moved.set()

    def _enter(self, ticket: Ticket) -> None:
        self._line.append(ticket)
        self._advance()

    def _position(self, ticket: Ticket) -> int:
        return self._line.index(ticket) + 1

    def _advance(self) -> None:
        if self._serving is None and self._line:
            self._serving = self._line.popleft()
            self._serving._served_since = monotonic()
            self._serving._turn.set()
            self._serving._moved.set()
        for waiting in self._line:
            waiting._moved.set()

    def _leave(self, ticket: Ticket) -> None:
        self._admitted.discard(ticket)
        if ticket in self._line:
            self._line.remove(ticket)
        if self._serving is ticket:
            self._serving = None
            if ticket._served_since is not None:
                taken = monotonic() - ticket._served_since
                self._answer_seconds += SMOOTHING * (taken - self._answer_seconds)
        self._advance()
