"""The states on disk and whose conversations they are: shared by all chat servers of one bot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic

from bot.adapters.states.disk import Disk
from bot.adapters.states.kept import KeptConversations
from bot.adapters.states.store import StateStore

SWEEP_SECONDS = 60.0


class StatesFolder:
    """One folder of states in use. Open it before use, close it after its last user."""

    def __init__(
        self, store: StateStore, *, ttl_seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        """`ttl_seconds` is how long a conversation's state lives after it was saved."""
        self.store = store
        self.disk = Disk(store, clock=clock)
        self.kept = KeptConversations(ttl_seconds, clock=clock)
        self._sweeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> StatesFolder:
        await self.disk.ready()
        self._sweeper = asyncio.create_task(self._sweep(), name="states-sweeper")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
        await self.disk.close()

    def discard_later(self, name: str) -> None:
        """Delete a state without waiting for it."""
        self.disk.later(partial(self.store.discard, name))

    def drop_expired(self) -> None:
        """Delete the states of conversations whose time is over."""
        for name in self.kept.expired():
            self.discard_later(name)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.drop_expired()
            await self.disk.run(self.store.sweep)
