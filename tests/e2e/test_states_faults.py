"""A chat server that dies, a volume that is full and states that are damaged: the visitor is answered.

Through the whole bot over HTTP, with a real llama-server that is started again when it ends.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from bot.adapters.states import store
from bot.adapters.states.files import NOTE, STATE, digest, read_note
from bot.app import create_app
from corpus.settings import Settings
from tests.chat_process import HEAR_NO_LIMIT, SupervisedChat, evaluations
from tests.disk_faults import at_opening, filled
from tests.live_server import LiveServer, serve_in_thread
from tests.patience import wait_until
from tests.visits import Answer, ask, visit, wait_for

pytestmark = pytest.mark.models
MEGABYTE = 1 << 20
"""Less than the state of any page here."""
TRIES = 5
"""To hit a moment that lasts milliseconds; one is usual."""
OTHER_ROPE_BASE = ("--rope-freq-base", "900000")
NO_BOUND = 1 << 60


class Fact(Struct, frozen=True, kw_only=True):
    """A question, and what a right answer to it holds."""

    question: str
    document: str
    word: str


BOATS = Fact(question="What does the blue boat cost?", document="boats.md", word="21 euros")
BAKERY = Fact(question="What does the rye bread cost?", document="bakery.md", word="6 euros")
LONG_QUESTION = "What do the red boat, the blue boat and the green boat cost?"


@pytest.fixture
def states(states_volume: tuple[Path, bool]) -> Iterator[Path]:
    """The folder of the states, empty; whole when the test is over, whatever happened."""
    folder, _ = states_volume
    for path in folder.iterdir():
        path.unlink()
    yield folder
    for path in folder.glob(f"p-*{STATE}"):
        note = read_note(path.with_suffix(NOTE))
        assert note is not None, path
        assert (path.stat().st_size, digest(path)) == (note.bytes, note.digest)


@pytest.fixture
def bot(small_site: Settings, states: Path, chat: SupervisedChat) -> Iterator[LiveServer]:
    """A bot that knows nothing of the tests before; its first look at the server empties the slot."""
    chat.wait_ready()
    with running(small_site) as live:
        yield live
    no_drafts(states)


@contextmanager
def running(settings: Settings) -> Iterator[LiveServer]:
    with serve_in_thread(create_app(settings), trusted_proxies=("127.0.0.1",)) as live:
        yield live


def no_drafts(states: Path) -> None:
    """Nothing half written is left."""
    wait_until(lambda: not list(states.glob("t-*")))


def answered_right(answer: Answer, fact: Fact) -> None:
    """By the model, from the right page, with the right fact."""
    (end,) = answer.ends
    assert (end["type"], end.get("route")) == ("done", "answer"), answer.events
    assert fact.document in answer.documents
    assert fact.word in answer.text


def ended_well(answer: Answer) -> None:
    """With `done`, or with one error that asks to try again."""
    (end,) = answer.ends
    assert end is answer.events[-1]
    assert end["type"] == "done" or end["retryable"], end


def evaluated(answer: Answer) -> int:
    """Tokens that the server had to read for this answer, its warming included."""
    tokens: int = answer.ends[0]["timings"]["evaluated_tokens"]
    return tokens


def saved(states: Path) -> dict[str, int]:
    """Names of the pages' states and their tokens, the newest last."""
    paths = sorted(states.glob(f"p-*{STATE}"), key=lambda path: path.stat().st_mtime_ns)
    notes = [read_note(path.with_suffix(NOTE)) for path in paths]
    return {note.name: note.tokens for note in notes if note is not None}


def both_saved(bot: LiveServer, states: Path) -> dict[str, int]:
    """Ask both pages for the first time; the slot holds the bakery's."""
    for fact in (BOATS, BAKERY):
        answered_right(ask(bot.url, fact.question), fact)
    found = saved(states)
    assert len(found) == 2
    return found


def test_killed_while_it_saves_a_state(bot: LiveServer, states: Path, chat: SupervisedChat) -> None:
    """By the kernel, after the first megabyte of the file: half of a state is left under a draft's name."""
    starts = chat.starts
    chat.limit_files(MEGABYTE)
    ended_well(ask(bot.url, BOATS.question))
    chat.wait_ready(starts)
    assert saved(states) == {}
    answer = ask(bot.url, BOATS.question)
    answered_right(answer, BOATS)
    (tokens,) = saved(states).values()
    assert evaluated(answer) > tokens


def test_killed_while_it_restores_a_state(
    bot: LiveServer, states: Path, chat: SupervisedChat, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = both_saved(bot, states)
    for _ in range(TRIES):
        starts = chat.starts
        with at_opening(states, f"p-*{STATE}", chat.kill):
            ended_well(ask(bot.url, BOATS.question))
        chat.wait_ready(starts)
        if "broke off with a prompt state" in caplog.text:
            break
    assert "broke off with a prompt state" in caplog.text
    assert len(saved(states)) == 1  # it may have died of that very file
    answer = ask(bot.url, BOATS.question)
    answered_right(answer, BOATS)
    assert evaluated(answer) > tokens[max(tokens, key=lambda name: name not in saved(states))] / 2
    assert saved(states) == tokens
    answer = ask(bot.url, BAKERY.question)
    answered_right(answer, BAKERY)
    assert evaluated(answer) < min(tokens.values())


def test_killed_in_the_middle_of_an_answer_while_another_visitor_waits(
    bot: LiveServer, chat: SupervisedChat
) -> None:
    for _ in range(TRIES):
        starts = chat.starts
        with (
            visit(bot.url, LONG_QUESTION) as first,
            visit(bot.url, BOATS.question, "198.51.100.2") as second,
        ):
            seen = [wait_for(first, "chunk")]
            chat.kill()
            seen += list(first)
            others = list(second)
        ended_well(Answer(seen))
        ended_well(Answer(others))
        chat.wait_ready(starts)
        answered_right(ask(bot.url, BAKERY.question), BAKERY)
        if seen[-1]["type"] == "error":
            break
    assert (seen[-1]["type"], seen[-1]["code"]) == ("error", "model-interrupted")


def test_a_volume_without_room_is_one_line_and_plain_evaluation(
    bot: LiveServer,
    states: Path,
    states_volume: tuple[Path, bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The bot looks before it saves, and leaves the rest of the disk to everybody else."""
    if states_volume[1]:
        with filled(states, MEGABYTE):
            goes_on_without_states(bot, states, caplog)
    else:
        monkeypatch.setattr(store, "FREE_BYTES", NO_BOUND)
        goes_on_without_states(bot, states, caplog)
    assert "no room on the disk" in caplog.text


def test_a_volume_that_fills_while_it_is_written_to(
    bot: LiveServer,
    states: Path,
    states_volume: tuple[Path, bool],
    chat: SupervisedChat,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The bot saw room enough, the server finds none: its write fails after a part of the state."""
    monkeypatch.setattr(store, "FREE_BYTES", -NO_BOUND)
    if states_volume[1]:
        with filled(states, MEGABYTE):
            goes_on_without_states(bot, states, caplog)
    else:
        chat.restart(before=HEAR_NO_LIMIT)
        chat.limit_files(MEGABYTE)
        goes_on_without_states(bot, states, caplog)
        chat.restart()
    assert "can't write to its --slot-save-path" in caplog.text


def goes_on_without_states(bot: LiveServer, states: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bot.states"):
        for fact in (BOATS, BAKERY):
            answered_right(ask(bot.url, fact.question), fact)
    assert [record.name for record in caplog.records] == ["bot.states"]
    assert saved(states) == {}
    no_drafts(states)


@pytest.mark.parametrize("damage", ["cut short, and garbage", "swapped"])
def test_damaged_states_do_not_reach_the_server(
    bot: LiveServer, states: Path, chat: SupervisedChat, small_site: Settings, damage: str
) -> None:
    """A cut one would kill it; a whole one under another name would be taken for the page it is not."""
    tokens = both_saved(bot, states)
    starts = chat.starts
    one, two = (states / (name + STATE) for name in tokens)
    if damage == "swapped":
        content = one.read_bytes()
        one.write_bytes(two.read_bytes())
        two.write_bytes(content)
    else:
        one.write_bytes(one.read_bytes()[: one.stat().st_size // 2])
        two.write_bytes(b"\0" * two.stat().st_size)
    with running(small_site) as later:
        for fact, page_tokens in zip((BOATS, BAKERY), tokens.values(), strict=True):
            answer = ask(later.url, fact.question)
            answered_right(answer, fact)
            assert evaluated(answer) > page_tokens
    assert saved(states) == tokens
    assert chat.starts == starts


def test_the_state_of_a_server_with_another_rope_base_is_not_used(
    bot: LiveServer, states: Path, chat: SupervisedChat, small_site: Settings
) -> None:
    """It has the same size and shape, and the server would take it without a word."""
    answered_right(ask(bot.url, BOATS.question), BOATS)
    ((name, tokens),) = saved(states).items()
    mine = states / (name + STATE)
    chat.restart(*OTHER_ROPE_BASE)
    ended_well(ask(bot.url, BOATS.question))
    (other,) = (states / (each + STATE) for each in saved(states) if each != name)
    assert other.stat().st_size == mine.stat().st_size
    assert other.read_bytes() != mine.read_bytes()
    mine.write_bytes(other.read_bytes())
    chat.restart()
    answer = ask(bot.url, BOATS.question)
    answered_right(answer, BOATS)
    assert evaluated(answer) > tokens
    # Also not where its note comes with it, and a bot that is just started reads both.
    mine.write_bytes(other.read_bytes())
    note = read_note(other.with_suffix(NOTE))
    assert note is not None
    mine.with_suffix(NOTE).write_bytes(msgspec.json.encode(replace(note, name=name)))
    with running(small_site) as later:
        answer = ask(later.url, BOATS.question)
    answered_right(answer, BOATS)
    assert evaluated(answer) > tokens
    assert not any(each.cancelled for each in evaluations(chat.log))
