"""The rate limit that replicas share: one script call for a request, and none for a hammering one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic
from typing import Any

from redis.exceptions import OutOfMemoryError

from bot.adapters.redis_fallback import LocalAllowances, network_limits, refused_by_site
from bot.adapters.redis_keys import MODEL_KEY, PROBE_KEY, DaySecret, fetch_day_secret
from bot.adapters.redis_link import RedisLink
from bot.adapters.redis_scripts import TAKE
from bot.chat.ports.sharing import StateUnavailable, Verdict
from corpus.settings import RateLimitSettings

MICROSECONDS = 1_000_000
REMEMBERED_REFUSALS = 10_000
ALWAYS = ((1, 1),)
UNLIMITED = 2**52
OTHER_SECRET, ALLOWED, REFUSED, SITE_REFUSED = range(4)


class RedisLimiter:
    """A bot.chat.ports.AddressLimiter, exact over all bots of one Redis; `local` where that fails."""

    def __init__(
        self,
        settings: RateLimitSettings,
        link: RedisLink,
        local: LocalAllowances,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._burst = settings.burst
        self._model_span = model_span(settings)
        # One (span, interval) for the visitor and one for the network around, in whole
        # microseconds, rounded up so that the rate is never above the configured one.
        self._rates = [
            (each.burst * interval, interval)
            for each in (settings, network_limits(settings))
            for interval in (ceil(60 * MICROSECONDS / each.requests_per_minute),)
        ]
        self._link = link
        self._local = local
        self._clock = clock
        self._take = link.redis.register_script(TAKE)
        self._secret: DaySecret | None = None
        self._refused_until: OrderedDict[str, float] = OrderedDict()

    async def check(self, key: str) -> Verdict:
        """Take one request from the allowance of a key of this process: never shared."""
        return await self._local.check(key)

    async def check_address(self, address: str) -> Verdict:
        """Take one request from the allowance of an address, within 0.3 s whatever Redis does."""
        keys = self._local.keys(address)
        try:
            # Redis said how long nothing is to be had; asking before that would only burden it. Of
            # 800 at once most find it already known when a connection is free for them.
            return await self._link.run(
                lambda: self._ask(address, keys), known=lambda: self._remembered(keys)
            )
        except StateUnavailable:
            return self._remembered(keys) or await self._local.check_address(address)

    async def check_health(self) -> None:
        """Take a request of nobody: the same script, rights and memory as for a visitor.

        Raises:
            StateUnavailable: with the code of what is wrong.
        """
        # Never refused, so that it writes each time: a full Redis still reads.
        await self._link.run(
            lambda: self._run(lambda _: (PROBE_KEY,), ALWAYS, model_span=UNLIMITED), probe=True
        )

    async def _ask(self, address: str, keys: tuple[str, ...]) -> Verdict:
        began = self._clock()
        code, number, wait = await self._run(
            lambda secret: secret.visitor_keys(address), self._rates, model_span=self._model_span
        )
        wait_seconds = wait / MICROSECONDS
        if code == SITE_REFUSED:
            return refused_by_site(self._burst, wait_seconds)
        if code == REFUSED:
            self._remember(keys[number], began + wait_seconds)
            await self._local.follow(keys, 0, refused=keys[number])
            return self._refusal(wait_seconds)
        await self._local.follow(keys, number, refused=None)
        return Verdict(allowed=True, limit=self._burst, remaining=number, retry_after_seconds=0.0)

    async def _run(
        self,
        keys_of: Callable[[DaySecret], tuple[str, ...]],
        rates: Sequence[tuple[int, int]],
        *,
        model_span: int,
    ) -> tuple[int, int, int]:
        """What TAKE replies under the secret that counts."""
        for _ in range(2):
            secret = self._secret or await fetch_day_secret(self._link.redis)
            self._secret = secret
            keys = keys_of(secret)
            numbers = [number for rate in rates[: len(keys)] for number in rate]
            reply: Any = await self._take(
                keys=[secret.key, MODEL_KEY, *keys],
                args=[secret.day, secret.fingerprint, model_span, *numbers],
            )
            code, number, wait = (int(each) for each in reply)
            if code != OTHER_SECRET:
                return code, number, wait
            self._secret = None  # another day, or Redis lost it
        raise OutOfMemoryError("Redis evicts the secret of the day at once")

    def _refusal(self, wait_seconds: float) -> Verdict:
        return Verdict(
            allowed=False, limit=self._burst, remaining=0, retry_after_seconds=wait_seconds
        )

    def _remembered(self, keys: tuple[str, ...]) -> Verdict | None:
        now = self._clock()
        wait = max(self._refused_until.get(key, now) - now for key in keys)
        return self._refusal(wait) if wait > 0 else None

    def _remember(self, key: str, until: float) -> None:
        self._refused_until[key] = until
        self._refused_until.move_to_end(key)
        if len(self._refused_until) > REMEMBERED_REFUSALS:
            self._refused_until.popitem(last=False)


def model_span(settings: RateLimitSettings) -> int:
    """The burst of model seconds as microseconds of the time in which they come back."""
    return ceil(settings.model_seconds_burst * back_seconds(settings) * MICROSECONDS)


def back_seconds(settings: RateLimitSettings) -> float:
    """How long one spent model second takes to come back."""
    return 60 / settings.model_seconds_per_minute
