"""What the guard costs a visitor: the same answers of the model, shown with it and without it.

    python -m bench.guard_price [--profile default] [--questions 30] [--json]

Labelled questions of the sample site go through the whole pipeline over warm pages. Every piece of the
model is noted with its time; without the guard a piece would be shown when it comes, but for NO_ANSWER
and citations, which have to be whole. Milliseconds from the question to the first word.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, aclosing
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from bench.bots import chat_server, embed_server, indexed, llama_server, with_states
from bench.figures import RANKS, percentiles, table
from bench.first_word import chosen_questions
from bot.adapters.build import open_ports
from bot.chat.citations import CitationFilter
from bot.chat.events import Chunk, Done
from bot.chat.opening import Opening
from bot.chat.ports.model import LanguageModel, Message, ModelEvent, TextDelta
from bot.chat.service import Ask, ChatService
from corpus.settings import Settings
from native.chosen import chosen_models

MOST_PASSAGES = 40


class Recorded:
    """A LanguageModel that notes when each piece came."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.pieces: list[tuple[float, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        """As the model's own."""
        async with aclosing(self._model.stream(messages)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self.pieces.append((perf_counter(), event.text))
                yield event


class Price(Struct, frozen=True, kw_only=True):
    """One answer, in milliseconds since the question."""

    bare: float
    """Until the first word, had there been no guard."""
    guarded: float
    spoken: float
    """From the model's first piece to the end of the answer."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, and print the table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.guard_price", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.profile, options.models, options.questions)
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(profile: str, folder: Path, count: int) -> dict[str, Any]:
    """Percentiles over the questions that the model answered."""
    binary = llama_server()
    models = chosen_models(profile, folder)
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embed = stack.enter_context(embed_server(binary, models.embed_path, work))
        chat = stack.enter_context(chat_server(binary, models.chat_path, work, states=True))
        settings = indexed(work / "index", embed, chat, 96)
        asked = [question["question"] for question in chosen_questions(count)]
        prices = asyncio.run(_ask_all(with_states(settings, work), asked))
    return figures(asked, prices)


def figures(asked: Sequence[str], prices: Sequence[Price]) -> dict[str, Any]:
    """The JSON document."""
    bare, guarded = [p.bare for p in prices], [p.guarded for p in prices]
    return {
        "questions": len(asked),
        "answered": len(prices),
        "first_word_ms": {
            name: percentiles(times, None) for name, times in (("bare", bare), ("guarded", guarded))
        },
        "later": {
            f"p{rank}": round(
                float(np.percentile(guarded, rank) / np.percentile(bare, rank)) - 1, 3
            )
            for rank in RANKS
        },
        "later_at_all": round(sum(p.guarded - p.bare > 1 for p in prices) / len(prices), 3),
        "answer_ms": {"p50": round(float(np.median([p.spoken for p in prices])))},
    }


def render(result: dict[str, Any]) -> str:
    """A table for people."""
    rows = [[name, times["p50"], times["p95"]] for name, times in result["first_word_ms"].items()]
    rows.append(["later", *(f"{result['later'][p]:+.1%}" for p in ("p50", "p95"))])
    return "\n".join([
        f"{result['answered']} of {result['questions']} questions answered by the model; "
        f"{result['later_at_all']:.0%} later at all",
        table(["first word", "p50 ms", "p95 ms"], rows),
    ])  # fmt: skip


async def _ask_all(settings: Settings, asked: Sequence[str]) -> list[Price]:
    prices = []
    async with open_ports(settings) as ports:
        await ports.embedder.probe()
        recorded = Recorded(ports.model)
        service = ChatService(settings, replace(ports, model=recorded))
        for measured in (False, True):  # the first round leaves the states of the pages
            for question in asked:
                price = await _ask(service, recorded, question)
                if measured and price:
                    prices.append(price)
    return prices


async def _ask(service: ChatService, recorded: Recorded, question: str) -> Price | None:
    recorded.pieces.clear()
    began = perf_counter()
    first = None
    ticket = service.admit()
    async with aclosing(service.answer(Ask(question=question), ticket)) as events:
        async for event in events:
            if isinstance(event, Chunk):
                first = first or perf_counter()
            elif isinstance(event, Done) and (event.route != "answer" or not recorded.pieces):
                return None
    bare = _bare(recorded.pieces)
    if first is None or bare is None:
        return None
    return Price(
        bare=(bare - began) * 1000,
        guarded=(first - began) * 1000,
        spoken=(recorded.pieces[-1][0] - recorded.pieces[0][0]) * 1000,
    )


def _bare(pieces: Sequence[tuple[float, str]]) -> float | None:
    """When the first piece could have been shown without the guard."""
    opening, citations = Opening(active=True), CitationFilter(MOST_PASSAGES, "")
    for at, piece in pieces:
        if citations.feed(opening.feed(piece)).strip():
            return at
    return pieces[-1][0] if pieces else None


if __name__ == "__main__":
    main()
