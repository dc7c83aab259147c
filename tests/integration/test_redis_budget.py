"""Model seconds of all visitors and all replicas, on a real Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from bot.adapters.redis_meter import MeteredModel
from bot.adapters.redis_state import State
from bot.chat.errors import Busy
from corpus.settings import RateLimitSettings
from tests.fakes import FakeModel
from tests.redis_server import RedisServer, eventually, replica, serve_redis

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

# One model second comes back in 0.1 s.
QUICK = RateLimitSettings(model_seconds_per_minute=600, model_seconds_burst=10)
# In 60 s.
SLOW = RateLimitSettings(model_seconds_per_minute=1, model_seconds_burst=10)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    for running in serve_redis(tmp_path):
        running.timeout_seconds = 30.0  # a busy machine must not look like a dead Redis
        yield running


async def begun(bot: State, seconds: float) -> bool:
    try:
        await bot.budget.begin(seconds)
    except Busy:
        return False
    return True


async def test_replicas_spend_one_allowance(server: RedisServer) -> None:
    """A8: 10 s for both, not for each; the last answer may overdraw."""
    async with replica(server.settings(SLOW)) as one, replica(server.settings(SLOW)) as two:
        found = await asyncio.gather(*(begun(bot, 3.0) for bot in [one, two] * 10))
        assert sum(found) == 4
        with pytest.raises(Busy) as refused:
            await one.budget.begin(3.0)
        assert 60 < refused.value.retry_after_seconds <= 120


async def test_a_spent_allowance_refuses_every_visitor_and_charges_none(
    server: RedisServer,
) -> None:
    """1000 addresses with one question each do not get past it."""
    async with replica(server.settings(SLOW)) as bot:
        before = await bot.limiter.check_address("203.0.113.7")
        await bot.budget.settle(0.0, 12.0, shared=True)
        verdicts = [await bot.limiter.check_address(f"198.51.100.{n}") for n in range(20)]
        assert {(v.allowed, v.refused_by) for v in verdicts} == {(False, "site")}
        assert 60 < verdicts[0].retry_after_seconds <= 120
        server.admin.delete("rl:model")
        after = await bot.limiter.check_address("203.0.113.7")
        assert after.remaining == before.remaining - 1


async def test_what_was_measured_counts_and_comes_back(server: RedisServer) -> None:
    async with replica(server.settings(SLOW)) as bot:
        assert await bot.budget.begin(9.5)
        await bot.budget.settle(9.5, 0.5, shared=True)
        assert await bot.budget.begin(12.0)
        with pytest.raises(Busy) as refused:
            await bot.budget.begin(1.0)
        assert 75 < refused.value.retry_after_seconds <= 150, "2.5 model seconds too many"
        server.let_pass("rl:model", refused.value.retry_after_seconds)
        assert await bot.budget.begin(1.0)
        assert 0 < server.admin.pttl("rl:model") <= 660_000


async def test_a_debt_has_an_end(server: RedisServer) -> None:
    """However wrong a measurement is, nobody is kept out longer than the burst lasts."""
    async with replica(server.settings(QUICK)) as bot:
        await bot.budget.settle(0.0, 1e6, shared=True)
        with pytest.raises(Busy):
            await bot.budget.begin(1.0)
        await bot.budget.settle(0.0, -1e6, shared=True)
        assert await bot.budget.begin(1.0)


async def test_without_redis_the_process_goes_on_counting(server: RedisServer) -> None:
    """Spent before the outage is spent in it; spent in it reaches Redis once that is back."""
    async with replica(server.settings(SLOW), rest_seconds=0.1) as bot:
        assert await bot.budget.begin(6.0) is True
        server.stop()
        assert await bot.budget.begin(6.0) is False
        assert not await begun(bot, 1.0)
        assert (await bot.limiter.check_address("203.0.113.7")).refused_by == "site"
        server.start()
        await asyncio.sleep(0.15)
        await bot.budget.settle(6.0, 11.0, shared=False)
        assert not await begun(bot, 1.0)


async def test_the_model_is_metered_also_for_a_visitor_who_leaves(server: RedisServer) -> None:
    async with replica(server.settings(SLOW)) as bot:
        inner = FakeModel()
        model = MeteredModel(inner, bot.budget)
        began = monotonic()
        inner.enqueue_text("a")
        assert [event async for event in model.stream(())]
        await model.aclose()
        inner.enqueue("hang")

        async def ask() -> None:
            async for _ in model.stream(()):
                pass

        async def running() -> bool:
            return inner.running == 1

        task = asyncio.create_task(ask())
        await eventually(running)
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await model.aclose()
        most_seconds = monotonic() - began
        # 0.2 s of the model come back in 12 s; no more was spent than all of this took.
        assert 6_000 < server.admin.pttl("rl:model") <= most_seconds * 60_000
        assert inner.running == 0
