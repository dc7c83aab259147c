"""What the replicas of the bot share: allowances and conversation ids."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct


class Verdict(Struct, frozen=True, kw_only=True):
    """A limiter's answer; the fields become RateLimit headers."""

    allowed: bool
    limit: int
    remaining: int
    retry_after_seconds: float
    refused_by: Literal["visitor", "site"] = "visitor"
    """Whose allowance is spent, where it is refused: the visitor's (429), or all visitors' (503)."""


class Limiter(Protocol):
    """Counts requests of one key."""

    async def check(self, key: str) -> Verdict:
        """Take one request from the key's allowance."""
        ...


@runtime_checkable
class AddressLimiter(Limiter, Protocol):
    """A limiter that makes its keys itself: those of one process mean nothing to its replicas.

    It also sees what a ready-made key hides: the network around an IPv6 address.
    """

    async def check_address(self, address: str) -> Verdict:
        """Take one request from the allowance of an address; the address itself is not kept."""
        ...


class Conversations(Protocol):
    """Mints and knows conversation ids."""

    async def resume(self, conversation_id: str | None) -> str:
        """That id where it is known and alive, a new one otherwise."""
        ...


class StateUnavailable(Exception):
    """The state that replicas share can't be used; for health and logs, never for a visitor."""

    code = "redis-error"

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SharedState(Protocol):
    """What replicas share: allowances and conversation ids."""

    async def check(self) -> None:
        """Return when it takes reads and writes; raise StateUnavailable otherwise."""
        ...
