"""In-process rate limit: exact bursts, a steady rate, and no address kept.

GCRA (one timestamp a key) instead of fixed windows, which let twice the burst through at their
edges (Litestar's own middleware does). Integer nanoseconds make it exact.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address, ip_network
from time import monotonic_ns

from bot.chat.ports.sharing import Verdict
from corpus.settings import RateLimitSettings

MAX_KEYS = 10_000
NANOSECONDS = 1_000_000_000
KEY_LIFETIME_NS = 24 * 3600 * NANOSECONDS
NO_ADDRESS = "no-address"


class LocalLimiter:
    """A bot.chat.ports.Limiter for one process; forgets the keys that have been quiet longest."""

    def __init__(
        self,
        settings: RateLimitSettings,
        *,
        max_keys: int = MAX_KEYS,
        clock_ns: Callable[[], int] = monotonic_ns,
    ) -> None:
        # Rounded up, so that the rate is never above the configured one.
        self._interval_ns = -(-60 * NANOSECONDS // settings.requests_per_minute)
        self._burst = settings.burst
        self._max_keys = max_keys
        self._clock_ns = clock_ns
        self._full_again_at: OrderedDict[str, int] = OrderedDict()

    async def check(self, key: str) -> Verdict:
        """Take one request from the key's allowance. It never awaits, so no two checks mix."""
        now = self._clock_ns()
        full_again_at = max(self._full_again_at.get(key, now), now) + self._interval_ns
        allowed_at = full_again_at - self._interval_ns * self._burst
        if allowed_at > now:
            self._full_again_at.move_to_end(key)
            return Verdict(
                allowed=False,
                limit=self._burst,
                remaining=0,
                retry_after_seconds=(allowed_at - now) / NANOSECONDS,
            )
        self._full_again_at[key] = full_again_at
        self._full_again_at.move_to_end(key)
        self._forget(now)
        return Verdict(
            allowed=True,
            limit=self._burst,
            remaining=(now - allowed_at) // self._interval_ns,
            retry_after_seconds=0.0,
        )

    def __len__(self) -> int:
        """Keys kept now."""
        return len(self._full_again_at)

    def _forget(self, now: int) -> None:
        """Drop the quietest keys while their allowance is full again, or there are too many."""
        while self._full_again_at:
            key, full_again_at = next(iter(self._full_again_at.items()))
            if full_again_at > now and len(self._full_again_at) <= self._max_keys:
                return
            del self._full_again_at[key]


class AddressKeys:
    """Turns a visitor's address into a limiter's key that can't be turned back.

    Keyed BLAKE2b with a random key that lives in memory for a day: without the key all 2^32 IPv4
    addresses can be tried, and the same visitor can't be followed from one day to the next.
    """

    def __init__(self, *, clock_ns: Callable[[], int] = monotonic_ns) -> None:
        self._clock_ns = clock_ns
        self._secret = b""
        self._until_ns = 0

    def __call__(self, address: str) -> str:
        """Key of an address: one for each IPv4 address or IPv6 /64, one for all that is neither."""
        if not self._secret or self._clock_ns() >= self._until_ns:
            self._secret = secrets.token_bytes(32)
            self._until_ns = self._clock_ns() + KEY_LIFETIME_NS
        bucket = address_bucket(address).encode()
        return blake2b(bucket, key=self._secret, digest_size=16).hexdigest()


def address_bucket(address: str) -> str:
    """Network that shares one allowance; a provider gives each IPv6 customer a /64 or more."""
    try:
        ip = ip_address(address.strip().partition("%")[0].strip("[]"))
    except ValueError:
        return NO_ADDRESS
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ip_network((ip, 64), strict=False))
    return str(ip)


address_key = AddressKeys()
"""The process's own; its secret is made at the first call."""
