"""How much of a restored prompt was reused, judged from the server's own counts; and no states at all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Literal

from bot.chat.ports.model import Finished, PromptProgress
from bot.chat.ports.states import Prefix, Restored, StateStats, Warmed

Outcome = Literal["hit", "partial", "miss"]
TOLERATED_TOKENS = 16
"""The last tokens of a prefix may be others once a question stands behind them."""


def judge(restored: Restored, cached_tokens: int) -> Outcome:
    """What the answer says about a state: reused, less than it should be, or hardly at all."""
    if restored.kind == "miss" or not cached_tokens or cached_tokens < restored.tokens / 2:
        return "miss"
    return "hit" if cached_tokens >= restored.tokens - TOLERATED_TOKENS else "partial"


class NoStates:
    """A bot.chat.ports.PromptStates that has none: every prompt is evaluated."""

    def __init__(self, problem: str | None = None) -> None:
        self._problem = problem

    @property
    def enabled(self) -> bool:
        """Never."""
        return False

    async def connect(self) -> bool:
        """There is nothing to connect to."""
        return False

    def held_tokens(self, prefix: Prefix, conversation_id: str | None = None) -> int:
        """None are known."""
        return 0

    async def restore(self, prefix: Prefix, conversation_id: str | None = None) -> Restored:
        """Always a miss."""
        return Restored(kind="miss")

    async def warm(
        self, prefix: Prefix, *, make_room: bool = True
    ) -> AsyncGenerator[PromptProgress | Warmed, None]:
        """Evaluates nothing."""
        yield Warmed(tokens=0, saved=False)

    def answered(
        self, restored: Restored, finished: Finished, prefix: Prefix, conversation_id: str | None
    ) -> Outcome:
        """Judges as the real one; nothing is counted."""
        return judge(restored, finished.cached_tokens)

    def has(self, prefix: Prefix) -> bool:
        """Never."""
        return False

    async def forget(self, conversation_id: str) -> None:
        """There is nothing to delete."""

    async def retain(self, prefixes: Collection[Prefix]) -> None:
        """There is nothing to delete."""

    def stats(self) -> StateStats:
        """Off, and why."""
        return StateStats(enabled=False, problem=self._problem)
