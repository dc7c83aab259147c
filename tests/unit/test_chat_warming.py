"""Pages are evaluated while nobody waits: the likeliest first, and a visitor always goes before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from bot.adapters.known_answers import open_known_answers
from bot.chat.admission import Admission, Ticket
from bot.chat.errors import ModelUnavailable
from bot.chat.ports.index import IndexState
from bot.chat.ports.known import KnownStores
from bot.chat.prepared import Prepared
from bot.chat.warming import Warmer, prefix_of
from corpus.model import Language
from corpus.reader import Index
from corpus.settings import KnownAnswerSettings, PersonaSettings, Settings
from tests.fake_states import FakeStates
from tests.fakes import FakeIndex
from tests.patience import until
from tests.small_index import Page, Part, page, small_index, toward

pytestmark = pytest.mark.anyio
SETTINGS = Settings(persona=PersonaSettings(name="Marea"))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = small_index(
        tmp_path,
        page("posts/small.md", "few words", vector=toward(1)),
        Page("projects/large.md", (Part("many words " * 40, toward(1)),
                                   Part("and more " * 40, toward(1), page=1))),
        page("posts/all.md", "everything " * 200, vector=toward(1), generated=True),
    )  # fmt: skip
    yield opened
    opened.close()


class Stage:
    """A warmer at work, beside the line of visitors."""

    def __init__(
        self,
        index: Index,
        settings: Settings = SETTINGS,
        known: KnownStores | None = None,
        servers: int = 1,
    ) -> None:
        self.answered: list[tuple[str, Language]] = []
        self.index = index
        self.source = FakeIndex(index)
        self.every_states = [FakeStates() for _ in range(servers)]
        self.states = self.every_states[0]
        self.admission = Admission(4, servers)
        self.warmer = Warmer(
            settings, self.every_states, self.source, self.admission,
            Prepared(settings, known), self.answer, idle_seconds=0, look_seconds=0.01, retry_seconds=0.01,
        )  # fmt: skip

    async def answer(
        self, state: IndexState, question: str, language: Language, ticket: Ticket
    ) -> None:
        self.answered.append((question, language))

    async def visitor(self) -> Ticket:
        """Somebody whose turn it is."""
        ticket = self.admission.admit()
        async for _ in ticket.wait_turn():
            pass
        return ticket

    def names(self, texts: list[str]) -> list[str]:
        """Document and page of each prefix."""
        known = {
            prefix_of(SETTINGS.persona, page, "en").text: f"{page.document.slug}{page.ordinal}"
            for page in self.index.pages
        }
        return [known[text] for text in texts]

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.warmer.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def until(self, count: int) -> None:
        await until(lambda: len(self.states.saved) >= count)


async def test_every_page_becomes_warm_large_documents_first_and_summaries_last(
    index: Index,
) -> None:
    stage = Stage(index)
    async with stage.at_work():
        await stage.until(4)
    assert stage.names(stage.states.saved) == ["large0", "large1", "small0", "all0"]
    assert (stage.warmer.warmth().warm, stage.warmer.warmth().pages) == (4, 4)


async def test_what_was_asked_before_goes_first(index: Index) -> None:
    stage = Stage(index)
    (small,) = (page for page in index.pages if page.document.slug == "small")
    stage.warmer.asked(small)
    async with stage.at_work():
        await stage.until(1)
    assert stage.names(stage.states.saved[:1]) == ["small0"]


async def test_a_visitor_stops_it_at_once_and_it_goes_on_afterwards(index: Index) -> None:
    stage = Stage(index)
    stage.states.hold = asyncio.Event()
    async with stage.at_work():
        await until(lambda: stage.states.began)
        ticket = await stage.visitor()
        assert stage.states.saved == []  # the evaluation was dropped, not waited for
        stage.states.hold.set()
        await asyncio.sleep(0.02)
        assert len(stage.states.began) == 1  # nothing is warmed beside an answer
        ticket.release()
        await stage.until(4)


async def test_a_page_that_can_not_be_saved_is_not_tried_for_ever(index: Index) -> None:
    stage = Stage(index)
    first = prefix_of(SETTINGS.persona, index.pages[1], "en").text
    stage.states.refused.add(first)
    async with stage.at_work():
        await stage.until(3)
        await asyncio.sleep(0.05)
    assert stage.states.began.count(first) == 1
    assert stage.warmer.warmth().warm == 3


async def test_a_model_that_is_down_is_tried_again_later(index: Index) -> None:
    stage = Stage(index)
    stage.states.problem = ModelUnavailable("down")
    async with stage.at_work():
        await stage.until(4)
    assert len(stage.states.began) == 5


async def test_a_re_index_keeps_the_states_of_pages_that_stayed(
    index: Index, tmp_path: Path
) -> None:
    stage = Stage(index)
    async with stage.at_work():
        await stage.until(4)
        changed = small_index(
            tmp_path / "second",
            page("posts/small.md", "few words", vector=toward(1)),
            page("posts/new.md", "new words", vector=toward(1)),
            built_at="2026-12-01T00:00:00Z",
        )
        began = len(stage.states.began)
        stage.source.current = FakeIndex(changed).current
        await until(lambda: len(stage.states.began) > began and len(stage.states.saved) >= 2)
    assert len(stage.states.kept[-1]) == 2
    assert len(stage.states.began) == began + 1  # only the new page was evaluated
    changed.close()


async def test_an_owner_with_words_of_their_own_in_each_language_has_two_prefixes(
    index: Index,
) -> None:
    persona = PersonaSettings(name="Marea", system_prompt="Be Faro.", system_prompt_es="Sé Faro.")
    stage = Stage(index, Settings(persona=persona))
    assert stage.warmer.warmth().pages == 8


async def test_hurry_is_over_when_all_is_warm(index: Index) -> None:
    stage = Stage(index)
    stage.warmer.hurry()
    assert stage.warmer.warmth().working
    async with stage.at_work():
        await until(lambda: not stage.warmer.warmth().working)
        assert stage.warmer.warmth().warm == 4
        assert stage.warmer.warmth().eta_seconds == 0


async def test_without_states_there_is_nothing_to_warm(index: Index) -> None:
    stage = Stage(index)
    stage.states.enabled = stage.states.connected = False
    stage.warmer.hurry()
    async with stage.at_work():
        await until(lambda: not stage.warmer._hurry.is_set())
    assert not stage.warmer.warmth().enabled
    assert stage.states.began == []


async def test_suggested_questions_are_answered_once_before_the_pages(index: Index) -> None:
    stage = Stage(index, known=open_known_answers(KnownAnswerSettings()))
    async with stage.at_work():
        await stage.until(4)
    questions = [question for question, _ in stage.answered]
    assert questions[0] == "What is large about?" or len(questions) >= 2
    assert len(set(stage.answered)) == len(stage.answered)
    assert {language for _, language in stage.answered} == {"en", "es"}


async def test_one_server_is_warmed_and_the_other_left_alone(index: Index) -> None:
    stage = Stage(index, servers=2)
    async with stage.at_work():
        await stage.until(4)
    assert stage.every_states[1].began == []
    assert stage.warmer.warmth().warm == 4


@pytest.mark.parametrize("failure", ["not there", "breaks off"])
async def test_where_one_server_fails_the_next_is_warmed_at_once(
    index: Index, failure: str
) -> None:
    stage = Stage(index, servers=2)
    stage.warmer._retry_seconds = 1000.0
    first, second = stage.every_states
    if failure == "not there":
        first.connected = False
    else:
        first.problem = ModelUnavailable("down")
    async with stage.at_work():
        await until(lambda: len(second.saved) == 4)
    assert first.saved == []


async def test_with_every_server_down_it_rests(index: Index) -> None:
    stage = Stage(index, servers=2)
    stage.warmer._retry_seconds = 1000.0
    for states in stage.every_states:
        states.connected = False
    stage.warmer.hurry()
    async with stage.at_work():
        await until(lambda: not stage.warmer.warmth().working)
    assert [states.began for states in stage.every_states] == [[], []]


async def test_a_visitor_is_answered_beside_the_warming(index: Index) -> None:
    stage = Stage(index, servers=2)
    stage.states.hold = asyncio.Event()
    async with stage.at_work():
        await until(lambda: stage.states.began)
        ticket = await stage.visitor()
        assert ticket.server == 1
        stage.states.hold.set()
        await stage.until(1)  # the page was finished though somebody is being answered
        assert len(stage.states.began) == 1
        ticket.release()
        await stage.until(4)
