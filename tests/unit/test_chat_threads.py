"""What the model was told goes on only where the client's history says the same, and not for ever."""

from __future__ import annotations

import pytest

from bot.chat.ports.model import Message
from bot.chat.threads import MOST_THREAD_CHARS, MOST_THREADS, Thread, Threads
from tests.clock import Clock


def past(*texts: str) -> list[Message]:
    roles = ("user", "assistant")
    return [Message(role=roles[n % 2], content=text) for n, text in enumerate(texts)]  # type: ignore[arg-type]


def thread(question: str = "Q", shown: str = "A [1].", size: int = 10) -> Thread:
    return Thread(
        page_key="p",
        messages=tuple(past(question, "x" * size)),
        excerpts=(),
        question=question,
        shown=shown,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def threads(clock: Clock) -> Threads:
    return Threads(60, clock)


def test_the_last_turn_as_shown_continues_it(threads: Threads) -> None:
    threads.keep("c", thread())
    assert threads.find("c", past("Q", "A [1].")) == thread()
    assert threads.find("c", past("older", "turn", " Q ", "A\u200b [1]. ")) == thread()


@pytest.mark.parametrize(
    "history", [[], past("Q"), past("Q", "B"), past("P", "A [1]."), past("Q", "A [1].", "R", "S")]
)
def test_any_other_history_does_not(threads: Threads, history: list[Message]) -> None:
    threads.keep("c", thread())
    assert threads.find("c", history) is None


def test_nobody_gets_another_visitors_thread(threads: Threads) -> None:
    threads.keep("c", thread())
    assert threads.find("d", past("Q", "A [1].")) is None


def test_a_thread_lives_as_long_as_its_conversation(threads: Threads, clock: Clock) -> None:
    threads.keep("c", thread())
    clock.now += 59
    assert threads.find("c", past("Q", "A [1].")) is not None
    clock.now += 2
    assert threads.find("c", past("Q", "A [1].")) is None
    assert not threads._threads  # the words are gone, not only out of reach


def test_the_number_of_threads_is_bounded(threads: Threads) -> None:
    for n in range(MOST_THREADS + 5):
        threads.keep(str(n), thread())
    assert len(threads._threads) == MOST_THREADS
    assert threads.find("0", past("Q", "A [1].")) is None


def test_a_thread_that_grew_too_long_begins_anew(threads: Threads) -> None:
    threads.keep("c", thread())
    threads.keep("c", thread(size=MOST_THREAD_CHARS + 1))
    assert threads.find("c", past("Q", "A [1].")) is None
