"""Several chat servers: visitors side by side, one that is down, and who goes on where."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from bot.chat.errors import ModelInterrupted, ModelUnavailable
from bot.chat.events import Chunk, Done, Event, Failed, Queued
from bot.chat.ports import ChatServer
from bot.chat.ports.model import Finished, PromptProgress, TextDelta
from bot.chat.service import Ask, ChatService
from corpus.reader import Index
from corpus.settings import PersonaSettings, RagSettings, Settings
from tests.fake_states import FakeStates
from tests.fakes import FakeEmbedder, FakeIndex, FakeModel, Gate, fake_ports
from tests.patience import until
from tests.small_index import page, small_index, toward

pytestmark = pytest.mark.anyio
QUESTION = "How do customers pay in the shop?"
ANSWER = TextDelta(text="Customers pay with Stripe [1].")
FINISHED = Finished(finish_reason="stop", input_tokens=100, output_tokens=3)
DOWN = ModelUnavailable("down")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = small_index(
        tmp_path_factory.mktemp("servers"),
        page("projects/shop.md", "In the shop customers pay with Stripe.", vector=toward(1), kind="project",
             title="Shop"),
        *(page(f"posts/{n}.md", f"filler {n}", vector=toward(0, 1)) for n in range(10)),
    )  # fmt: skip
    yield opened
    opened.close()


class Stage:
    """A service before two chat servers."""

    def __init__(self, index: Index) -> None:
        self.models = FakeModel(), FakeModel()
        self.states = FakeStates(), FakeStates()
        self.embedder = FakeEmbedder(8)
        first, second = map(self._server, self.models, self.states)
        ports = replace(
            fake_ports(embedder=self.embedder, index=FakeIndex(index)),
            model=first.model,
            states=first.states,
            more_servers=(second,),
        )
        settings = Settings(
            persona=PersonaSettings(name="Marea"), rag=RagSettings(default_language="en")
        )
        self.service = ChatService(settings, ports)

    def _server(self, model: FakeModel, states: FakeStates) -> ChatServer:
        states.enabled = False
        return ChatServer(model=model, states=states)

    async def ask(self, into: list[Event] | None = None, **fields: Any) -> list[Event]:
        events = [] if into is None else into
        self.embedder.queue.append(toward(1, 0.05))
        ask = Ask(question=QUESTION, **fields)
        async for event in self.service.answer(ask, self.service.admit()):
            events.append(event)
        return events

    @property
    def asked(self) -> tuple[int, int]:
        """Questions each server got."""
        return len(self.models[0].prompts), len(self.models[1].prompts)

    @property
    def running(self) -> tuple[int, int]:
        return self.models[0].running, self.models[1].running


@pytest.fixture
async def stage(index: Index) -> AsyncIterator[Stage]:
    made = Stage(index)
    yield made
    assert made.service._admission.admitted == 0, "a place was not given back"
    assert made.running == (0, 0), "a model still generates"


def route(events: list[Event]) -> str:
    assert isinstance(events[-1], Done)
    return events[-1].route


async def test_two_are_answered_at_once_and_the_third_waits(stage: Stage) -> None:
    gates = Gate(), Gate()
    for model, gate in zip(stage.models, gates, strict=True):
        model.enqueue(gate, ANSWER, FINISHED)
        model.enqueue(ANSWER, FINISHED)
    said: list[list[Event]] = [[], [], []]
    asking = [asyncio.create_task(stage.ask(events)) for events in said[:2]]
    await until(lambda: stage.running == (1, 1))
    asking.append(asyncio.create_task(stage.ask(said[2])))
    await until(lambda: any(isinstance(event, Queued) for event in said[2]))
    assert stage.asked == (1, 1)
    gates[1].open()
    await asking[2]
    assert stage.asked == (1, 2), "the third took the server that was free"
    gates[0].open()
    await asyncio.gather(*asking)
    assert [route(events) for events in said] == ["answer"] * 3
    assert not any(isinstance(event, Queued) for event in said[0] + said[1])


async def test_a_server_that_is_down_costs_nobody_an_answer_and_is_asked_once(
    stage: Stage,
) -> None:
    stage.models[0].enqueue(PromptProgress(processed=1, total=9), DOWN)
    for _ in range(3):
        stage.models[1].enqueue(ANSWER, FINISHED)
        assert route(await stage.ask()) == "answer"
    assert stage.asked == (1, 3)


async def test_a_server_that_dies_mid_queue_sends_its_visitor_to_the_front(stage: Stage) -> None:
    dies, goes_on = Gate(), Gate()
    stage.models[0].enqueue(dies, DOWN)
    stage.models[1].enqueue(goes_on, ANSWER, FINISHED)
    said: list[list[Event]] = [[], [], []]
    asking = [asyncio.create_task(stage.ask(events)) for events in said[:2]]
    await until(lambda: stage.running == (1, 1))
    asking.append(asyncio.create_task(stage.ask(said[2])))
    await until(lambda: any(isinstance(event, Queued) for event in said[2]))
    hold = Gate()
    stage.models[1].enqueue(hold, ANSWER, FINISHED)
    stage.models[1].enqueue(ANSWER, FINISHED)
    dies.open()
    await until(lambda: any(isinstance(event, Queued) for event in said[0]))
    goes_on.open()
    await asking[1]
    await until(lambda: stage.asked == (1, 2))
    assert not asking[2].done()
    hold.open()
    await asking[0]
    assert not any(isinstance(event, Chunk) for event in said[2])
    await asking[2]
    assert stage.asked == (1, 3)
    assert [route(events) for events in said] == ["answer"] * 3


async def test_with_every_server_down_the_passages_are_the_answer(stage: Stage) -> None:
    for model in stage.models:
        model.enqueue(DOWN)
    assert route(await stage.ask()) == "passages"
    assert stage.asked == (1, 1)
    stage.models[0].enqueue(ANSWER, FINISHED)
    assert route(await stage.ask()) == "answer", "trying is better than waiting"


async def test_what_broke_off_after_its_first_word_is_not_begun_again(stage: Stage) -> None:
    stage.models[0].enqueue(TextDelta(text="Customers pay with "), TextDelta(text="Stripe. "),
                            ModelInterrupted("cut"))  # fmt: skip
    events = await stage.ask()
    assert isinstance(events[-1], Failed)
    assert stage.asked == (1, 0)


async def test_a_conversation_goes_on_where_the_slot_holds_it(stage: Stage) -> None:
    for states in stage.states:
        states.enabled = True
    stage.models[0].enqueue(ANSWER, FINISHED)
    first = await stage.ask()
    conversation_id = first[0].conversation_id  # type: ignore[union-attr]
    stage.states[0].holding[conversation_id] = 100
    stage.models[0].enqueue(ANSWER, FINISHED)
    stage.models[1].enqueue(ANSWER, FINISHED)
    await stage.ask(conversation_id=conversation_id)
    assert stage.asked == (2, 0), "though the other one was unused for longer"
    await stage.ask()
    assert stage.asked == (2, 1), "another visitor leaves that slot alone"
