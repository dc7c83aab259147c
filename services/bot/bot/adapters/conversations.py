"""Conversation ids in this process's memory: minted here, known for a while, forgotten at the end."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from corpus.settings import ConversationSettings

ID_BYTES = 24  # 192 bits from the system's generator; ASVS 11.5.1 asks for 128 and refuses UUIDs


class LocalConversations:
    """A bot.chat.ports.Conversations that holds ids only, never a word of a conversation."""

    def __init__(
        self, settings: ConversationSettings, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._ttl_seconds = settings.ttl_seconds
        self._max_active = settings.max_active
        self._clock = clock
        self._last_used: OrderedDict[str, float] = OrderedDict()

    async def resume(self, conversation_id: str | None) -> str:
        """That id where it is known and was used within the TTL; else a new one.

        An id nobody minted is never taken over: a client can't choose, guess or bring back one.
        """
        now = self._clock()
        self._expire(now)
        if conversation_id is not None and conversation_id in self._last_used:
            known = conversation_id
        else:
            known = secrets.token_urlsafe(ID_BYTES)
        self._last_used[known] = now
        self._last_used.move_to_end(known)
        while len(self._last_used) > self._max_active:
            self._last_used.popitem(last=False)
        return known

    def __len__(self) -> int:
        """Ids kept now."""
        return len(self._last_used)

    def _expire(self, now: float) -> None:
        while self._last_used:
            oldest, used = next(iter(self._last_used.items()))
            if now - used < self._ttl_seconds:
                return
            del self._last_used[oldest]
