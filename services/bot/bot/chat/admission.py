"""A bounded, fair line before the model, and a place in it that is always given back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import suppress
from statistics import median
from time import monotonic

from bot.chat.errors import Busy, Restarting, WaitedTooLong
from bot.chat.fair_line import FairLine
from bot.chat.loan import GRACE_SECONDS, Borrower, Loan
from bot.chat.servers import REST_SECONDS, Servers

TYPICAL_ANSWER_SECONDS = 12.0  # first guess of an answer's length; replaced by what is measured
MEASURED_ANSWERS = 9  # the median of so many: one endless answer must not turn everybody away
MOST_SHARE = 4  # a visitor may hold a quarter of the line, so that others find room in it

Choose = Callable[[Sequence[int]], int]
"""Which of the free servers, the longest unused first."""


def longest_unused(free: Sequence[int]) -> int:
    """The choice of who has no other wish."""
    return free[0]


class Ticket:
    """A place at a chat server. Release it always; releasing twice does nothing."""

    def __init__(self, admission: Admission, visitor: Hashable) -> None:
        self._admission = admission
        self._visitor = visitor
        self.server: int | None = None
        """Number of the chat server whose turn this is; None before it and between two servers."""
        self._failed: int | None = None
        self._choose: Choose = longest_unused
        self._turn = asyncio.Event()
        self._moved = asyncio.Event()
        self._served_since: float | None = None
        self._released = False

    def expected_seconds(self) -> float:
        """The wait to expect from the line; 0 when a model is free."""
        return self._admission._expected_seconds(self)

    async def wait_turn(
        self, choose: Choose = longest_unused
    ) -> AsyncGenerator[tuple[int, float], None]:
        """Yield (position, eta in seconds) on each change until it is this ticket's turn.

        `choose` is asked for a server when the turn comes. The position counts in the fair order:
        it can grow for a visitor with several questions when others come. Closing the generator
        gives the place in the line back.

        Raises:
            WaitedTooLong: `queue_seconds` passed; the place in the line is given back.
            Restarting: the server is going down.
        """
        admission = self._admission
        self._choose = choose
        deadline = admission._enter(self)
        last = 0
        try:
            while not self._turn.is_set():
                # Cleared before looking around: what happens during the yield is then not missed.
                self._moved.clear()
                if admission._closing:
                    raise Restarting("the server is shutting down")
                left_seconds = deadline - admission._clock()
                if left_seconds <= 0:
                    raise WaitedTooLong(admission.eta_seconds(1))
                position = admission._position(self)
                if position not in (0, last):
                    last = position
                    yield position, admission.eta_seconds(position)
                    continue
                # Not `wait_for`: in 3.11 it swallows the cancellation of a visitor who leaves in the
                # very moment the line moves, who would then keep the place.
                with suppress(TimeoutError):
                    async with asyncio.timeout(left_seconds):
                        await self._moved.wait()
        finally:
            admission._stop_waiting(self)

    def server_failed(self) -> None:
        """This ticket's server can't be reached: nobody is sent to it for 5 s if there is another."""
        if self.server is not None:
            self._admission._rest(self.server)

    def move(self) -> bool:
        """Give the server back and be the next at another one; wait for that turn as for the first.

        False where no other server is known to be up; then the ticket keeps what it has.
        """
        return self._admission._move(self)

    def release(self) -> None:
        """Give the place back; safe from `finally` since it never awaits (litestar#3772)."""
        if not self._released:
            self._released = True
            self._admission._leave(self)


class Admission:
    """Serves `servers` visitors at once; `queue_size` more may wait, a quarter of them one visitor's."""

    def __init__(
        self,
        queue_size: int,
        servers: int = 1,
        *,
        queue_seconds: float = 60.0,
        grace_seconds: float = GRACE_SECONDS,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Seconds: `queue_`: longest wait in the line; `grace_`: for a borrower to let go;
        `rest_`: for a server that can't be reached."""
        self.loan = Loan(self._returned, grace_seconds)
        """A server in the hands of background work; see bot.chat.background."""
        self._places = queue_size + servers
        self._share = max(1, queue_size // MOST_SHARE)
        self._servers = Servers(servers, self._advance, rest_seconds)
        self._lent: int | None = None
        self._queue_seconds = queue_seconds
        self._clock = clock
        self._admitted: set[Ticket] = set()
        self._serving: set[Ticket] = set()
        self._line: FairLine[Ticket] = FairLine()
        self._moving: deque[Ticket] = deque()
        """Being served, as far as the line is concerned, and before it: their server has failed."""
        self._changed = asyncio.Event()
        self._quiet_since = clock()
        self._taken = deque([TYPICAL_ANSWER_SECONDS], MEASURED_ANSWERS)
        self._closing = False

    @property
    def admitted(self) -> int:
        """Places taken by visitors: being served, in the line, or on the way to it."""
        return len(self._admitted)

    def admit(self, visitor: str | None = None) -> Ticket:
        """Reserve a place, before any byte is sent.

        Args:
            visitor: whose turns and share are counted together; None is a visitor of its own.

        Raises:
            Busy: the line is full, or this visitor's share of it.
        """
        key: Hashable = object() if visitor is None else visitor
        waiting = sum(ticket._visitor == key for ticket in self._admitted - self._serving)
        if len(self._admitted) >= self._places or waiting >= self._share:
            raise Busy(self.eta_seconds(1))
        ticket = Ticket(self, key)
        self._admitted.add(ticket)
        self._call_back()
        return ticket

    def eta_seconds(self, position: int) -> float:
        """Expected wait at a position, from the median of the last answers."""
        return round(position * median(self._taken) / self._servers.expected, 1)

    def wake_all(self) -> None:
        """Let everybody who waits look around: the server is going down."""
        self._closing = True
        self.loan.interrupt()
        self._changed.set()
        self._tell_the_line()

    def idle_for(self) -> float:
        """Seconds since the last visitor left (at first: since the start); 0 while one is here."""
        return 0.0 if self._admitted else self._clock() - self._quiet_since

    async def idle(self, seconds: float) -> None:
        """Return when no visitor was here for so long and nobody has borrowed the model.

        Raises:
            Restarting: the server is going down.
        """
        while True:
            self._changed.clear()
            if self._closing:
                raise Restarting("the server is shutting down")
            is_taken = bool(self._admitted) or self.loan.is_open
            left_seconds = seconds - self.idle_for()
            if not is_taken and left_seconds <= 0:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(None if is_taken else left_seconds):
                    await self._changed.wait()

    def lend(self, borrower: Borrower, choose: Choose = longest_unused) -> int:
        """Lend a server to background work after `idle`; its number."""
        self._lent = choose(self._servers.usable())
        self._servers.take(self._lent)
        self.loan.lend(borrower)
        return self._lent

    def _returned(self) -> None:
        assert self._lent is not None
        self._servers.give_back(self._lent)
        self._lent = None
        self._changed.set()
        self._advance()

    def _call_back(self) -> None:
        """Ask for the lent server where the others are not enough for those who are here."""
        if self._admitted and len(self._admitted) >= self._servers.up:
            self.loan.interrupt()

    def _rest(self, server: int) -> None:
        self._servers.rest(server)
        self._call_back()

    def _move(self, ticket: Ticket) -> bool:
        if ticket.server is None or not self._servers.up:
            return False
        self._servers.give_back(ticket.server)
        ticket._failed, ticket.server = ticket.server, None
        ticket._turn.clear()
        self._moving.append(ticket)
        return True

    def _enter(self, ticket: Ticket) -> float:
        """Put the ticket in the line; the moment its patience ends."""
        if ticket._released:
            raise RuntimeError("a ticket that was given back can't wait")
        if ticket not in self._serving:
            self._line.enter(ticket._visitor, ticket)
        self._advance()
        return self._clock() + self._queue_seconds

    def _position(self, ticket: Ticket) -> int:
        """1 is next; 0 has only to wait until a borrower lets go."""
        free = self._servers.expected - len(self._serving) + len(self._moving)
        return max(0, [*self._moving, *self._line.order()].index(ticket) + 1 - free)

    def _expected_seconds(self, ticket: Ticket) -> float:
        if ticket in self._serving:
            return 0.0
        if ticket in self._line.order():
            return self.eta_seconds(self._position(ticket))
        self._line.enter(ticket._visitor, ticket)
        expected = self.eta_seconds(self._position(ticket))
        self._line.leave(ticket._visitor, ticket)
        return expected

    def _advance(self) -> None:
        while usable := self._servers.usable():
            ticket, free = self._next(usable)
            if ticket is None:
                break
            ticket.server = ticket._choose(free)
            self._servers.take(ticket.server)
            self._serving.add(ticket)
            ticket._served_since = self._clock()
            ticket._turn.set()
            ticket._moved.set()
        self._tell_the_line()

    def _next(self, usable: Sequence[int]) -> tuple[Ticket | None, Sequence[int]]:
        """Who is served now, and the servers to choose from: not the one that failed this ticket."""
        for ticket in self._moving:
            if others := [each for each in usable if each != ticket._failed]:
                self._moving.remove(ticket)
                return ticket, others
        return self._line.begin_next(), usable

    def _tell_the_line(self) -> None:
        for waiting in (*self._moving, *self._line.order()):
            waiting._moved.set()

    def _stop_waiting(self, ticket: Ticket) -> None:
        if ticket in self._moving:
            self._moving.remove(ticket)
        elif not self._line.leave(ticket._visitor, ticket):
            return
        self._tell_the_line()

    def _leave(self, ticket: Ticket) -> None:
        self._admitted.discard(ticket)
        self._stop_waiting(ticket)
        if ticket in self._serving:
            self._serving.discard(ticket)
            self._line.end(ticket._visitor)
            if ticket.server is not None and ticket._served_since is not None:
                self._servers.give_back(ticket.server)
                self._taken.append(self._clock() - ticket._served_since)
        if not self._admitted:
            self._quiet_since = self._clock()
            self._changed.set()
        self._advance()
