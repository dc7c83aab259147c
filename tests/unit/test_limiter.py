"""The in-process limiter: exact bursts, a rate that is never exceeded, no address kept."""

from __future__ import annotations

import asyncio
from ipaddress import IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.limiter import NANOSECONDS, AddressKeys, LocalLimiter, address_bucket, address_key
from corpus.settings import RateLimitSettings

pytestmark = pytest.mark.anyio


class Clock:
    """Nanoseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 123_456_789_012

    def __call__(self) -> int:
        return self.now


def limiter(clock: Clock, *, rate: int = 30, burst: int = 10, keys: int = 100) -> LocalLimiter:
    limits = RateLimitSettings(requests_per_minute=rate, burst=burst)
    return LocalLimiter(limits, max_keys=keys, clock_ns=clock)


@pytest.mark.parametrize("burst", [1, 5, 10])
async def test_800_racing_checks_allow_exactly_the_burst(burst: int) -> None:
    checks = limiter(Clock(), burst=burst)
    verdicts = await asyncio.gather(*(checks.check("visitor") for _ in range(800)))
    assert sum(verdict.allowed for verdict in verdicts) == burst


async def test_verdict_counts_down_and_says_when_to_return() -> None:
    clock = Clock()
    checks = limiter(clock, rate=30, burst=3)
    left = [await checks.check("a") for _ in range(3)]
    assert [(v.allowed, v.limit, v.remaining, v.retry_after_seconds) for v in left] == [
        (True, 3, 2, 0.0), (True, 3, 1, 0.0), (True, 3, 0, 0.0),
    ]  # fmt: skip
    refused = await checks.check("a")
    assert (refused.allowed, refused.limit, refused.remaining) == (False, 3, 0)
    assert refused.retry_after_seconds == 2.0
    clock.now += int(refused.retry_after_seconds * NANOSECONDS) - 1
    assert not (await checks.check("a")).allowed
    clock.now += 1
    assert (await checks.check("a")).allowed
    assert not (await checks.check("a")).allowed
    assert (await checks.check("b")).allowed


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.integers(1, 400),
    st.integers(1, 12),
    st.lists(st.integers(0, 5 * NANOSECONDS), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_burst_plus_rate(rate: int, burst: int, gaps: list[int]) -> None:
    clock = Clock()
    checks = limiter(clock, rate=rate, burst=burst)
    allowed: list[int] = []

    async def visit() -> None:
        for gap in gaps:
            clock.now += gap
            if (await checks.check("visitor")).allowed:
                allowed.append(clock.now)

    asyncio.run(visit())
    for first, start in enumerate(allowed):
        for last in range(first, len(allowed)):
            window_ns = allowed[last] - start
            # taken ≤ burst + rate·t, in whole nanoseconds: no rounding may hide an extra request
            assert (last - first + 1 - burst) * 60 * NANOSECONDS <= rate * window_ns


async def test_idle_visitor_gets_the_whole_burst_again_and_is_forgotten() -> None:
    clock = Clock()
    checks = limiter(clock, rate=60, burst=4)
    for _ in range(6):
        await checks.check("a")
    clock.now += 4 * NANOSECONDS
    assert (await checks.check("b")).allowed
    assert len(checks) == 1
    assert [(await checks.check("a")).allowed for _ in range(5)] == [True] * 4 + [False]


async def test_keys_are_bounded_and_the_persistent_one_is_not_let_off() -> None:
    """RL-03: an attacker with many addresses fills no memory and frees no old key by it."""
    checks = limiter(Clock(), burst=1, keys=50)
    await checks.check("persistent")
    for number in range(500):
        await checks.check(f"other-{number}")
        assert not (await checks.check("persistent")).allowed
        assert len(checks) <= 50


@pytest.mark.parametrize(
    ("address", "bucket"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" 192.0.2.7 ", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "no-address"),
        ("garbage", "no-address"),
        ("1.1.1.1, 2.2.2.2", "no-address"),
        ("999.1.1.1", "no-address"),
        ("\x00" * 5000, "no-address"),
    ],
)
def test_address_shares_the_allowance_of_its_network(address: str, bucket: str) -> None:
    """RL-01, RL-03."""
    assert address_bucket(address) == bucket


def test_key_holds_no_address_and_changes_every_day() -> None:
    """P2, P3: not to be found, tried out, or followed over days."""
    clock = Clock()
    key_of, elsewhere = AddressKeys(clock_ns=clock), AddressKeys(clock_ns=clock)
    today = key_of("192.0.2.7")
    assert today == key_of("::ffff:192.0.2.7")
    assert "192" not in bytes.fromhex(today).decode("latin-1")
    assert today != key_of("192.0.2.8")
    assert today != elsewhere("192.0.2.7")
    clock.now += 24 * 3600 * NANOSECONDS
    assert key_of("192.0.2.7") != today


def test_visitor_rotating_inside_one_64_has_one_key() -> None:
    """RL-03: 100 addresses, one allowance."""
    first = int(IPv6Address("2001:db8::"))
    assert len({address_key(str(IPv6Address(first + n))) for n in range(1, 101)}) == 1
