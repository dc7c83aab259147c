"""The allowance of model seconds that all bots of one Redis share."""

from __future__ import annotations

from typing import Any

from bot.adapters.redis_keys import MODEL_KEY
from bot.adapters.redis_limiter import MICROSECONDS, back_seconds, model_span
from bot.adapters.redis_link import RedisLink
from bot.adapters.redis_meter import LocalBudget
from bot.adapters.redis_scripts import SPEND
from bot.chat.errors import Busy
from bot.chat.ports.sharing import StateUnavailable
from corpus.settings import RateLimitSettings


class RedisBudget:
    """A bot.adapters.redis_meter.ModelBudget; `local` counts along and decides while Redis fails."""

    def __init__(self, settings: RateLimitSettings, link: RedisLink, local: LocalBudget) -> None:
        self._span = model_span(settings)
        self._back_seconds = back_seconds(settings)
        self._link = link
        self._local = local
        self._spend = link.redis.register_script(SPEND)

    async def begin(self, estimate_seconds: float) -> bool:
        """Take the estimate; True when Redis counted it.

        Raises:
            Busy: the allowance is spent.
        """
        try:
            taken, wait_seconds = await self._call(estimate_seconds, force=False)
        except StateUnavailable:
            return await self._local.begin(estimate_seconds)
        if not taken:
            raise Busy(wait_seconds)
        self._local.spend(estimate_seconds)
        return True

    async def settle(
        self, estimate_seconds: float, measured_seconds: float, *, shared: bool
    ) -> None:
        """Replace the estimate by what was measured; all of it where Redis has no estimate."""
        self._local.spend(measured_seconds - estimate_seconds)
        owed = measured_seconds - estimate_seconds if shared else measured_seconds
        try:
            await self._call(owed, force=True)
        except StateUnavailable:
            return  # counted here only

    async def _call(self, seconds: float, *, force: bool) -> tuple[bool, float]:
        """(taken, seconds to wait)."""
        cost = round(seconds * self._back_seconds * MICROSECONDS)

        async def run() -> Any:
            return await self._spend(keys=[MODEL_KEY], args=[self._span, cost, int(force)])

        taken, wait = await self._link.run(run)
        return bool(taken), int(wait) / MICROSECONDS
