"""Whose conversation lies in which state: in memory only, under names that say nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from msgspec import Struct


class Holding(Struct, frozen=True, kw_only=True):
    """What the slot holds; all empty is: unknown."""

    page: str = ""
    """Name of the state of the prefix it begins with."""
    page_tokens: int = 0
    conversation: str | None = None
    """Id of the conversation behind the prefix."""
    tokens: int = 0
    """Of its last prompt: the next one begins with these; how the answer is repeated is open."""
    saved: bool = False
    """The conversation is on disk as it lies there."""


class Kept(Struct, frozen=True, kw_only=True):
    """A conversation's state on disk."""

    name: str
    holding: Holding
    until: float


class KeptConversations:
    """Conversation ids and their states, until the TTL is over."""

    def __init__(self, ttl_seconds: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def put(self, conversation_id: str, name: str, holding: Holding) -> str | None:
        """Note a new state; returns the name of the one it replaces."""
        old = self._kept.pop(conversation_id, None)
        until = self._clock() + self._ttl_seconds
        self._kept[conversation_id] = Kept(name=name, holding=holding, until=until)
        return old.name if old else None

    def get(self, conversation_id: str | None, page: str) -> Kept | None:
        """The living state of a conversation that was made with that page."""
        kept = self._kept.get(conversation_id) if conversation_id is not None else None
        if kept is None or kept.holding.page != page or self._clock() >= kept.until:
            return None
        return kept

    def pop(self, conversation_id: str) -> str | None:
        """Forget one; returns the name of its state."""
        kept = self._kept.pop(conversation_id, None)
        return kept.name if kept else None

    def expired(self) -> list[str]:
        """Names of states whose time is over; they are forgotten."""
        over = [each for each, kept in self._kept.items() if self._clock() >= kept.until]
        return [self._kept.pop(each).name for each in over]
