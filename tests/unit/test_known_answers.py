"""The stores of finished answers: for a while in memory, for good in a file nobody has to trust."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from bot.adapters.known_answers import (
    FILE_NAME,
    RepeatAnswers,
    SuggestedAnswers,
    open_known_answers,
)
from bot.chat.known import known_key
from bot.chat.ports.known import KnownAnswer, KnownKey
from corpus.settings import KnownAnswerSettings
from tests.clock import Clock
from tests.fakes import SOURCES

pytestmark = pytest.mark.anyio


def key(question: str, identity: str = "one") -> KnownKey:
    made = known_key(identity, "en", question)
    assert made is not None
    return made


def answer(text: str = "With Stripe [1].") -> KnownAnswer:
    return KnownAnswer(sources=SOURCES, text=text)


async def test_a_repeat_is_answered_until_its_time_is_over() -> None:
    clock = Clock()
    store = RepeatAnswers(KnownAnswerSettings(ttl_minutes=60), clock=clock)
    await store.keep(key("What is RAG?"), answer())
    clock.now += 3599
    assert store.find(key("what is rag")) == answer()
    clock.now += 1
    assert store.find(key("what is rag")) is None
    assert len(store) == 0


async def test_being_asked_again_does_not_make_an_answer_younger() -> None:
    clock = Clock()
    store = RepeatAnswers(KnownAnswerSettings(ttl_minutes=1), clock=clock)
    await store.keep(key("a"), answer())
    for _ in range(3):
        clock.now += 19
        assert store.find(key("a")) is not None
    clock.now += 3
    assert store.find(key("a")) is None


async def test_of_too_many_the_least_recently_asked_goes() -> None:
    store = RepeatAnswers(KnownAnswerSettings(), most=2)
    await store.keep(key("a"), answer("a"))
    await store.keep(key("b"), answer("b"))
    assert store.find(key("a")) is not None
    await store.keep(key("c"), answer("c"))
    assert store.find(key("b")) is None
    assert store.find(key("a")) == answer("a")
    assert len(store) == 2


async def test_no_question_stands_in_the_memory_of_repeats() -> None:
    store = RepeatAnswers(KnownAnswerSettings())
    await store.keep(key("my secret is blue"), answer())
    assert "secret" not in repr(store._kept)
    other = RepeatAnswers(KnownAnswerSettings())
    await other.keep(key("my secret is blue"), answer())
    assert set(store._kept).isdisjoint(other._kept), "two processes hash alike"


@pytest.mark.parametrize("make", [
    lambda folder: RepeatAnswers(KnownAnswerSettings()),
    lambda folder: SuggestedAnswers(None),
    lambda folder: SuggestedAnswers(folder),
])  # fmt: skip
async def test_a_new_identity_forgets_the_others(make: object, tmp_path: Path) -> None:
    store: RepeatAnswers | SuggestedAnswers = make(tmp_path)  # type: ignore[operator]
    await store.keep(key("a", "one"), answer("old"))
    assert store.find(key("a", "two")) is None
    await store.keep(key("a", "two"), answer("new"))
    await store.retain("two")
    assert store.find(key("a", "one")) is None
    assert store.find(key("a", "two")) == answer("new")
    assert len(store) == 1


async def test_suggested_answers_outlive_the_process(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "when needed"
    store = SuggestedAnswers(folder)
    await store.keep(key("a"), answer("first"))
    await store.keep(key("b"), answer("second"))
    await store.keep(key("a"), answer("third"))
    again = SuggestedAnswers(folder)
    assert again.find(key("a")) == answer("third")
    assert again.find(key("b")) == answer("second")
    await again.retain("another")
    assert len(SuggestedAnswers(folder)) == 0
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


async def test_of_too_many_suggested_the_oldest_goes(tmp_path: Path) -> None:
    store = SuggestedAnswers(tmp_path, most=2)
    for text in ("a", "b", "a", "c"):
        await store.keep(key(text), answer(text))
    assert store.find(key("b")) is None
    assert len(SuggestedAnswers(tmp_path)) == 2


async def test_what_lasts_a_save_leaves_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the rename: the new content stands in another file."""
    store = SuggestedAnswers(tmp_path)
    await store.keep(key("a"), answer("old"))
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        store._write(tmp_path / FILE_NAME, b"half", 99)
    monkeypatch.undo()
    assert SuggestedAnswers(tmp_path).find(key("a")) == answer("old")


async def test_an_overtaken_save_does_not_undo_the_newer_one(tmp_path: Path) -> None:
    store = SuggestedAnswers(tmp_path)
    await store.keep(key("a"), answer())
    await store.keep(key("b"), answer())
    store._write(tmp_path / FILE_NAME, b"late", 1)
    assert len(SuggestedAnswers(tmp_path)) == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x00\xff" * 100,
        b'{"version": 2, "answers": []}',
        b'{"version": 1, "answers": [{"key": {}, "answer": {}}]}',
        b'{"version": 1, "answers": [], "more": 1}',
        b"[" * 5000,
    ],
)
async def test_a_damaged_file_is_ignored_told_once_and_made_anew(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        store = SuggestedAnswers(tmp_path)
        assert store.find(key("a")) is None
        await store.keep(key("a"), answer())
    assert len(caplog.records) == 1
    assert SuggestedAnswers(tmp_path).find(key("a")) == answer()


async def test_a_cut_file_is_ignored_at_every_length(tmp_path: Path) -> None:
    store = SuggestedAnswers(tmp_path)
    await store.keep(key("a"), answer())
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    assert msgspec.json.decode(whole)["version"] == 1
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert len(SuggestedAnswers(tmp_path)) == 0


async def test_a_folder_that_takes_no_file_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    store = SuggestedAnswers(tmp_path / "file")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        await store.keep(key("a"), answer())
        await store.keep(key("b"), answer())
    assert len(caplog.records) == 1
    assert store.find(key("a")) == answer()


def test_they_can_be_switched_off(tmp_path: Path) -> None:
    assert open_known_answers(KnownAnswerSettings(enabled=False, path=str(tmp_path))) is None
    opened = open_known_answers(KnownAnswerSettings(path=str(tmp_path)))
    assert opened is not None
    assert open_known_answers(KnownAnswerSettings()) is not None
