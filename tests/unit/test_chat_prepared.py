"""Suggested questions are answered once per index, offered when they have an answer, and then dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.known_answers import open_known_answers
from bot.chat.events import Sources
from bot.chat.ports.known import KnownAnswer
from bot.chat.prepared import Prepared
from corpus.reader import Index
from corpus.settings import KnownAnswerSettings, PersonaSettings, Settings
from tests.small_index import page, small_index, toward

pytestmark = pytest.mark.anyio
ANSWER = KnownAnswer(sources=Sources(documents=(), passages=()), text="Yes [1].")
OWN = Settings(persona=PersonaSettings(name="M", suggested_questions={"en": ("Why?", "How?")}))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = small_index(
        tmp_path / "a", page("projects/shop.md", "x", vector=toward(1), title="Shop")
    )
    yield opened
    opened.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Index]:
    opened = small_index(
        tmp_path / "b",
        page("projects/shop.md", "y", vector=toward(1), title="Shop"),
        page("projects/new.md", "z", vector=toward(1), title="New"),
        built_at="2026-12-01T00:00:00Z",
    )
    yield opened
    opened.close()


def prepared(settings: Settings = OWN) -> Prepared:
    return Prepared(settings, open_known_answers(KnownAnswerSettings()))


async def test_the_owners_questions_are_taken_one_after_the_other(index: Index) -> None:
    ready = prepared()
    assert ready.next(index) == ("Why?", "en")
    await ready.keep(index, "Why?", "en", ANSWER, suggested=True)
    assert ready.next(index) == ("How?", "en")
    ready.tried("How?", "en")  # it had no answer
    assert ready.find(index, "why", "en") == ANSWER
    assert ready.find(index, "why", "es") is None
    assert ready.shown(index, "en") == ("Why?", "How?")


async def test_questions_made_from_titles_are_offered_once_they_have_an_answer(
    index: Index,
) -> None:
    ready = prepared(Settings(persona=PersonaSettings(name="M")))
    assert ready.shown(index, "en") == ()
    found = ready.next(index)
    assert found is not None
    question, language = found
    assert "Shop" in question
    await ready.keep(index, question, language, ANSWER, suggested=True)
    assert ready.shown(index, language) == (question,)


async def test_another_index_is_asked_again(index: Index, other: Index) -> None:
    ready = prepared()
    await ready.follow(index)
    for question in ("Why?", "How?"):
        await ready.keep(index, question, "en", ANSWER, suggested=True)
        ready.tried(question, "en")
    while (rest := ready.next(index)) is not None:
        ready.tried(*rest)
    assert ready.find(other, "Why?", "en") is None
    await ready.follow(other)
    assert ready.next(other) == ("Why?", "en")


async def test_switched_off_nothing_is_kept_or_asked(index: Index) -> None:
    ready = Prepared(OWN, None)
    await ready.follow(index)
    await ready.keep(index, "Why?", "en", ANSWER, suggested=True)
    assert ready.next(index) is None
    assert ready.find(index, "Why?", "en") is None
    assert ready.shown(index, "en") == ("Why?", "How?")
