"""Which answers are kept, under what key, and how they are given again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.chat import prompt
from bot.chat.events import Chunk, Done, Event, Failed, Progress, Sources, Start, Timings, Usage
from bot.chat.known import Recording, identity_of, known_key, normalised, replay
from bot.chat.ports.known import KnownAnswer
from bot.chat.turn import Turn
from corpus.reader import Index
from corpus.settings import PersonaSettings, Settings
from tests.fakes import DONE, SOURCES
from tests.small_index import page, small_index, toward

ANSWER = KnownAnswer(sources=SOURCES, text="With Stripe [1].")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("¿Con qué se paga?", "con que se paga"),
        ("  What\tis   RAG ?? ", "WHAT IS RAG"),
        ("What is «RAG»?", 'what is "rag"?'),
        ("Is it open\u200b source?", "is it open source"),
        ("Hello, what is RAG - exactly?", "hello what is rag exactly"),
    ],
)
def test_spellings_of_one_question_are_one_key(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert known_key("i", "en", one) == known_key("i", "en", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do you write C++?", "Do you write C#?"),
        ("Do you write C++?", "Do you write C?"),
        ("Do you know .NET?", "Do you know net?"),
        ("Is it 100 $?", "Is it 100 €?"),
        ("Is it -5 or more?", "Is it 5 or more?"),
        ("Version 1.5", "Version 15"),
        ("not only this", "only not this"),
    ],
)
def test_questions_that_differ_in_meaning_are_two(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing(question: str) -> None:
    assert normalised(normalised(question)) == normalised(question)


def test_nothing_is_no_question() -> None:
    assert known_key("i", "en", " ¿…? ") is None


def test_languages_and_identities_are_apart() -> None:
    keys = {known_key(identity, language, "RAG") for identity in "ij" for language in ("en", "es")}
    assert len(keys) == 4


def recorded(*events: Event) -> list[KnownAnswer | None]:
    recording = Recording()
    return [recording.take(event) for event in events]


def test_a_whole_answer_is_kept_at_its_end_with_the_last_sources() -> None:
    later = replace(SOURCES, documents=("other.md",))
    taken = recorded(
        Start(conversation_id="c"),
        SOURCES,
        Progress(processed=1, total=2),
        Chunk(content="With "),
        Chunk(content="Stripe [1]."),
        later,
        DONE,
    )
    assert taken == [None] * 6 + [KnownAnswer(sources=later, text="With Stripe [1].")]


@pytest.mark.parametrize(
    "events",
    [
        (SOURCES, Chunk(content="It bro"), Failed(code="x", message="m", retryable=True)),
        (SOURCES, Chunk(content="Cut"), replace(DONE, finish_reason="length")),
        (SOURCES, Chunk(content="No"), replace(DONE, route="refusal", finish_reason="fixed")),
        (SOURCES, Chunk(content="Quotes"), replace(DONE, route="passages", finish_reason="fixed")),
        (SOURCES, Chunk(content="Again"), replace(DONE, route="known")),
        (SOURCES, Chunk(content=" \n"), DONE),
        (Chunk(content="Without sources"), DONE),
        (Sources(documents=(), passages=()), Chunk(content="Without passages"), DONE),
        (SOURCES, Chunk(content="Without an end")),
    ],
)
def test_nothing_else_is_kept(events: tuple[Event, ...]) -> None:
    assert recorded(*events) == [None] * len(events)


def test_it_is_given_again_word_for_word_as_known_and_costs_nothing() -> None:
    sources, chunk, done = replay(ANSWER, Turn("en"))
    assert sources == SOURCES
    assert chunk == Chunk(content="With Stripe [1].")
    assert isinstance(done, Done)
    assert (done.route, done.finish_reason, done.usage) == ("known", "stop", Usage())
    assert replace(done.timings, first_token_ms=0.0, total_ms=0.0) == Timings()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = small_index(
        tmp_path_factory.mktemp("known"), page("posts/a.md", "a", vector=toward(1))
    )
    yield opened
    opened.close()


def test_the_identity_is_that_of_the_content_not_of_the_build(index: Index, tmp_path: Path) -> None:
    settings = Settings()
    first = identity_of(index, settings)
    assert first == identity_of(index, Settings())
    index.meta, before = replace(index.meta, built_at="2027-01-01T00:00:00Z"), index.meta
    assert identity_of(index, settings) == first
    index.meta = replace(index.meta, source_hash="1" * 64)
    assert identity_of(index, settings) != first
    index.meta = before


def test_model_prompt_and_search_are_part_of_the_identity(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings()
    provider = settings.provider
    others = [
        settings,
        replace(settings, providers=(replace(provider, model="other"),)),
        replace(settings, providers=(replace(provider, temperature=0.5),)),
        replace(settings, persona=PersonaSettings(name="Other")),
        replace(settings, persona=PersonaSettings(system_prompt_es="Eres un loro.")),
        replace(settings, rag=replace(settings.rag, top_k=3)),
    ]
    found = [identity_of(index, one) for one in others]
    monkeypatch.setattr(prompt, "RULES", "Say what you like.")
    found.append(identity_of(index, settings))
    assert len(set(found)) == len(found)


def test_another_list_of_suggestions_changes_no_answer(index: Index) -> None:
    persona = PersonaSettings(suggested_questions={"en": ("What is RAG?",)})
    assert identity_of(index, Settings(persona=persona)) == identity_of(index, Settings())


def test_another_server_of_the_same_model_changes_no_answer(index: Index) -> None:
    provider = replace(Settings().provider, more_endpoints=("http://127.0.0.1:7334",))
    settings = Settings(providers=(provider,))
    assert identity_of(index, settings) == identity_of(index, Settings())
