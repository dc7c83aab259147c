"""What a chat model reads out of its prompt: labelled facts in bare answers, a page beside five passages.

    python -m bench.reading [--profile default] [--set dev] [--questions 100] [--json]

The same questions of tests/eval over the sample site, asked of the model itself with the product's
prompts and no gate, guard or quotation: once over the page of the best passage, once over the five best
passages. `in prompt` is the share of the facts that the prompt held, `in answer` that of the answer;
`declined` counts NO_ANSWER, `bare` answers of three words or fewer.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, aclosing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from bench.bots import ROOT, chat_server, embed_server, indexed, llama_server
from bench.figures import table
from bot.adapters.build import open_ports
from bot.chat import prompt
from bot.chat.found import Found
from bot.chat.opening import Opening
from bot.chat.ports import Ports
from bot.chat.ports.model import Message, TextDelta
from bot.chat.reading import Reading
from bot.chat.retrieve import Retriever
from bot.chat.threads import Threads
from bot.evaluation.question_files import read_questions
from bot.evaluation.questions import Turn, chosen
from bot.evaluation.time_facts import given
from corpus.settings import Settings
from native.chosen import chosen_models

Kind = Literal["page", "passages"]
KINDS: tuple[Kind, ...] = ("page", "passages")
CITATION = re.compile(r"\s?\[\d{1,4}\]")
MOST_BARE_WORDS = 3
THREAD_SECONDS = 60.0


class Asked(Struct, frozen=True, kw_only=True):
    """One question with its prompt."""

    turn: Turn
    messages: tuple[Message, ...]
    read: str
    """Text of the passages in the prompt."""


class Answer(Struct, frozen=True, kw_only=True):
    """What came of it; shares of the labelled facts."""

    in_prompt: float
    in_answer: float
    declined: bool
    words: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, and print the table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.reading", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--set", dest="half", choices=("dev", "test"), default="dev")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.profile, options.models, options.half, options.questions)
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(profile: str, folder: Path, half: str, count: int) -> dict[str, Any]:
    """The JSON document."""
    binary = llama_server()
    models = chosen_models(profile, folder)
    turns = chosen_turns(half, count)
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embed = stack.enter_context(embed_server(binary, models.embed_path, work))
        chat = stack.enter_context(chat_server(binary, models.chat_path, work, states=False))
        settings = indexed(work / "index", embed, chat, 96)
        answers = asyncio.run(_ask_all(settings, turns))
    return figures(answers)


def chosen_turns(half: str, count: int) -> list[Turn]:
    """So many first questions with facts, as many of each language, spread over the files."""
    turns = [
        question.turns[0]
        for question in chosen(read_questions(ROOT / "tests/eval"), half=half)
        if question.turns[0].label == "answerable" and question.turns[0].facts
    ]
    picked: list[Turn] = []
    for language in ("en", "es"):
        own = [turn for turn in turns if turn.lang == language]
        places = np.linspace(0, len(own) - 1, min(count // 2, len(own))).round().astype(int)
        picked += [own[place] for place in dict.fromkeys(places.tolist())]
    return picked


def figures(answers: dict[Kind, list[Answer]]) -> dict[str, Any]:
    """Shares and counts of each kind of prompt."""
    return {
        "questions": len(answers["page"]),
        "prompts": {
            kind: {
                "in_prompt": _mean([each.in_prompt for each in found]),
                "in_answer": _mean([each.in_answer for each in found]),
                "declined": sum(each.declined for each in found),
                "bare": sum(0 < each.words <= MOST_BARE_WORDS for each in found),
            }
            for kind, found in answers.items()
        },
        # Of the difference: questions on which one prompt gave more of the facts than the other.
        "better": {
            kind: sum(a.in_answer > b.in_answer for a, b in zip(answers[kind], answers[other], strict=True))
            for kind, other in (KINDS, KINDS[::-1])
        },
    }  # fmt: skip


def render(result: dict[str, Any]) -> str:
    """A table for people."""
    rows = [
        [kind, row["in_prompt"], row["in_answer"], row["declined"], row["bare"], result["better"][kind]]
        for kind, row in result["prompts"].items()
    ]  # fmt: skip
    head = ["prompt", "facts in prompt", "facts in answer", "declined", "bare", "better on"]
    return f"{result['questions']} questions\n{table(head, rows)}"


async def _ask_all(settings: Settings, turns: Sequence[Turn]) -> dict[Kind, list[Answer]]:
    answers: dict[Kind, list[Answer]] = {}
    today = datetime.now(UTC).date()
    async with open_ports(settings) as ports:
        await ports.embedder.probe()
        for kind in KINDS:
            asked = [await _prompt(settings, ports, turn, kind) for turn in turns]
            found: dict[int, Answer] = {}
            # One page after the other: the server has the page of the question before ready.
            for place in sorted(range(len(asked)), key=lambda n: asked[n].messages[0].content):
                found[place] = await _answer(ports, asked[place], today)
                if len(found) % 10 == 0:
                    print(f"{kind}: {len(found)} of {len(asked)}", file=sys.stderr, flush=True)
            answers[kind] = [found[place] for place in range(len(asked))]
    return answers


async def _prompt(settings: Settings, ports: Ports, turn: Turn, kind: Kind) -> Asked:
    with ports.index.lease() as state:
        assert state.index is not None
        retrieved = await Retriever(settings, ports.embedder).retrieve(
            state.index, state, turn.question, (), turn.lang
        )
        found = Found(index=state.index, retrieved=retrieved)
        reading = Reading(replace(settings.rag, context=kind), Threads(THREAD_SECONDS))
        task, _ = reading.task(found, turn.question, (), None, turn.lang)
        messages, context = await prompt.fit(
            settings.persona, task.context, (), task.question, turn.lang,
            notes=task.notes, provider=settings.provider, model=ports.model,
        )  # fmt: skip
        read = "\n".join(passage.chunk.text for passage in context.passages)
        return Asked(turn=turn, messages=messages, read=read)


async def _answer(ports: Ports, asked: Asked, today: date) -> Answer:
    opening = Opening(active=True)
    pieces: list[str] = []
    async with aclosing(ports.model.stream(asked.messages)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                pieces.append(opening.feed(event.text))
    text = CITATION.sub("", "".join([*pieces, opening.close()]))
    facts = asked.turn.facts
    return Answer(
        in_prompt=_mean(given(asked.read, facts, today)),
        in_answer=_mean(given(text, facts, today)),
        declined=opening.declined,
        words=len(text.split()),
    )


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 3)


if __name__ == "__main__":
    main()
