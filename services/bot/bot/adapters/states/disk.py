"""The store in a thread, one call at a time, and at rest for a while when the disk refuses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TypeVar

from bot.adapters.breaker import CircuitBreaker
from bot.adapters.states.store import StateStore

log = logging.getLogger("bot.states")
REST_SECONDS = 60.0
Result = TypeVar("Result")


class Disk:
    """Runs what a StateStore does; its failures are one log line and a rest, never an exception."""

    def __init__(self, store: StateStore, *, clock: Callable[[], float] = monotonic) -> None:
        self.store = store
        # One thread: a call goes on when its caller is cancelled, and the next one waits for it.
        self._thread = ThreadPoolExecutor(1, "states")
        self._breaker = CircuitBreaker(failures=1, rest_seconds=REST_SECONDS, clock=clock)
        self._opened = False
        self.problem: str | None = None
        """Why nothing is saved now."""

    async def ready(self) -> bool:
        """Whether a state may be saved: the folder is there and the disk has not refused lately."""
        if not self._breaker.allows():
            return False
        if self._opened:
            return True
        try:
            await self.run(self.store.open)
        except OSError as error:
            self.failed(f"the folder of the states can't be used ({error.strerror})")
            return False
        self._opened = True
        return True

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do it in the store's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def later(self, work: Callable[[], object]) -> None:
        """Do it in the store's thread without waiting; for deletions, which never raise."""
        with suppress(RuntimeError):  # at the end of the program: the next start cleans up
            self._thread.submit(work)

    def succeeded(self) -> None:
        """A state was saved."""
        if self._breaker.succeeded() and self.problem is not None:
            log.info("prompt states are saved again")
        self.problem = None

    def failed(self, reason: str) -> None:
        """It was not: nothing is saved for a minute; the folder is looked at anew after it."""
        self._breaker.failed()
        self._opened = False
        if self.problem != reason:
            log.warning("prompt states are not saved for a while: %s", reason)
        self.problem = reason

    def spared(self) -> None:
        """It was not tried after all."""
        self._breaker.abandoned()

    async def close(self) -> None:
        """Wait for the running call."""
        await asyncio.to_thread(self._thread.shutdown)
