"""Model seconds of all visitors, in one process."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from bot.adapters.redis_meter import TYPICAL_SECONDS, LocalBudget, MeteredModel
from bot.chat.errors import Busy, ModelUnavailable
from bot.chat.ports.model import TextDelta
from corpus.settings import RateLimitSettings
from tests.clock import Clock
from tests.fakes import HANG, FakeModel

pytestmark = pytest.mark.anyio

# One model second comes back in 2 s.
LIMITS = RateLimitSettings(model_seconds_per_minute=30, model_seconds_burst=20)


async def test_an_answer_may_begin_while_anything_is_left() -> None:
    clock = Clock()
    budget = LocalBudget(LIMITS, clock=clock)
    await budget.begin(19.0)
    await budget.begin(19.0)
    with pytest.raises(Busy) as refused:
        await budget.begin(1.0)
    assert refused.value.retry_after_seconds == 36.0
    clock.now += 36.1
    await budget.begin(1.0)


async def test_in_the_long_run_it_is_the_rate() -> None:
    """A8: one hour of visitors who always want an answer of 10 s."""
    clock = Clock()
    budget = LocalBudget(LIMITS, clock=clock)
    spent = 0.0
    for _ in range(3600):
        clock.now += 1.0
        if budget.wait_seconds() is None:
            await budget.begin(10.0)
            spent += 10.0
    assert 1800 <= spent <= 1800 + LIMITS.model_seconds_burst + 10


async def test_what_was_estimated_too_high_is_given_back() -> None:
    budget = LocalBudget(LIMITS, clock=Clock())
    shared = await budget.begin(25.0)
    assert shared is False
    await budget.settle(25.0, 2.0, shared=shared)
    assert budget.wait_seconds() is None
    await budget.settle(0.0, -1e9, shared=False)
    budget.spend(20.0)
    assert budget.wait_seconds() == 0.0


class Recorded:
    """A ModelBudget that notes."""

    def __init__(self) -> None:
        self.began: list[float] = []
        self.settled: list[tuple[float, float, bool]] = []
        self.spent = False

    async def begin(self, estimate_seconds: float) -> bool:
        if self.spent:
            raise Busy(7.0)
        self.began.append(estimate_seconds)
        return True

    async def settle(
        self, estimate_seconds: float, measured_seconds: float, *, shared: bool
    ) -> None:
        self.settled.append((estimate_seconds, measured_seconds, shared))


async def test_a_call_is_estimated_measured_and_settled() -> None:
    inner, budget = FakeModel(), Recorded()
    model = MeteredModel(inner, budget)
    began = monotonic()
    inner.enqueue(TextDelta(text="a"), 0.1, TextDelta(text="b"))
    assert len([event async for event in model.stream(())]) == 2
    await model.aclose()
    ((estimate, measured, shared),) = budget.settled
    assert (estimate, shared) == (TYPICAL_SECONDS, True)
    assert 0.09 < measured <= monotonic() - began
    inner.enqueue_text("c")
    assert [event async for event in model.stream(())]
    assert budget.began[1] < TYPICAL_SECONDS, "the next estimate has learnt"
    assert await model.count_tokens("abc") == 2
    await model.check()


async def test_a_spent_budget_never_reaches_the_model() -> None:
    inner, budget = FakeModel(), Recorded()
    budget.spent = True
    with pytest.raises(Busy):
        await anext(MeteredModel(inner, budget).stream(()))
    assert inner.prompts == []


async def test_a_failure_of_the_model_costs_what_it_took() -> None:
    inner, budget = FakeModel(), Recorded()
    inner.enqueue(ModelUnavailable("down"))
    model = MeteredModel(inner, budget)
    began = monotonic()
    with pytest.raises(ModelUnavailable):
        await anext(model.stream(()))
    await model.aclose()
    assert 0 <= budget.settled[0][1] <= monotonic() - began


async def test_a_visitor_who_leaves_is_settled_and_the_model_is_free() -> None:
    inner, budget = FakeModel(), Recorded()
    model = MeteredModel(inner, budget)
    inner.enqueue(TextDelta(text="a"), HANG)

    async def ask() -> None:
        async for _ in model.stream(()):
            pass

    task = asyncio.create_task(ask())
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await model.aclose()
    assert inner.running == 0
    assert len(budget.settled) == 1
