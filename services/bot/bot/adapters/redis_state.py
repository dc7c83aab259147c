"""Limits, model budget and conversations for one bot: shared over Redis, or in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec import Struct

from bot.adapters.conversations import LocalConversations
from bot.adapters.feedback import LocalAnswers
from bot.adapters.redis_fallback import LocalAllowances
from bot.adapters.redis_meter import LocalBudget, ModelBudget
from bot.chat.ports.feedback import Answers
from bot.chat.ports.sharing import AddressLimiter, Conversations, SharedState
from corpus.settings import Settings


class State(Struct, frozen=True, kw_only=True):
    """What a bot counts and remembers of its visitors."""

    limiter: AddressLimiter
    budget: ModelBudget
    conversations: Conversations
    answers: Answers
    shared: SharedState | None


class LocalState(Struct, frozen=True, kw_only=True):
    """The same in this process: all there is without Redis, the spare with it."""

    limiter: LocalAllowances
    budget: LocalBudget
    conversations: LocalConversations
    answers: LocalAnswers


def local_state(settings: Settings) -> LocalState:
    """A fresh one."""
    limits = settings.server.rate_limit
    budget = LocalBudget(limits)
    return LocalState(
        limiter=LocalAllowances(limits, budget),
        budget=budget,
        conversations=LocalConversations(settings.conversations),
        answers=LocalAnswers(settings.feedback),
    )


@asynccontextmanager
async def open_state(settings: Settings) -> AsyncGenerator[State, None]:
    """The state for one life of the bot; a Redis that is down is no reason to fail."""
    local = local_state(settings)
    if settings.redis.url is None:
        yield State(
            limiter=local.limiter,
            budget=local.budget,
            conversations=local.conversations,
            answers=local.answers,
            shared=None,
        )
        return
    # Imported here: the library costs 0.2 s and 7 MB, and most bots run without Redis.
    from bot.adapters.redis_shared import open_shared

    async with open_shared(settings, local) as state:
        yield state
