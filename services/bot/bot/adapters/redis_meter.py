"""Model seconds of all visitors together: counted around the model, whoever asks and from where.

A thousand addresses with one question each pass any limit for each address. The model's time is
what they all share, so it has an allowance of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from time import monotonic
from typing import Protocol

from bot.chat.errors import Busy
from bot.chat.ports.model import LanguageModel, Message, ModelEvent
from corpus.settings import RateLimitSettings

TYPICAL_SECONDS = 12.0  # first guess of one call of the model; replaced by what is measured
SMOOTHING = 0.3  # weight of the newest measurement


class ModelBudget(Protocol):
    """Takes an estimate before a call of the model and puts it right after it."""

    async def begin(self, estimate_seconds: float) -> bool:
        """Take the estimate; whether it was taken from what all bots share. Raise Busy if spent."""
        ...

    async def settle(
        self, estimate_seconds: float, measured_seconds: float, *, shared: bool
    ) -> None:
        """Replace the estimate by what was measured; `shared` is what `begin` said."""
        ...


class LocalBudget:
    """Model seconds within this process; two bots have two of these, each with the whole rate.

    An answer may begin while anything is left, so the last one overdraws.
    """

    def __init__(
        self, settings: RateLimitSettings, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._per_second = settings.model_seconds_per_minute / 60
        self._burst_seconds = settings.model_seconds_burst
        self._clock = clock
        self._spent_seconds = 0.0
        self._at = clock()

    async def begin(self, estimate_seconds: float) -> bool:
        """Take the estimate; False, since nobody else counts it. Raise Busy if spent."""
        wait = self.wait_seconds()
        if wait is not None:
            raise Busy(wait)
        self.spend(estimate_seconds)
        return False

    async def settle(
        self, estimate_seconds: float, measured_seconds: float, *, shared: bool
    ) -> None:
        """Replace the estimate by what was measured."""
        self.spend(measured_seconds - estimate_seconds)

    def wait_seconds(self) -> float | None:
        """How long until an answer may begin; None when it may now."""
        now = self._clock()
        paid_back = (now - self._at) * self._per_second
        self._spent_seconds = max(0.0, self._spent_seconds - paid_back)
        self._at = now
        if self._spent_seconds < self._burst_seconds:
            return None
        return (self._spent_seconds - self._burst_seconds) / self._per_second

    def spend(self, seconds: float) -> None:
        """Count so many seconds; fewer than 0 give back what was estimated too high."""
        self.wait_seconds()
        spent = self._spent_seconds + seconds
        self._spent_seconds = max(0.0, min(spent, 2 * self._burst_seconds))


class MeteredModel:
    """A bot.chat.ports.LanguageModel that spends the budget of what it wraps."""

    def __init__(self, model: LanguageModel, budget: ModelBudget) -> None:
        self._model = model
        self._budget = budget
        self._typical_seconds = TYPICAL_SECONDS
        self._settling: set[asyncio.Task[None]] = set()

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        """Generate; raises Busy before the first event where the budget is spent."""
        estimate = self._typical_seconds
        shared = await self._budget.begin(estimate)
        began = monotonic()
        try:
            async with aclosing(self._model.stream(messages)) as events:
                async for event in events:
                    yield event
        finally:
            seconds = monotonic() - began
            self._typical_seconds += SMOOTHING * (seconds - self._typical_seconds)
            # In a task of its own: a visitor who leaves cancels every await here (litestar#3772).
            task = asyncio.create_task(self._budget.settle(estimate, seconds, shared=shared))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def count_tokens(self, text: str) -> int:
        """Of the wrapped model; no generation, no cost."""
        return await self._model.count_tokens(text)

    async def check(self) -> None:
        """Of the wrapped model."""
        await self._model.check()

    async def aclose(self) -> None:
        """Wait until what was spent is written; at most as long as Redis may take."""
        await asyncio.gather(*self._settling)
