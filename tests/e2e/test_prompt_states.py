"""Prompt states with a real model and its own server: what is restored is what was evaluated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from bot.adapters.llamacpp import LlamaServer
from bot.adapters.states.build import open_states
from bot.adapters.states.slot_states import SlotStates
from bot.chat.ports.model import Finished, Message, TextDelta
from bot.chat.ports.states import Prefix, Restored, Warmed
from corpus.settings import ProviderSettings, Settings
from tests.conftest import ModelServer, serve

pytestmark = [pytest.mark.models, pytest.mark.anyio]
QUESTION = "What does the blue boat cost?"


def page(boat: str, prices: tuple[int, int, int]) -> Prefix:
    blue, red, green = prices
    return Prefix(
        text="Answer from these passages and from nothing else, in one short sentence.\n"
        f"[1] The {boat} shop opens on Mondays. It rents boats, and nothing but boats.\n"
        f"[2] The red boat costs {red} euros. The blue boat costs {blue} euros. The green boat "
        f"costs {green} euros.\n[3] The shop stands by the harbour and closes in winter."
    )


HARBOUR = page("Harbour", (21, 35, 49))
LAGOON = page("Lagoon", (84, 91, 98))


class Bot:
    """The states and the model of one bot."""

    def __init__(self, states: SlotStates, model: LlamaServer) -> None:
        self.states = states
        self.model = model

    async def warm(self, prefix: Prefix) -> Warmed:
        async with aclosing(self.states.warm(prefix)) as events:
            last = [event async for event in events][-1]
        assert isinstance(last, Warmed)
        return last

    async def ask(self, prefix: Prefix) -> tuple[Restored, str, Finished]:
        restored = await self.states.restore(prefix)
        messages = (
            Message(role="system", content=prefix.text),
            Message(role="user", content=QUESTION),
        )
        async with aclosing(self.model.stream(messages)) as stream:
            events = [event async for event in stream]
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        finished = events[-1]
        assert isinstance(finished, Finished)
        self.states.answered(restored, finished, prefix, None)
        return restored, text, finished


@asynccontextmanager
async def started(server: ModelServer, folder: Path) -> AsyncIterator[Bot]:
    provider = ProviderSettings(
        endpoint=server.url, model=server.model, states_path=str(folder), max_tokens=24
    )
    async with (
        open_states(Settings(providers=(provider,))) as (states,),
        LlamaServer(provider, on_stream=states.used) as model,
    ):
        yield Bot(states, model)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    yield from serve("chat", tmp_path_factory.mktemp("states-server"), states=folder)


async def test_a_restored_page_answers_as_a_cold_one_and_evaluates_the_question_only(
    server: ModelServer, folder: Path
) -> None:
    async with started(server, folder) as bot:
        restored, cold, finished = await bot.ask(HARBOUR)
        assert restored.kind == "miss"
        assert "21" in cold
        warmed = await bot.warm(HARBOUR)
        assert warmed.saved
        assert (await bot.warm(LAGOON)).saved
        restored, warm, finished = await bot.ask(HARBOUR)
        assert (restored.kind, restored.tokens) == ("hit", warmed.tokens)
        assert finished.cached_tokens == warmed.tokens
        assert finished.evaluated_tokens < 60
        # Another batch split rounds otherwise, so that an answer's end may differ.
        assert warm.split()[:5] == cold.split()[:5]
        assert bot.states.stats().hits == 1


async def test_swapped_states_are_not_used(server: ModelServer, folder: Path) -> None:
    async with started(server, folder) as bot:
        assert (await bot.warm(HARBOUR)).saved
        assert (await bot.warm(LAGOON)).saved
        one, two = pages(folder)
        content = one.read_bytes()
        one.write_bytes(two.read_bytes())
        two.write_bytes(content)
        for prefix, price in ((HARBOUR, "21"), (LAGOON, "84")):
            restored, text, _ = await bot.ask(prefix)
            assert restored.source != "page" or restored.kind == "held"
            assert price in text
        assert pages(folder) == []


async def test_a_truncated_state_does_not_reach_the_server_which_would_die_of_it(
    server: ModelServer, folder: Path
) -> None:
    async with started(server, folder) as bot:
        assert (await bot.warm(HARBOUR)).saved
        assert (await bot.warm(LAGOON)).saved
        for path in pages(folder):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        restored, text, _ = await bot.ask(HARBOUR)
        assert restored.kind == "miss"
        assert "21" in text
        await bot.model.check()


async def test_the_state_of_one_model_is_not_given_to_another(
    server: ModelServer, folder: Path, tmp_path: Path
) -> None:
    async with started(server, folder) as bot:
        assert (await bot.warm(HARBOUR)).saved
    for other in serve("chat", tmp_path, "default", states=folder):
        async with started(other, folder) as bot:
            assert await bot.states.connect()
            assert not bot.states.has(HARBOUR)
            assert (await bot.states.restore(HARBOUR)).kind == "miss"
    async with started(server, folder) as bot:
        assert (await bot.states.restore(HARBOUR)).kind == "hit"


def pages(folder: Path) -> list[Path]:
    return sorted(folder.glob("p-*.kv"))
