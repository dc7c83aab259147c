"""The limit that replicas share, on a real Redis with the product's access list."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from bot.adapters.redis_keys import DaySecret
from bot.adapters.redis_limiter import RedisLimiter
from bot.chat.ports.sharing import AddressLimiter
from corpus.settings import RateLimitSettings
from tests.clock import AheadClock
from tests.redis_server import RedisServer, replica, serve_redis

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

SLOW = RateLimitSettings(requests_per_minute=1, burst=5, ipv6_network_factor=4)
ADDRESS = "203.0.113.7"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    yield from serve_redis(tmp_path)


@pytest.fixture(autouse=True)
def patience(server: RedisServer) -> None:
    """Counting is tested here, not the deadline: a busy machine must not look like a dead Redis."""
    server.timeout_seconds = 30.0


async def allowed(limiter: AddressLimiter, *addresses: str) -> int:
    """How many of these requests, all at once, are let in."""
    verdicts = await asyncio.gather(*(limiter.check_address(one) for one in addresses))
    return sum(verdict.allowed for verdict in verdicts)


@pytest.mark.parametrize("burst", [1, 5, 10])
async def test_800_at_once_over_two_replicas_allow_exactly_the_burst(
    server: RedisServer, burst: int
) -> None:
    """A1, A3: one limit, not one each."""
    settings = server.settings(RateLimitSettings(requests_per_minute=1, burst=burst))
    async with replica(settings) as one, replica(settings) as two:
        counts = await asyncio.gather(
            allowed(one.limiter, *[ADDRESS] * 400), allowed(two.limiter, *[ADDRESS] * 400)
        )
        assert sum(counts) == burst
        assert await allowed(one.limiter, ADDRESS) == 0
        assert await allowed(one.limiter, "203.0.113.8") == 1


async def test_no_window_holds_more_than_burst_plus_rate(server: RedisServer) -> None:
    """A2: also around the time at which a fixed window would start anew."""
    rate, burst = 50.0, 5
    settings = server.settings(RateLimitSettings(requests_per_minute=3000, burst=burst))
    passed: list[tuple[float, float]] = []
    waits: list[float] = []

    async def hammer(limiter: AddressLimiter) -> None:
        while len(passed) < 60:
            sent = monotonic()
            verdict = await limiter.check_address(ADDRESS)
            if verdict.allowed:
                passed.append((sent, monotonic()))
            else:
                waits.append(verdict.retry_after_seconds)
            await asyncio.sleep(0.001)

    async with asyncio.timeout(60), replica(settings) as one, replica(settings) as two:
        await asyncio.gather(*(hammer(bot.limiter) for bot in (one, one, two, two)))
    passed.sort()
    assert max(waits) <= 1 / rate, "it lets the configured rate through"
    for first, (sent, _) in enumerate(passed):
        for last in range(first, len(passed)):
            received = max(passed[last][1], sent)
            assert last - first + 1 <= burst + rate * (received - sent)


async def test_verdict_counts_down_and_says_when_to_return(server: RedisServer) -> None:
    """A16: Retry-After is right, and who waits so long is let in."""
    limits = RateLimitSettings(requests_per_minute=1, burst=3)
    clock = AheadClock()
    async with replica(server.settings(limits), clock=clock) as bot:
        verdicts = [await bot.limiter.check_address(ADDRESS) for _ in range(4)]
        assert [(v.allowed, v.limit, v.remaining) for v in verdicts] == [
            (True, 3, 2), (True, 3, 1), (True, 3, 0), (False, 3, 0),
        ]  # fmt: skip
        wait_seconds = verdicts[-1].retry_after_seconds
        assert 30 < wait_seconds <= 60
        (key,) = server.names("rl:a:")

        async def after(seconds: float) -> bool:
            """As if so many seconds had gone by, for Redis and for what this bot remembers."""
            server.let_pass(key, seconds)
            clock.ahead += seconds
            return (await bot.limiter.check_address(ADDRESS)).allowed

        assert not await after(wait_seconds - 20)
        assert await after(20)
        assert not await after(0)


async def test_hammering_costs_redis_nothing(server: RedisServer) -> None:
    """A16: Redis has said until when nothing is to be had, so it isn't asked again."""
    async with replica(server.settings(SLOW)) as bot:
        await allowed(bot.limiter, *[ADDRESS] * 6)
        server.admin.config_resetstat()
        for _ in range(1000):
            assert not (await bot.limiter.check_address(ADDRESS)).allowed
        stats: Any = server.admin.info("commandstats")
        assert set(stats) <= {"cmdstat_config|resetstat", "cmdstat_info"}


async def test_ipv6_64_is_one_visitor_and_48_is_capped(server: RedisServer) -> None:
    """A6, RL-03: 1000 addresses in a /64, 300 /64s in a /48; the next /48 is somebody else's."""
    first = int(IPv6Address("2001:db8:1:2::"))
    one_64 = [str(IPv6Address(first + n)) for n in range(1, 1001)]
    one_48 = [f"2001:db8:7:{n:x}::1" for n in range(300)]
    async with replica(server.settings(SLOW)) as one, replica(server.settings(SLOW)) as two:
        assert await allowed(one.limiter, *one_64) == SLOW.burst
        cap = SLOW.burst * SLOW.ipv6_network_factor
        half = len(one_48) // 2
        counts = await asyncio.gather(
            allowed(one.limiter, *one_48[:half]), allowed(two.limiter, *one_48[half:])
        )
        assert sum(counts) == cap
        assert await allowed(one.limiter, "2001:db8:8::1") == 1


async def test_a_visitor_that_hammers_leaves_the_network_its_allowance(
    server: RedisServer,
) -> None:
    async with replica(server.settings(SLOW)) as bot:
        await allowed(bot.limiter, *["2001:db8:7:1::1"] * 100)
        assert await allowed(bot.limiter, *["2001:db8:7:2::1"] * 10) == SLOW.burst


async def test_mapped_address_is_the_ipv4_one(server: RedisServer) -> None:
    """A7."""
    async with replica(server.settings(SLOW)) as bot:
        assert await allowed(bot.limiter, *[ADDRESS, f"::ffff:{ADDRESS}"] * 5) == SLOW.burst
        assert server.names("rl:n:") == []


@pytest.mark.parametrize("address", ["", "garbage", "1.1.1.1, 2.2.2.2", "\x00" * 5000, "ñ\r\nSET"])
async def test_what_is_no_address_shares_one_allowance(server: RedisServer, address: str) -> None:
    async with replica(server.settings(SLOW)) as bot:
        assert await allowed(bot.limiter, address, *["unknown"] * 9) == SLOW.burst


async def test_every_key_ends_and_none_holds_an_address(server: RedisServer) -> None:
    """P2, P3, P4: a dump of Redis tells nobody who asked."""
    async with replica(server.settings()) as bot:
        await allowed(bot.limiter, ADDRESS, "2001:db8:1:2::3", "garbage")
        await bot.conversations.resume(None)
        await bot.budget.settle(0.0, 5.0, shared=True)
        assert bot.shared is not None
        await bot.shared.check()
        keys = server.names()
        names = [r"rl:a:[0-9a-f]{32}"] * 3 + [r"rl:n:[0-9a-f]{32}", r"conv:[0-9a-f]{32}"]
        for pattern in [*names, r"rl:day:\d+", "rl:model"]:
            assert [key for key in keys if re.fullmatch(pattern, key)], pattern
        assert len(keys) <= 8
        lifetimes = {key: server.admin.pttl(key) for key in keys}
        assert -1 not in lifetimes.values(), f"no lifetime: {lifetimes}"
        day = next(key for key in keys if key.startswith("rl:day:"))
        assert 47 * 3600_000 < lifetimes.pop(day) <= 48 * 3600_000
        assert max(lifetimes.values()) <= 3600_000
    assert not re.search(r"203\.0|113\.7|2001:|db8:", " ".join(keys))


async def test_replicas_make_the_same_keys_and_others_under_another_secret(
    server: RedisServer,
) -> None:
    """P3: the secret is random and lives in Redis alone; without it nothing links two days."""
    async with replica(server.settings(SLOW)) as one, replica(server.settings(SLOW)) as two:
        left = [(await bot.limiter.check_address(ADDRESS)).remaining for bot in (one, two)]
        assert left == [4, 3]
        assert len(server.names("rl:a:")) == 1
        server.admin.delete(*server.names("rl:day:"))
        left = [(await bot.limiter.check_address(ADDRESS)).remaining for bot in (one, two)]
        assert left == [4, 3], "both took over the one new secret"
        assert len(server.names("rl:a:")) == 2


async def test_a_secret_of_yesterday_is_not_used_today(server: RedisServer) -> None:
    """By Redis' clock, whatever the bot's says (F19); yesterday's is still there, for 48 h."""
    async with replica(server.settings(SLOW)) as bot:
        limiter = bot.limiter
        assert isinstance(limiter, RedisLimiter)
        await allowed(limiter, ADDRESS)
        (today,) = server.names("rl:day:")
        yesterday = DaySecret(day=int(today.removeprefix("rl:day:")) - 1, secret=b"y" * 32)
        server.admin.set(yesterday.key, yesterday.secret, ex=3600)
        limiter._secret = yesterday
        assert (await limiter.check_address(ADDRESS)).remaining == SLOW.burst - 2
        assert len(server.names("rl:a:")) == 1


async def test_flushed_scripts_are_loaded_again(server: RedisServer) -> None:
    """RL-04, F8: NOSCRIPT is no error, and the count goes on."""
    async with replica(server.settings(SLOW)) as bot:
        assert (await bot.limiter.check_address(ADDRESS)).remaining == 4
        server.admin.script_flush()
        assert (await bot.limiter.check_address(ADDRESS)).remaining == 3
        assert server.calls("script|load") == 2


async def test_a_clock_set_back_keeps_nobody_out(server: RedisServer) -> None:
    """F19: a time in the far future counts as a spent burst, no longer."""
    limits = RateLimitSettings(requests_per_minute=600, burst=2)
    async with replica(server.settings(limits)) as bot:
        await allowed(bot.limiter, ADDRESS)
        (key,) = server.names("rl:a:")
        server.admin.set(key, 10**17, px=60_000)
        refused = await bot.limiter.check_address(ADDRESS)
        assert not refused.allowed
        assert refused.retry_after_seconds <= 0.1


async def test_rubbish_in_a_key_is_no_error(server: RedisServer) -> None:
    async with replica(server.settings(SLOW)) as bot:
        await allowed(bot.limiter, ADDRESS)
        (key,) = server.names("rl:a:")
        server.admin.set(key, "rubbish", px=60_000)
        assert (await bot.limiter.check_address(ADDRESS)).remaining == SLOW.burst - 1
        assert bot.shared is not None
        await bot.shared.check()
