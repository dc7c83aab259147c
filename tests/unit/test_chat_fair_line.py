"""Whose turn it is: every visitor once before anybody twice."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bot.chat.fair_line import FairLine

VISITORS = "abcde"
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.sampled_from(VISITORS)),
        st.tuples(st.just("leave"), st.integers(0, 30)),
        st.tuples(st.just("end"), st.integers(0, 2)),
    ),
    max_size=60,
)


class Desk:
    """A line before some servers, as busy as they can be."""

    def __init__(self, servers: int) -> None:
        self.line: FairLine[tuple[str, int]] = FairLine()
        self.servers = servers
        self.serving: list[tuple[str, int]] = []
        self.begun: list[tuple[str, int]] = []
        self.entered = 0

    def enter(self, visitor: str) -> tuple[str, int]:
        self.entered += 1
        place = (visitor, self.entered)
        self.line.enter(visitor, place)
        self._fill()
        return place

    def end(self, number: int) -> None:
        if number < len(self.serving):
            self.line.end(self.serving.pop(number)[0])
            self._fill()

    def leave(self, number: int) -> None:
        waiting = self.line.order()
        if number < len(waiting):
            assert self.line.leave(waiting[number][0], waiting[number])

    def _fill(self) -> None:
        while len(self.serving) < self.servers and (place := self.line.begin_next()):
            self.serving.append(place)
            self.begun.append(place)


def test_the_first_to_come_is_the_first_served() -> None:
    desk = Desk(1)
    places = [desk.enter(visitor) for visitor in "abc"]
    desk.end(0)
    desk.end(0)
    assert desk.begun == places


def test_a_second_question_waits_until_everybody_had_a_turn() -> None:
    desk = Desk(1)
    for visitor in "aaabbc":
        desk.enter(visitor)
    assert [visitor for visitor, _ in desk.line.order()] == ["b", "c", "a", "b", "a"]
    for _ in range(6):
        desk.end(0)
    assert "".join(visitor for visitor, _ in desk.begun) == "abcaba"
    assert len(desk.line) == 0


def test_who_comes_while_a_greedy_visitor_is_served_goes_before_its_next_question() -> None:
    desk = Desk(1)
    for visitor in "aaab":
        desk.enter(visitor)
    assert [visitor for visitor, _ in desk.line.order()] == ["b", "a", "a"]


def test_a_free_server_serves_a_visitor_twice_rather_than_nobody() -> None:
    desk = Desk(2)
    desk.enter("a")
    desk.enter("a")
    assert len(desk.serving) == 2


def test_who_does_not_wait_can_not_leave() -> None:
    desk = Desk(1)
    served = desk.enter("a")
    waiting = desk.enter("a")
    assert not desk.line.leave("a", served)
    assert not desk.line.leave("b", waiting)
    assert desk.line.leave("a", waiting)
    assert not desk.line.leave("a", waiting)
    assert desk.line.begin_next() is None


@given(STEPS, st.integers(1, 3))
def test_before_a_visitors_turn_no_other_gets_two(
    steps: list[tuple[str, str | int]], servers: int
) -> None:
    desk = Desk(servers)
    others_turns: dict[str, Counter[str]] = {}
    for kind, value in steps:
        begun = len(desk.begun)
        if kind == "enter":
            assert isinstance(value, str)
            desk.enter(value)
        elif kind == "leave":
            desk.leave(int(value))
        else:
            desk.end(int(value))
        for visitor, _ in desk.begun[begun:]:
            others_turns.pop(visitor, None)
            for turns in others_turns.values():
                turns[visitor] += 1
                assert turns[visitor] == 1
        served = {visitor for visitor, _ in desk.serving}
        waiting = {visitor for visitor, _ in desk.line.order()} - served
        others_turns = {visitor: others_turns.get(visitor, Counter()) for visitor in waiting}


@given(STEPS)
def test_the_order_is_the_one_that_comes_about(steps: list[tuple[str, str | int]]) -> None:
    desk = Desk(1)
    for kind, value in steps:
        if kind == "enter":
            assert isinstance(value, str)
            desk.enter(value)
        elif kind == "leave":
            desk.leave(int(value))
        else:
            desk.end(int(value))
    foretold, begun = desk.line.order(), len(desk.begun)
    assert len(foretold) == len(desk.line)
    while desk.serving:
        desk.end(0)
    assert desk.begun[begun:] == foretold
