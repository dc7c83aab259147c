"""A PromptStates whose evaluations the test ends, and which remembers what was asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from typing import Literal

from bot.chat.ports.model import Finished, PromptProgress
from bot.chat.ports.states import Prefix, Restored, StateStats, Warmed
from bot.chat.states import Outcome, judge

TOKENS = 700


class FakeStates:
    """States in memory. A page in `refused` is evaluated and not saved."""

    def __init__(self) -> None:
        self.enabled = True
        self.connected = True
        self.saved: list[str] = []
        self.refused: set[str] = set()
        self.refuse_all = False
        self.began: list[str] = []
        self.restored: list[tuple[str, str | None]] = []
        self.outcomes: list[Outcome] = []
        self.kept: list[set[str]] = []
        self.problem: Exception | None = None
        self.holding: dict[str, int] = {}
        """Tokens the slot holds of each conversation."""
        self.hold: asyncio.Event | None = None
        """When set, evaluations wait for it."""

    async def connect(self) -> bool:
        return self.connected

    def held_tokens(self, prefix: Prefix, conversation_id: str | None = None) -> int:
        return self.holding.get(conversation_id or "", 0)

    async def restore(self, prefix: Prefix, conversation_id: str | None = None) -> Restored:
        self.restored.append((prefix.text, conversation_id))
        if prefix.text not in self.saved:
            return Restored(kind="miss", ms=1)
        return Restored(kind="hit", source="page", tokens=TOKENS, ms=9)

    async def warm(
        self, prefix: Prefix, *, make_room: bool = True
    ) -> AsyncGenerator[PromptProgress | Warmed, None]:
        self.began.append(prefix.text)
        if self.problem is not None:
            problem, self.problem = self.problem, None
            raise problem
        yield PromptProgress(processed=TOKENS // 2, total=TOKENS)
        if self.hold is not None:
            await self.hold.wait()
        saved = prefix.text not in self.refused and not self.refuse_all
        if saved:
            self.saved.append(prefix.text)
        yield Warmed(tokens=TOKENS, saved=saved)

    def answered(
        self, restored: Restored, finished: Finished, prefix: Prefix, conversation_id: str | None
    ) -> Literal["hit", "partial", "miss"]:
        outcome = judge(restored, finished.cached_tokens)
        self.outcomes.append(outcome)
        return outcome

    def has(self, prefix: Prefix) -> bool:
        return prefix.text in self.saved

    async def forget(self, conversation_id: str) -> None:
        return None

    async def retain(self, prefixes: Collection[Prefix]) -> None:
        wanted = {prefix.text for prefix in prefixes}
        self.kept.append(wanted)
        self.saved = [text for text in self.saved if text in wanted]

    def stats(self) -> StateStats:
        return StateStats(enabled=True, pages=len(self.saved))
