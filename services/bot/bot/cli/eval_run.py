"""The run of `chat-bot eval`: HTTP, index, clock and progress bar around bot.evaluation."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from bot.chat.prompt import IDENTITY, RULES
from bot.cli.options import EXIT_UNREACHABLE, EXIT_USAGE, CommandFailed
from bot.cli.remote import Events, NoBot, ask_bot, describe_bot
from bot.evaluation.answers import Answer
from bot.evaluation.content import Content, IndexContent, QuoteContent
from bot.evaluation.judge import Judge, Verdict
from bot.evaluation.questions import Question, Turn
from bot.evaluation.report import Run, document
from bot.evaluation.runner import Message, Runner
from corpus.errors import CorpusError
from corpus.reader import open_index
from corpus.settings import PersonaSettings, Settings


class Measured(Struct, frozen=True, kw_only=True):
    """The result of as much as was asked, and why it is not all of it."""

    result: dict[str, Any]
    failed: str = ""
    """The bot went away: how it showed."""
    interrupted: bool = False


@contextmanager
def open_content(settings: Settings, folder: Path | None) -> Iterator[Content]:
    """The index of `folder`, else the configured one where there is one, else quotes only.

    Raises:
        CommandFailed: exit code 2, `folder` is named and holds no index.
    """
    try:
        index = open_index(folder or Path(settings.rag.index_path))
    except CorpusError as error:
        if folder:
            raise CommandFailed(str(error), EXIT_USAGE) from error
        yield QuoteContent()
        return
    try:
        yield IndexContent(index)
    finally:
        index.close()


def measure(
    questions: Sequence[Question],
    content: Content,
    settings: Settings,
    *,
    url: str,
    source: str,
    half: str,
    skipped: dict[str, int],
) -> Measured:
    """Ask all questions of the bot at `url` and judge its answers.

    Raises:
        CommandFailed: exit code 5, no bot answers there from the first.
    """
    try:
        info = describe_bot(url)
    except NoBot as error:
        raise CommandFailed(str(error), EXIT_UNREACHABLE) from error
    judge = Judge(
        content,
        date.today(),
        allowed=[info["name"]],
        prompt=_prompt(settings.persona, info["name"]),
    )
    started, began = datetime.now(UTC), time.monotonic()
    verdicts: list[Verdict] = []
    done, failed, interrupted = 0, "", False
    with click.progressbar(
        length=len(questions), label="asking", show_pos=True, show_eta=True, file=sys.stderr
    ) as bar:

        def told(label: str) -> None:
            if sys.stderr.isatty():  # elsewhere every new label would be a line
                bar.label = label
                bar.render_progress()

        def waiting(seconds: float) -> None:
            told(f"the bot asks to wait {seconds:.0f} s")

        runner = Runner(_Asking(url), clock=time.monotonic, sleep=time.sleep, waiting=waiting)
        for question in questions:
            answers: list[Answer] = []
            try:
                for answer in runner.answers(question):
                    answers.append(answer)
                    told(question.kind)
                done += 1
            except NoBot as error:
                failed = f"{error} any more, after {done} of {len(questions)} questions"
            except KeyboardInterrupt:
                interrupted = True
            verdicts += judge.conversation(question, answers)
            if failed or interrupted:
                break
            bar.update(1)
    run = Run(
        bot=info["name"], model=str(info.get("model", "")), url=url, questions=source, half=half,
        started=started.isoformat(timespec="seconds"), seconds=round(time.monotonic() - began, 1),
        conversations=done, planned=len(questions), skipped=skipped, evidence=content.source,
        strangers=content.strangers,
    )  # fmt: skip
    return Measured(result=document(run, verdicts), failed=failed, interrupted=interrupted)


class _Asking:
    """Questions to the bot at one address, as a browser of the question's language sends them."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(self, turn: Turn, history: Sequence[Message], conversation_id: str) -> Events:
        return ask_bot(
            self._url,
            turn.question,
            history=history,
            conversation_id=conversation_id,
            language=turn.lang,
        )


def _prompt(persona: PersonaSettings, name: str) -> list[str]:
    """What must not be recited: the fixed rules, and the owner's own words for the bot."""
    own = (persona.system_prompt, persona.system_prompt_es)
    return [IDENTITY.format(name=name), RULES, *(text for text in own if text)]
