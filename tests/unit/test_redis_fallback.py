"""The limits of one process: alone without Redis, and in its place while it fails."""

from __future__ import annotations

import pytest

from bot.adapters.redis_fallback import LocalAllowances, network_bucket
from bot.adapters.redis_meter import LocalBudget
from bot.chat.ports.sharing import AddressLimiter
from corpus.settings import RateLimitSettings
from tests.clock import Clock

pytestmark = pytest.mark.anyio

LIMITS = RateLimitSettings(
    requests_per_minute=60,
    burst=5,
    ipv6_network_factor=3,
    model_seconds_per_minute=30,
    model_seconds_burst=20,
)


def allowances(clock: Clock) -> tuple[LocalAllowances, LocalBudget]:
    budget = LocalBudget(LIMITS, clock=clock)
    return LocalAllowances(LIMITS, budget, clock_ns=clock.nanoseconds), budget


async def let_in(limiter: AddressLimiter, *addresses: str) -> int:
    return sum([(await limiter.check_address(address)).allowed for address in addresses])


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("[2001:db8:1:ffff::3]", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("192.0.2.7", None),
        ("::ffff:192.0.2.7", None),
        ("garbage", None),
        ("", None),
    ],
)
def test_only_ipv6_has_a_network_around(address: str, network: str | None) -> None:
    assert network_bucket(address) == network


async def test_an_ipv6_network_has_a_cap_above_its_visitors() -> None:
    """A6 without Redis."""
    limiter, _ = allowances(Clock())
    assert await let_in(limiter, *(f"2001:db8:7:{n:x}::1" for n in range(100))) == 15
    assert await let_in(limiter, "2001:db8:8::1") == 1
    assert await let_in(limiter, *["192.0.2.7"] * 9) == 5


async def test_the_first_64_of_a_48_is_not_the_48() -> None:
    limiter, _ = allowances(Clock())
    assert await let_in(limiter, *["2001:db8:7::1"] * 9) == 5
    assert await let_in(limiter, *["2001:db8:7:1::1"] * 9) == 5


async def test_one_that_hammers_does_not_use_up_the_network() -> None:
    limiter, _ = allowances(Clock())
    await let_in(limiter, *["2001:db8:7:1::1"] * 500)
    assert await let_in(limiter, *["2001:db8:7:2::1"] * 9) == 5


async def test_verdict_shows_what_is_narrower() -> None:
    limiter, _ = allowances(Clock())
    await let_in(limiter, *(f"2001:db8:7:{n:x}::1" for n in range(13)))
    verdict = await limiter.check_address("2001:db8:7:ff::1")
    assert (verdict.allowed, verdict.limit, verdict.remaining) == (True, 5, 1)


@pytest.mark.parametrize("left", [0, 1, 4])
async def test_it_follows_what_redis_says_is_left(left: int) -> None:
    """A failing Redis gives nobody a second burst."""
    limiter, _ = allowances(Clock())
    await limiter.follow(limiter.keys("192.0.2.7"), left, refused=None)
    assert await let_in(limiter, *["192.0.2.7"] * 9) == left


async def test_it_follows_a_refusal() -> None:
    limiter, _ = allowances(Clock())
    own, network = limiter.keys("2001:db8:7:1::1")
    await limiter.follow((own, network), 0, refused=network)
    assert await let_in(limiter, "2001:db8:7:2::1", "192.0.2.7") == 1
    await limiter.follow(("192", *[]), 0, refused="192")
    assert not (await limiter.check("192")).allowed


async def test_spent_model_time_refuses_everybody_until_it_is_back() -> None:
    clock = Clock()
    limiter, budget = allowances(clock)
    budget.spend(21.0)
    refused = await limiter.check_address("192.0.2.7")
    assert (refused.allowed, refused.refused_by) == (False, "site")
    assert refused.retry_after_seconds == 2.0
    clock.now += 2.1
    assert await let_in(limiter, "192.0.2.7") == 1


def test_the_address_is_in_no_key() -> None:
    """P2."""
    limiter, _ = allowances(Clock())
    keys = " ".join(limiter.keys("2001:db8:7:1::1") + limiter.keys("192.0.2.7"))
    assert not any(part in keys for part in ("2001:", "db8:", "192."))
