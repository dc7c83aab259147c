"""Which chat server answers: the one whose turn it is, and another where that one can't be reached."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from time import perf_counter

from bot.chat.admission import Choose, Ticket
from bot.chat.errors import ModelLoading, ModelUnavailable
from bot.chat.events import Chunk, Queued
from bot.chat.generate import Generator, Item, Task
from bot.chat.turn import Turn

ATTEMPTS = 2
"""Servers that one question is tried on: it may be the reason why the first one broke off."""


class Dispatcher:
    """Waits for a turn and has the generator of that server answer."""

    def __init__(self, generators: Sequence[Generator]) -> None:
        """One for each chat server, by its number."""
        self._generators = generators

    async def answer(self, task: Task, turn: Turn, ticket: Ticket) -> AsyncGenerator[Item, None]:
        """Queued, Progress and Chunk events, and as the last item `Answered` or `Declined`.

        A question that a server gave nothing on goes to another one, once, before everybody who waits.

        Raises:
            ModelError, Restarting, WaitedTooLong: see bot.chat.errors.
        """
        choose = self._nearest(task, turn)
        queue_seconds = 0.0
        for attempt in range(1, ATTEMPTS + 1):
            queued_at = perf_counter()
            async with aclosing(ticket.wait_turn(choose)) as places:
                async for position, eta in places:
                    yield Queued(position=position, eta_seconds=eta)
            queue_seconds += perf_counter() - queued_at
            turn.queued(queue_seconds * 1000)
            assert ticket.server is not None
            spoken = False
            try:
                async with aclosing(self._generators[ticket.server].answer(task, turn)) as items:
                    async for item in items:
                        spoken = spoken or isinstance(item, Chunk)
                        yield item
                return
            except (ModelUnavailable, ModelLoading):
                ticket.server_failed()
                if spoken or attempt == ATTEMPTS or not ticket.move():
                    raise

    def _nearest(self, task: Task, turn: Turn) -> Choose:
        """The server whose slot holds most of the prompt, so that the least has to be evaluated."""

        def choose(free: Sequence[int]) -> int:
            if len(free) == 1:
                return free[0]  # the prompt need not be put together to compare one
            return max(free, key=lambda each: self._generators[each].held_tokens(task, turn))

        return choose
