"""The line before the model: bounded, fair, patient for so long, and moved on whoever leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat.admission import TYPICAL_ANSWER_SECONDS, Admission, Ticket
from bot.chat.errors import Busy, Restarting, WaitedTooLong
from tests.clock import Clock

pytestmark = pytest.mark.anyio


async def settle() -> None:
    """Let every task run until it waits for something else than another task's step."""
    for _ in range(20):
        await asyncio.sleep(0)


async def places_of(ticket: Ticket) -> list[tuple[int, float]]:
    """Wait for the turn; the places told before it."""
    async with aclosing(ticket.wait_turn()) as places:
        return [place async for place in places]


class Visit:
    """A visitor in the line, then at the model until told to go."""

    def __init__(self, admission: Admission, visitor: str | None, served: list[Visit]) -> None:
        self.visitor = visitor
        self.ticket = admission.admit(visitor)
        self.places: list[tuple[int, float]] = []
        self._served = served
        self._over = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            async with aclosing(self.ticket.wait_turn()) as places:
                async for place in places:
                    self.places.append(place)
            self._served.append(self)
            await self._over.wait()
        finally:
            self.ticket.release()

    async def end(self) -> None:
        """The answer is over."""
        self._over.set()
        await self.task
        await settle()

    async def go(self) -> None:
        """Leave without waiting for anything."""
        self.task.cancel()
        await settle()


class Stage:
    """An admission on a clock of its own and everybody who was served, in order."""

    def __init__(self, queue_size: int = 8, servers: int = 1) -> None:
        self.clock = Clock()
        self.admission = Admission(queue_size, servers, clock=self.clock)
        self.served: list[Visit] = []

    async def come(self, visitor: str | None = None) -> Visit:
        visit = Visit(self.admission, visitor, self.served)
        await settle()
        return visit

    async def try_to_come(self, visitor: str) -> Visit | None:
        try:
            return await self.come(visitor)
        except Busy:
            return None

    async def end_all(self) -> None:
        """Serve the line to its end."""
        done = 0
        while done < len(self.served):
            await self.served[done].end()
            done += 1
        assert self.admission.admitted == 0

    @property
    def names(self) -> list[str | None]:
        return [visit.visitor for visit in self.served]


async def test_one_greedy_address_does_not_keep_nine_others_waiting() -> None:
    """L5"""
    stage = Stage(queue_size=40)
    greedy = [await stage.try_to_come("greedy") for _ in range(20)]
    for n in range(9):
        await stage.come(f"visitor {n}")
    await stage.end_all()
    turns = [stage.names.index(f"visitor {n}") + 1 for n in range(9)]
    assert max(turns) <= 10
    assert stage.names.count("greedy") == len([visit for visit in greedy if visit])


@settings(max_examples=30, deadline=None)
@given(st.permutations(["greedy"] * 20 + [f"visitor {n}" for n in range(9)]))
def test_nor_does_it_in_any_order_of_arrival(arrivals: list[str]) -> None:
    async def play() -> None:
        stage = Stage(queue_size=40)
        for visitor in arrivals:
            await stage.try_to_come(visitor)
        await stage.end_all()
        assert {f"visitor {n}" for n in range(9)} <= set(stage.names[:10])

    asyncio.run(play())


@pytest.mark.parametrize(("queue_size", "share"), [(0, 1), (1, 1), (7, 1), (8, 2), (40, 10)])
async def test_a_visitor_holds_a_quarter_of_the_line_at_the_most(
    queue_size: int, share: int
) -> None:
    stage = Stage(queue_size)
    first = await stage.come("greedy")
    held = [visit for _ in range(20) if (visit := await stage.try_to_come("greedy"))]
    assert len(held) == min(share, queue_size)
    for n in range(queue_size - len(held)):
        await stage.come(f"visitor {n}")
    await first.end()
    assert stage.admission.admitted == queue_size
    await stage.end_all()


async def test_questions_on_their_way_to_the_line_count_for_the_share() -> None:
    admission = Admission(8)
    tickets = [admission.admit("greedy"), admission.admit("greedy")]
    with pytest.raises(Busy):
        admission.admit("greedy")
    tickets[0].release()
    admission.admit("greedy").release()


async def test_the_line_is_bounded_and_says_when_to_return() -> None:
    """L4"""
    stage = Stage(queue_size=2)
    for visitor in "abc":
        await stage.come(visitor)
    with pytest.raises(Busy) as refused:
        stage.admission.admit("d")
    assert refused.value.retry_after_seconds == TYPICAL_ANSWER_SECONDS
    assert stage.admission.admitted == 3
    await stage.end_all()


async def test_without_a_name_each_ticket_is_a_visitor() -> None:
    admission = Admission(8)
    assert len({admission.admit() for _ in range(9)}) == 9


async def test_places_are_told_in_the_fair_order_with_a_wait_from_measured_answers() -> None:
    stage = Stage()
    first = await stage.come("a")
    again = await stage.come("a")
    other = await stage.come("b")
    assert [place for place, _ in again.places] == [1, 2]
    assert other.places == [(1, 12.0)]
    stage.clock.now += 22.0
    await first.end()
    assert again.places[-1] == (1, 17.0)  # the median of 12, the first guess, and 22
    await stage.end_all()
    assert stage.names == ["a", "b", "a"]


async def test_one_endless_answer_does_not_turn_everybody_away() -> None:
    stage = Stage()
    for seconds in (10.0, 10.0, 240.0, 10.0):
        answer = await stage.come("a")
        stage.clock.now += seconds
        await answer.end()
    assert stage.admission.eta_seconds(1) == 10.0


async def test_two_servers_serve_two_and_halve_the_wait() -> None:
    stage = Stage(servers=2)
    for visitor in "abcd":
        await stage.come(visitor)
    assert stage.names == ["a", "b"]
    assert stage.admission.eta_seconds(3) == 18.0
    await stage.served[1].end()
    assert stage.names == ["a", "b", "c"]
    await stage.end_all()


async def test_the_wait_to_expect_is_known_before_it_begins() -> None:
    stage = Stage()
    ticket = stage.admission.admit("early")
    assert ticket.expected_seconds() == 0.0
    first = await stage.come("a")
    assert first.ticket.expected_seconds() == 0.0
    assert ticket.expected_seconds() == 12.0
    await stage.come("b")
    assert ticket.expected_seconds() == 24.0
    ticket.release()
    assert stage.served == [first]
    await stage.end_all()


async def test_patience_ends_at_the_deadline_and_the_line_moves_on() -> None:
    stage = Stage()
    await stage.come("a")
    second = await stage.come("b")
    stage.clock.now += 30.0
    third = await stage.come("c")
    stage.clock.now += 29.0
    assert not second.task.done()
    stage.clock.now += 1.0
    fourth = await stage.come("d")  # wakes the line, as the timer would
    with pytest.raises(WaitedTooLong):
        await second.task
    await settle()
    assert third.places[-1][0] == 1
    assert fourth.places[-1][0] == 2
    assert stage.admission.admitted == 3
    await stage.end_all()


async def test_the_deadline_needs_nobody_else_to_pass() -> None:
    admission = Admission(8, queue_seconds=0.01)
    serving = Visit(admission, "a", [])
    await settle()
    waiting = Visit(admission, "b", [])
    with pytest.raises(WaitedTooLong):
        await asyncio.wait_for(waiting.task, 30)
    await serving.end()
    assert admission.admitted == 0


async def test_a_turn_that_came_is_taken_though_the_deadline_passed_meanwhile() -> None:
    stage = Stage()
    first = await stage.come("a")
    second = await stage.come("b")
    stage.clock.now += 100.0
    await first.end()
    assert stage.served == [first, second]
    await stage.end_all()


async def test_who_leaves_the_line_gives_the_place_back() -> None:
    """L6"""
    stage = Stage()
    first, second, third = [await stage.come(visitor) for visitor in "abc"]
    await second.go()
    assert third.places[-1][0] == 1
    await first.go()
    assert stage.served == [first, third]
    await third.go()
    assert stage.admission.admitted == 0


async def test_a_reader_that_stops_reading_the_places_gives_its_own_back() -> None:
    stage = Stage()
    first = await stage.come("a")
    ticket = stage.admission.admit("b")
    async with aclosing(ticket.wait_turn()) as places:
        assert await anext(places) == (1, 12.0)
    other = await stage.come("c")
    assert other.places == [(1, 12.0)]
    await first.end()
    assert stage.served == [first, other]
    ticket.release()
    await stage.end_all()


async def test_a_turn_that_comes_while_the_reader_is_busy_is_not_missed() -> None:
    stage = Stage()
    first = await stage.come("a")
    ticket = stage.admission.admit("b")
    async with aclosing(ticket.wait_turn()) as places:
        await anext(places)
        await first.end()  # the reader has not asked for the next place yet
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(places), 30)
    ticket.release()


async def test_a_ticket_that_was_given_back_never_reaches_the_model() -> None:
    stage = Stage()
    ticket = stage.admission.admit("a")
    ticket.release()
    ticket.release()
    with pytest.raises(RuntimeError):
        await anext(ticket.wait_turn())
    await stage.come("b")
    assert stage.names == ["b"]
    await stage.end_all()


async def test_everybody_who_waits_hears_of_the_shutdown() -> None:
    stage = Stage()
    first, *waiting = [await stage.come(visitor) for visitor in "abc"]
    stage.admission.wake_all()
    for visit in waiting:
        with pytest.raises(Restarting):
            await visit.task
    assert stage.admission.admitted == 1
    await first.end()


async def test_idle_time_counts_from_the_last_visitors_leaving() -> None:
    stage = Stage()
    stage.clock.now += 5.0
    assert stage.admission.idle_for() == 5.0
    visit = await stage.come("a")
    ticket: Ticket = stage.admission.admit("b")
    stage.clock.now += 5.0
    assert stage.admission.idle_for() == 0.0
    await visit.end()
    assert stage.admission.idle_for() == 0.0
    ticket.release()
    stage.clock.now += 2.0
    assert stage.admission.idle_for() == 2.0


async def test_each_visitor_has_a_server_of_its_own_and_the_third_waits() -> None:
    stage = Stage(servers=2)
    first, second, third = [await stage.come(visitor) for visitor in "abc"]
    assert [visit.ticket.server for visit in (first, second, third)] == [0, 1, None]
    assert third.places == [(1, 6.0)]
    await second.end()
    assert third.ticket.server == 1
    await stage.end_all()


async def test_the_longest_unused_server_is_next_unless_the_ticket_chooses() -> None:
    """So the slot that was used last keeps its conversation for its visitor's next question."""
    stage = Stage(servers=3)
    first = await stage.come("a")
    await first.end()
    second = await stage.come("b")
    assert second.ticket.server == 1
    await second.end()
    offered: list[tuple[int, ...]] = []

    def last(free: Sequence[int]) -> int:
        offered.append(tuple(free))
        return free[-1]

    ticket = stage.admission.admit("b")
    assert [place async for place in ticket.wait_turn(last)] == []
    assert (ticket.server, offered) == (1, [(2, 0, 1)])
    ticket.release()
    assert stage.admission.admitted == 0


async def test_turns_are_fair_at_two_servers_too() -> None:
    stage = Stage(queue_size=40, servers=2)
    for _ in range(8):
        await stage.try_to_come("greedy")
    for n in range(4):
        await stage.come(f"visitor {n}")
    await stage.end_all()
    assert set(stage.names[2:6]) == {f"visitor {n}" for n in range(4)}


async def test_who_is_at_a_server_that_fails_is_next_at_another() -> None:
    stage = Stage(servers=2)
    failing = stage.admission.admit("a")
    assert [place async for place in failing.wait_turn()] == []
    other, waiting = await stage.come("b"), await stage.come("c")
    assert (failing.server, other.ticket.server) == (0, 1)
    failing.server_failed()
    assert failing.move()
    places = failing.wait_turn()
    async with aclosing(places):
        assert await anext(places) == (1, 12.0)  # of one server, before the one who waited
        await settle()
        assert waiting.places[-1] == (2, 24.0)
        await other.end()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(places), 30)
    assert failing.server == 1
    assert not waiting.task.done()
    failing.release()
    await settle()
    assert waiting.ticket.server == 1, "nobody is sent to a server that is down"
    await waiting.end()
    assert stage.admission.admitted == 0


async def test_a_server_is_tried_again_after_its_rest() -> None:
    admission = Admission(8, 2, rest_seconds=0.01)
    failing = admission.admit("a")
    assert [place async for place in failing.wait_turn()] == []
    failing.server_failed()
    failing.release()
    served: list[Visit] = []
    visits = [Visit(admission, visitor, served) for visitor in "bc"]
    async with asyncio.timeout(30):
        while len(served) < 2:  # noqa: ASYNC110  (the second is served when the rest is over)
            await asyncio.sleep(0.001)
    assert [visit.ticket.server for visit in served] == [1, 0]
    for visit in visits:
        await visit.end()


async def test_when_every_server_is_down_visitors_are_sent_to_one_all_the_same() -> None:
    stage = Stage(servers=2)
    tickets = [stage.admission.admit(visitor) for visitor in "ab"]
    for ticket in tickets:
        assert [place async for place in ticket.wait_turn()] == []
        ticket.server_failed()
    assert [ticket.move() for ticket in tickets] == [False, False]
    assert [ticket.server for ticket in tickets] == [0, 1], "who can't move keeps what it has"
    for ticket in tickets:
        ticket.release()
    visits = [await stage.come(visitor) for visitor in "cd"]
    assert [visit.ticket.server for visit in visits] == [0, 1]
    assert stage.admission.eta_seconds(1) == 0.0, "measured: nothing took any time"
    await stage.end_all()


@pytest.mark.parametrize("waits", [False, True])
async def test_who_leaves_between_two_servers_takes_none_along(waits: bool) -> None:
    stage = Stage(servers=2)
    failing = stage.admission.admit("a")
    assert [place async for place in failing.wait_turn()] == []
    other = await stage.come("b")
    failing.server_failed()
    assert failing.move()
    if waits:
        async with aclosing(failing.wait_turn()) as places:
            await anext(places)
    failing.release()
    following = await stage.come("c")
    await other.end()
    assert following.ticket.server == 1
    await following.end()
    assert stage.admission.admitted == 0
    assert sorted(stage.admission._servers._free) == [0, 1]


async def test_who_moves_waits_for_another_server_though_the_failed_one_has_rested() -> None:
    admission = Admission(8, 2, rest_seconds=0.01)
    failing, other = admission.admit("a"), admission.admit("b")
    for ticket in (failing, other):
        assert [place async for place in ticket.wait_turn()] == []
    failing.server_failed()
    assert failing.move()
    moved = asyncio.create_task(places_of(failing))
    async with asyncio.timeout(30):
        while admission._servers.up < 2:  # noqa: ASYNC110  (until the rest is over)
            await asyncio.sleep(0.001)
    await settle()
    assert not moved.done()
    following = Visit(admission, "c", [])
    await settle()
    assert following.ticket.server == 0, "the next visitor is the one who tries it"
    other.release()
    assert await asyncio.wait_for(moved, 30) == [(1, 12.0)]
    assert failing.server == 1
    failing.release()
    await following.end()
    assert admission.admitted == 0
