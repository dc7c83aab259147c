"""Votes: who may vote on what, one vote an answer, and nothing of a question unless it is asked for."""

from __future__ import annotations

import gc
import json
import logging
import stat
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from bot.adapters.feedback import LocalAnswers
from bot.adapters.feedback_file import VoteFile
from bot.chat.events import Chunk, Done, Event, Failed, Route, Start
from bot.chat.feedback import REMEMBERED_QUESTIONS, Feedback, Outcome, question_hash
from bot.chat.ports.feedback import RatedAnswer, Vote, VotedAnswer
from corpus.settings import FeedbackSettings
from tests.clock import Clock
from tests.fakes import DONE, SOURCES

pytestmark = pytest.mark.anyio

QUESTION = "¿Con qué se paga? canary-7f3a"
UP = Vote(rating="up")
WRONG = Vote(rating="down", reason="wrong")
RATED = RatedAnswer(question_hash="h", route="answer")


def answers(clock: Clock | None = None, *, ttl: int = 60, most: int = 100) -> LocalAnswers:
    settings = FeedbackSettings(ttl_seconds=ttl)
    return LocalAnswers(settings, max_answers=most, clock=clock or Clock())


def feedback(store: LocalAnswers, journal: VoteFile | None = None) -> Feedback:
    kept = FeedbackSettings(store="questions", path="x") if journal else FeedbackSettings()
    return Feedback(kept, store, journal)


async def events(*given: Event) -> AsyncGenerator[Event, None]:
    for event in given:
        yield event


async def signed(votes: Feedback, *given: Event, question: str = QUESTION) -> list[Event]:
    return [event async for event in votes.sign(question, events(*given))]


async def minted(votes: Feedback, question: str = QUESTION) -> str:
    last = (await signed(votes, SOURCES, DONE, question=question))[-1]
    assert isinstance(last, Done)
    assert isinstance(last.answer_id, str)
    return last.answer_id


def texts_in(root: object) -> set[str]:
    """Every text and every bytes that can be reached from an object of ours."""
    found, todo, seen = set(), [root], set()
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, type) or callable(item):
            continue
        seen.add(id(item))
        if isinstance(item, str | bytes):
            found.add(item if isinstance(item, str) else item.decode("latin-1"))
        # Structs of msgspec and plain classes alike.
        todo.extend(getattr(item, name, None) for name in getattr(item, "__struct_fields__", ()))
        todo.extend(gc.get_referents(item))
    return found


# ---- ids ---------------------------------------------------------------------------------------


async def test_only_the_last_event_changes_and_ids_never_repeat() -> None:
    votes = feedback(answers())
    given = (Start(conversation_id="c"), SOURCES, Chunk(content="a"), DONE)
    *before, last = await signed(votes, *given)
    assert before == list(given[:-1])
    assert isinstance(last, Done)
    assert replace(last, answer_id=UNSET) == DONE
    ids = {await minted(votes) for _ in range(50)}
    assert len(ids) == 50
    assert {len(each) for each in ids} == {32}


@pytest.mark.parametrize(
    ("route", "rated"),
    [
        *((route, True) for route in ("answer", "known", "passages", "catalogue", "refusal")),
        *((route, False) for route in ("greeting", "thanks", "goodbye", "identity")),
    ],
)
async def test_what_may_be_voted_on(route: Route, rated: bool) -> None:
    (last,) = await signed(feedback(answers()), replace(DONE, route=route))
    assert isinstance(last, Done)
    assert (last.answer_id is not UNSET) == rated


async def test_a_failed_answer_gets_no_id() -> None:
    store = answers()
    failed = Failed(code="model-error", message="x", retryable=True)
    assert await signed(feedback(store), SOURCES, failed) == [SOURCES, failed]
    assert len(store) == 0


async def test_leaving_closes_the_answer_itself() -> None:
    """The model must be free within a second of a visitor's leaving."""
    closed = []

    async def answer() -> AsyncGenerator[Event, None]:
        try:
            yield SOURCES
            yield DONE
        finally:
            closed.append(True)

    stream = feedback(answers()).sign(QUESTION, answer())
    await anext(stream)
    await stream.aclose()
    assert closed == [True]


# ---- votes -------------------------------------------------------------------------------------


async def test_one_vote_an_answer_and_the_later_one_counts() -> None:
    votes = feedback(answers())
    answer_id = await minted(votes)
    assert await votes.take(answer_id, UP) == Outcome(replaced=None, new_question=True)
    assert await votes.take(answer_id, WRONG) == Outcome(replaced=UP, new_question=True)
    assert await votes.take(answer_id, WRONG) == Outcome(replaced=WRONG, new_question=False)


@pytest.mark.parametrize("foreign", ["", "A" * 32, "../x", "\x00", "ñ" * 40])
async def test_an_id_nobody_minted_is_unknown(foreign: str) -> None:
    votes = feedback(answers())
    await minted(votes)
    assert await votes.take(foreign, UP) is None


async def test_votes_on_one_question_are_told_from_votes_on_two() -> None:
    votes = feedback(answers())
    asked = ("¿Con qué se paga?", "con que se PAGA", "¿Qué es Trama?")
    outcomes = [await votes.take(await minted(votes, each), WRONG) for each in asked]
    assert [outcome and outcome.new_question for outcome in outcomes] == [True, False, True]


async def test_remembered_questions_are_bounded() -> None:
    votes = feedback(answers())
    for number in range(REMEMBERED_QUESTIONS + 5):
        await votes.take(await minted(votes, f"question {number}"), UP)
    assert len(votes._voted) == REMEMBERED_QUESTIONS


# ---- the store ---------------------------------------------------------------------------------


async def test_an_answer_is_forgotten_after_its_time() -> None:
    """P4: and a vote does not prolong it."""
    clock = Clock()
    store = answers(clock, ttl=60)
    await store.remember("a", RATED)
    clock.now += 59
    assert await store.vote("a", UP) == VotedAnswer(answer=RATED, replaced=None)
    clock.now += 1
    assert await store.vote("a", UP) is None
    assert len(store) == 0


async def test_the_oldest_answer_goes_first() -> None:
    """A15."""
    store = answers(most=3)
    for name in "abcd":
        await store.remember(name, RATED)
    assert len(store) == 3
    assert await store.vote("a", UP) is None
    assert await store.vote("d", UP) is not None


async def test_the_salt_is_random_and_another_one_each_day() -> None:
    clock = Clock()
    store = answers(clock)
    first = await store.salt()
    assert len(first) == 32
    assert await store.salt() == first
    assert await answers().salt() != first
    clock.now += 24 * 3600
    assert await store.salt() != first


def test_a_hash_tells_nothing_without_the_salt() -> None:
    assert question_hash("¿Qué es Trama?", b"a" * 32) != question_hash("¿Qué es Trama?", b"b" * 32)
    assert len(question_hash("x" * 5000, b"a" * 32)) == 32


async def test_counting_keeps_nothing_of_a_question() -> None:
    """P1: neither the store nor the service holds a word of it, nor which pages it was about."""
    store = answers()
    votes = feedback(store)
    await votes.take(await minted(votes), replace(WRONG, comment="canary-7f3a"))
    found = texts_in(store) | texts_in(votes)
    assert question_hash(QUESTION, await store.salt()) in found, "the search finds nothing at all"
    assert not [text for text in found if "canary" in text or "paga" in text or ".md" in text]


# ---- the file ----------------------------------------------------------------------------------


def lines_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "feedback.jsonl").read_text("utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text[:-1].split("\n")]


def vote_file(folder: Path, most: int = 10_000) -> VoteFile:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return VoteFile(folder, max_file_bytes=most, now=lambda: now)


async def test_an_owner_who_asks_for_it_gets_question_vote_and_documents(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    votes = feedback(answers(), vote_file(folder))
    answer_id = await minted(votes, "two\nlines\u2028“q”")
    await votes.take(answer_id, UP)
    await votes.take(answer_id, replace(WRONG, comment="It is Bizum."))
    first, second = lines_of(folder)
    assert first == {
        "time": "2026-01-02T03:04:05+00:00", "answer": first["answer"],
        "question": "two\nlines\u2028“q”", "route": "answer",
        "documents": ["clothes-shop.md"], "rating": "up",
    }  # fmt: skip
    assert second == {
        **first,
        "rating": "down",
        "reason": "wrong",
        "comment": "It is Bizum.",
    }
    assert answer_id not in (folder / "feedback.jsonl").read_text()
    assert stat.S_IMODE((folder / "feedback.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_the_file_has_an_end_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    journal = vote_file(tmp_path, most=400)
    for _ in range(10):
        await journal.write("a", replace(RATED, question=QUESTION), UP)
    assert 0 < len(lines_of(tmp_path)) < 4
    assert (tmp_path / "feedback.jsonl").stat().st_size <= 400
    (record,) = caplog.records
    assert "feedback.max_file_bytes (400)" in record.getMessage()
    assert "canary" not in caplog.text


async def test_a_folder_that_can_t_be_written_is_said_and_nobody_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    journal = vote_file(tmp_path / "file" / "below")
    await journal.write("a", RATED, UP)
    assert "Not a directory" in caplog.text
    # Back in order, and broken again: said again.
    (tmp_path / "file").unlink()
    await journal.write("a", RATED, UP)
    assert len(lines_of(tmp_path / "file" / "below")) == 1
