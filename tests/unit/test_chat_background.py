"""Background work: on an idle model only, cancelled the moment a visitor is admitted."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from bot.chat.admission import Admission, Ticket
from bot.chat.background import BackgroundTurn, background
from bot.chat.errors import Restarting
from tests.clock import Clock

pytestmark = pytest.mark.anyio


async def settle() -> None:
    """Let every task run until it waits for something else than another task's step."""
    for _ in range(20):
        await asyncio.sleep(0)


class Worker:
    """A task that works in the background until it is stopped."""

    def __init__(self, admission: Admission, idle_seconds: float = 0.0) -> None:
        self.turn: BackgroundTurn | None = None
        self.finish = asyncio.Event()
        self.may_let_go = asyncio.Event()
        self.may_let_go.set()
        self.task = asyncio.create_task(self._run(admission, idle_seconds))

    def began(self) -> bool:
        return self.turn is not None

    async def _run(self, admission: Admission, idle_seconds: float) -> str:
        async with background(admission, idle_seconds=idle_seconds) as turn:
            self.turn = turn
            try:
                await self.finish.wait()
            finally:
                await self.may_let_go.wait()
        return "interrupted" if turn.interrupted else "done"


async def served(ticket: Ticket) -> list[int]:
    async with aclosing(ticket.wait_turn()) as places:
        return [place async for place, _ in places]


async def test_work_runs_to_its_end_when_nobody_comes() -> None:
    worker = Worker(Admission(8))
    await settle()
    worker.finish.set()
    assert await worker.task == "done"


async def test_a_visitor_stops_it_on_being_admitted_and_is_told_of_no_line() -> None:
    admission = Admission(8)
    worker = Worker(admission)
    await settle()
    ticket = admission.admit("a")
    assert await worker.task == "interrupted"
    assert worker.task.cancelling() == 0
    assert await served(ticket) == []
    ticket.release()


async def test_a_visitor_waits_until_it_has_let_go() -> None:
    admission = Admission(8)
    worker = Worker(admission)
    await settle()
    worker.may_let_go.clear()
    first, second = admission.admit("a"), admission.admit("b")
    turn = asyncio.create_task(served(first))
    next_turn = asyncio.create_task(served(second))
    await settle()
    assert not turn.done()
    worker.may_let_go.set()
    assert await asyncio.wait_for(turn, 30) == []
    first.release()
    assert await asyncio.wait_for(next_turn, 30) == [1]
    second.release()
    assert await worker.task == "interrupted"


async def test_work_that_hangs_does_not_keep_visitors_from_the_model() -> None:
    admission = Admission(8, grace_seconds=0.01)
    worker = Worker(admission)
    await settle()
    worker.may_let_go.clear()
    ticket = admission.admit("a")
    assert await asyncio.wait_for(served(ticket), 30) == []
    worker.may_let_go.set()
    assert await worker.task == "interrupted"
    other = admission.admit("b")
    assert other.expected_seconds() > 0, "the late return of the model gave it away twice"
    ticket.release()
    other.release()


async def test_a_late_return_does_not_end_the_next_work() -> None:
    admission = Admission(8, grace_seconds=0.01)
    late = Worker(admission)
    await settle()
    late.may_let_go.clear()
    ticket = admission.admit("a")
    await asyncio.wait_for(served(ticket), 30)
    ticket.release()
    following = Worker(admission)
    await settle()
    assert following.began()
    late.may_let_go.set()
    assert await late.task == "interrupted"
    assert admission.loan.is_open
    following.finish.set()
    assert await following.task == "done"


async def test_it_waits_until_every_visitor_is_gone() -> None:
    admission = Admission(8)
    tickets = [admission.admit("a"), admission.admit("b")]
    worker = Worker(admission)
    for ticket in tickets:
        await settle()
        assert not worker.began()
        ticket.release()
    await settle()
    assert worker.began()
    worker.finish.set()
    assert await worker.task == "done"


async def test_it_waits_until_the_model_was_idle_for_so_long() -> None:
    clock = Clock()
    admission = Admission(8, clock=clock)
    worker = Worker(admission, idle_seconds=5.0)
    clock.now += 4.0
    admission.admit("a").release()
    clock.now += 4.0
    other = Worker(admission, idle_seconds=4.0)
    await settle()
    assert not worker.began()
    other.finish.set()
    assert await other.task == "done"
    clock.now += 1.0
    admission._changed.set()  # as the timer would
    await settle()
    assert worker.began()
    worker.finish.set()
    await worker.task


async def test_one_at_a_time() -> None:
    admission = Admission(8)
    first, second = Worker(admission), Worker(admission)
    await settle()
    assert first.began()
    assert not second.began()
    first.finish.set()
    await first.task
    await settle()
    assert second.began()
    second.finish.set()
    assert await second.task == "done"


async def test_its_turn_is_the_ticket_of_an_answer() -> None:
    admission = Admission(8)
    async with background(admission) as turn:
        assert turn.expected_seconds() == 0.0
        assert await served(turn) == []
        turn.release()
        assert admission.admitted == 0
        assert admission.loan.is_open
    assert not admission.loan.is_open


async def test_a_cancellation_from_outside_goes_on() -> None:
    admission = Admission(8)
    worker = Worker(admission)
    await settle()
    worker.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker.task
    assert not admission.loan.is_open


async def test_a_cancellation_from_outside_beside_a_visitors_goes_on_too() -> None:
    admission = Admission(8)
    worker = Worker(admission)
    await settle()
    admission.admit("a").release()
    worker.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker.task


async def test_an_error_of_the_work_is_the_callers() -> None:
    admission = Admission(8)
    with pytest.raises(ZeroDivisionError):
        async with background(admission):
            raise ZeroDivisionError
    assert await served(admission.admit("a")) == []


async def test_the_shutdown_ends_it_and_lets_no_more_begin() -> None:
    admission = Admission(8)
    running, waiting = Worker(admission), Worker(admission)
    await settle()
    admission.wake_all()
    assert await running.task == "interrupted"
    with pytest.raises(Restarting):
        await waiting.task


async def test_with_a_second_server_only_the_second_visitor_stops_it() -> None:
    admission = Admission(8, 2)
    worker = Worker(admission)
    await settle()
    assert worker.turn is not None
    assert worker.turn.server == 0
    first = admission.admit("a")
    assert await served(first) == []
    assert first.server == 1
    assert not worker.turn.interrupted
    second = admission.admit("b")
    assert await worker.task == "interrupted"
    assert await served(second) == []
    assert second.server == 0
    first.release()
    second.release()


async def test_a_visitor_whose_server_fails_gets_the_lent_one() -> None:
    admission = Admission(8, 2)
    worker = Worker(admission)
    await settle()
    ticket = admission.admit("a")
    assert await served(ticket) == []
    ticket.server_failed()
    assert ticket.move()
    assert await asyncio.wait_for(served(ticket), 30) == []
    assert await worker.task == "interrupted"
    assert ticket.server == 0
    ticket.release()


async def test_that_its_only_server_fails_does_not_stop_it() -> None:
    admission = Admission(8)
    async with background(admission) as turn:
        turn.server_failed()
        assert not turn.move()
        await settle()
        assert not turn.interrupted


async def test_it_may_choose_its_server_and_never_moves() -> None:
    admission = Admission(8, 2)
    async with background(admission, choose=lambda free: free[-1]) as turn:
        assert turn.server == 1
        turn.server_failed()
        assert not turn.move()
    assert sorted(admission._servers._free) == [0, 1]
    ticket = admission.admit("a")
    assert await served(ticket) == []
    assert ticket.server == 0
    ticket.release()
