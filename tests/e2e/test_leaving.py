"""Twenty visitors who leave the whole bot with a real model: each time it is free for the next one.

What proves it is the chat server's own log and the bot's line, not a clock.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.app import create_app
from corpus.settings import Settings
from tests.chat_process import Evaluation, SupervisedChat, evaluations
from tests.live_server import LiveServer, serve_in_thread
from tests.patience import wait_until
from tests.visits import ask, visit, wait_for

pytestmark = pytest.mark.models
COLD = (
    "What was the problem of the clothes shop, and how was it solved?",
    "How does the tide map get its data?",
)
"""Of two long pages in turn: each drives out what the server has read of the other one."""
LONG = "Describe the clothes shop: what was the problem, how was it built, how do people pay?"
SHORT = "What does the blue boat cost?"
ROUNDS = 7
ANSWERS_LEFT = 6
TRIES = 3
"""For each answer that is left: one may be over before its visitor has gone."""
WAIT_SECONDS = 600.0


@pytest.fixture
def bot(small_site: Settings) -> Iterator[LiveServer]:
    with serve_in_thread(create_app(small_site), trusted_proxies=("127.0.0.1",)) as live:
        yield live


def let_go(bot: LiveServer, chat: SupervisedChat, since: int) -> list[Evaluation]:
    """What the server worked on, once it works on nothing and nobody has a place in the line."""
    wait_until(lambda: bot.chat._admission.admitted == 0, WAIT_SECONDS)
    wait_until(
        lambda: all(each.tokens is not None for each in evaluations(chat.log, since)), WAIT_SECONDS
    )
    return evaluations(chat.log, since)


def test_twenty_of_twenty_visitors_who_leave_free_the_model(
    bot: LiveServer, chat: SupervisedChat
) -> None:
    next_is_answered(bot)  # from here on the bot knows the server, and asks it nothing of its own
    for number in range(ROUNDS):
        who_is_read_to_and_who_waits(bot, chat, COLD[number % len(COLD)])
    left = 0
    for _ in range(ANSWERS_LEFT * TRIES):
        left += left < ANSWERS_LEFT and who_is_answered(bot, chat)
    assert left == ANSWERS_LEFT
    next_is_answered(bot)


def next_is_answered(bot: LiveServer) -> None:
    answer = ask(bot.url, SHORT)
    assert answer.ends[0]["type"] == "done"
    assert "21 euros" in answer.text


def who_is_read_to_and_who_waits(bot: LiveServer, chat: SupervisedChat, question: str) -> None:
    since = chat.log.stat().st_size
    with visit(bot.url, question, "198.51.100.1") as reader:
        total = wait_for(reader, "progress")["total"]
        with visit(bot.url, SHORT, "198.51.100.2") as waiter:
            wait_for(waiter, "queued")
        wait_until(lambda: bot.chat._admission.admitted == 1)
    done = let_go(bot, chat, since)
    # The reader's page was not read to its end, and the waiter's question has never reached the model.
    read = [each.tokens for each in done if each.tokens is not None]
    assert len(read) == len(done)
    assert read == sorted(set(read))
    assert read[-1] < total


def who_is_answered(bot: LiveServer, chat: SupervisedChat) -> bool:
    """Whether the model was still at work when they left."""
    since = chat.log.stat().st_size
    with visit(bot.url, LONG) as events:
        wait_for(events, "chunk")
    *before, last = let_go(bot, chat, since)
    assert not any(each.cancelled for each in before)
    return last.cancelled
