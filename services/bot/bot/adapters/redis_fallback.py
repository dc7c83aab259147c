"""The same limits within this process: all there is without Redis, and what counts while it fails.

While Redis works these follow it, so that a failing Redis gives nobody a second burst.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from time import monotonic_ns

from msgspec.structs import replace

from bot.adapters.limiter import AddressKeys, LocalLimiter
from bot.adapters.redis_meter import LocalBudget
from bot.chat.ports.sharing import Verdict
from corpus.settings import RateLimitSettings


class LocalAllowances:
    """A bot.chat.ports.AddressLimiter for one process."""

    def __init__(
        self,
        settings: RateLimitSettings,
        budget: LocalBudget,
        *,
        clock_ns: Callable[[], int] = monotonic_ns,
    ) -> None:
        self._key_of = AddressKeys(clock_ns=clock_ns)
        self._visitors = LocalLimiter(settings, clock_ns=clock_ns)
        self._networks = LocalLimiter(network_limits(settings), clock_ns=clock_ns)
        self._budget = budget

    async def check(self, key: str) -> Verdict:
        """Take one request from the allowance of a ready-made key, with no network around it."""
        return await self._visitors.check(key)

    async def check_address(self, address: str) -> Verdict:
        """Take one request: from the visitor's allowance, then from an IPv6 network's.

        The visitor's goes first: one that hammers must not use up the neighbours' allowance.
        """
        wait = self._budget.wait_seconds()
        own, *around = self.keys(address)
        verdict = await self._visitors.check(own)
        for network in around:
            if verdict.allowed:
                verdict = narrower(verdict, await self._networks.check(network))
        if verdict.allowed and wait is not None:
            return refused_by_site(verdict.limit, wait)
        return verdict

    def keys(self, address: str) -> tuple[str, ...]:
        """What this process calls the allowances an address draws from: its own, its network's."""
        network = network_bucket(address)
        own = self._key_of(address)
        if network is None:
            return (own,)
        # Marked, since the first /64 of a /48 has the same first address.
        return (own, f"network {self._key_of(network.partition('/')[0])}")

    async def follow(self, keys: tuple[str, ...], remaining: int, refused: str | None) -> None:
        """Bring the allowances here down to what Redis says is left of them.

        Args:
            keys: What `keys` gives for the address.
            remaining: Requests the visitor has left; of no meaning where it was refused.
            refused: The one of `keys` that has nothing left; None for a request that was let in.
        """
        if refused is not None:
            await self._spend(refused, 0)
            return
        for key in keys[1:]:
            await self._networks.check(key)
        await self._spend(keys[0], remaining)

    async def _spend(self, key: str, remaining: int) -> None:
        limiter = self._networks if key.startswith("network") else self._visitors
        while (mine := await limiter.check(key)).allowed and mine.remaining > remaining:
            pass


def network_bucket(address: str) -> str | None:
    """The /48 around an IPv6 address; None for IPv4, mapped or not, and for what is no address."""
    try:
        ip = ip_address(address.strip().partition("%")[0].strip("[]"))
    except ValueError:
        return None
    if not isinstance(ip, IPv6Address) or ip.ipv4_mapped is not None:
        return None
    return str(ip_network((ip, 48), strict=False))


def network_limits(settings: RateLimitSettings) -> RateLimitSettings:
    """Rate and burst of an IPv6 /48."""
    factor = settings.ipv6_network_factor
    return replace(
        settings,
        requests_per_minute=settings.requests_per_minute * factor,
        burst=settings.burst * factor,
    )


def narrower(visitor: Verdict, network: Verdict) -> Verdict:
    """The visitor's verdict, cut down to what the network around has left."""
    return replace(
        visitor,
        allowed=visitor.allowed and network.allowed,
        remaining=min(visitor.remaining, network.remaining),
        retry_after_seconds=max(visitor.retry_after_seconds, network.retry_after_seconds),
    )


def refused_by_site(limit: int, wait_seconds: float) -> Verdict:
    """All visitors together have used up the model's time."""
    return Verdict(
        allowed=False,
        limit=limit,
        remaining=0,
        retry_after_seconds=wait_seconds,
        refused_by="site",
    )
