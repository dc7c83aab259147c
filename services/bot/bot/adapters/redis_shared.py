"""Limits, model budget and conversations that all bots of one Redis share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from bot.adapters.redis_budget import RedisBudget
from bot.adapters.redis_conversations import RedisConversations
from bot.adapters.redis_feedback import RedisAnswers
from bot.adapters.redis_limiter import RedisLimiter
from bot.adapters.redis_link import REST_SECONDS, RedisLink
from bot.adapters.redis_state import LocalState, State
from corpus.settings import Settings


class RedisHealth:
    """A bot.chat.ports.SharedState: tries what a visitor's request would do."""

    def __init__(self, limiter: RedisLimiter) -> None:
        self._limiter = limiter

    async def check(self) -> None:
        """Return when Redis takes reads and writes; raise StateUnavailable otherwise."""
        await self._limiter.check_health()


@asynccontextmanager
async def open_shared(
    settings: Settings,
    local: LocalState,
    *,
    rest_seconds: float = REST_SECONDS,
    clock: Callable[[], float] = monotonic,
) -> AsyncGenerator[State, None]:
    """The shared state, with `local` behind it; nothing is sent before the first request.

    Args:
        rest_seconds: How long Redis is left alone after a failure.
        clock: Seconds, for that rest and for refusals that are remembered.
    """
    link = RedisLink(settings.redis, rest_seconds=rest_seconds, clock=clock)
    limits = settings.server.rate_limit
    limiter = RedisLimiter(limits, link, local.limiter, clock=clock)
    try:
        yield State(
            limiter=limiter,
            budget=RedisBudget(limits, link, local.budget),
            conversations=RedisConversations(settings.conversations, link, local.conversations),
            answers=RedisAnswers(settings.feedback, link, local.answers),
            shared=RedisHealth(limiter),
        )
    finally:
        await link.aclose()
