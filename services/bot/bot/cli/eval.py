"""`chat-bot eval`: ask a running bot labelled questions and say how good its answers are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import (
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_UNREACHABLE,
    EXIT_USAGE,
    CommandFailed,
    config_option,
    load,
    local_url,
)
from bot.cli.printer import printable

if TYPE_CHECKING:
    from bot.evaluation.questions import Question

DEFAULT_QUESTIONS = Path("tests/eval")
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("eval")
@click.option(
    "--questions",
    "source",
    type=click.Path(path_type=Path, exists=True),
    help="File or folder of labelled questions [default: tests/eval of the repository].",
)
@click.option("--set", "half", type=click.Choice(["dev", "test"]), help="Only this half of them.")
@click.option(
    "--kind", "kinds", multiple=True, help="Only questions of this kind; may be repeated."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many, the kinds taking turns.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
@click.option("--html", "html_path", type=FILE, help="Write a report with charts to this file.")
@click.option("--compare", "earlier_path", type=FILE, help="Show what changed since this JSON.")
@click.option(
    "--at-least",
    multiple=True,
    metavar="NAME=RATE",
    help="Exit code 1 where a figure is lower, e.g. key_facts=0.85; may be repeated.",
)
@click.option(
    "--at-most",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Exit code 1 where a figure is higher, e.g. unsupported=0; may be repeated.",
)
@click.option(
    "--planted",
    is_flag=True,
    help="Ask only the questions about planted documents: the bot's index holds them.",
)
@click.option(
    "--plant",
    "plant_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the planted documents below this copy of the content, ask nothing.",
)
@click.option(
    "--index",
    "index_path",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the bot's index [default: the configured one].",
)
@click.option("--url", help="Ask the bot at this address [default: the configured one].")
@config_option
def evaluate(
    source: Path | None,
    half: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
    as_json: bool,
    html_path: Path | None,
    earlier_path: Path | None,
    at_least: tuple[str, ...],
    at_most: tuple[str, ...],
    planted: bool,
    plant_folder: Path | None,
    index_path: Path | None,
    url: str | None,
    config_path: Path | None,
) -> None:
    """Ask a running bot labelled questions and report how good its answers are.

    Facts are looked up in the bot's index by code that shares nothing with the bot's own guard. The
    questions are asked one after the other; where the bot says Retry-After, the command waits. Ctrl-C
    ends it and reports what is done. The format of the questions, and what each figure means, is in
    docs/evaluation.md.

    Exit codes: 0 done, 1 a figure misses --at-least or --at-most, 2 bad usage or question file,
    5 bot not reachable, 130 ended by Ctrl-C.
    """
    from bot.evaluation.compare import compare, read_result, summary
    from bot.evaluation.errors import EvaluationError
    from bot.evaluation.html import page
    from bot.evaluation.questions import plant
    from bot.evaluation.report import table
    from bot.evaluation.targets import missed, read_bounds

    settings = load(config_path)
    try:
        questions = _questions(source, half, kinds, limit)
        if plant_folder:
            for path in plant(questions, plant_folder):
                click.echo(path)
            return
        earlier = read_result(earlier_path) if earlier_path else None
        lowest, highest = read_bounds(at_least), read_bounds(at_most)
    except EvaluationError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error

    from bot.cli.eval_run import measure, open_content

    # Planted pages change counts and what is latest, so a copy with them is asked nothing else.
    asked = [question for question in questions if bool(question.planted) == planted]
    if not asked:
        raise CommandFailed(
            f"all of these questions are {'not ' if planted else ''}about planted documents",
            EXIT_USAGE,
        )
    with open_content(settings, index_path) as content:
        measured = measure(
            asked,
            content,
            settings,
            url=(url or local_url(settings)).rstrip("/"),
            source=str(source or DEFAULT_QUESTIONS),
            half=half or "all",
            skipped={"other" if planted else "planted": len(questions) - len(asked)},
        )
    result = measured.result
    compared = compare(result, earlier) if earlier else None
    if html_path:
        _write(html_path, page(result, compared))
    if as_json:
        click.echo(
            json.dumps(result | ({"compared": compared} if compared else {}), ensure_ascii=False)
        )
    else:
        click.echo(table(result, compared))
        _name_failures(result["failures"], told=html_path is not None)
        if compared:
            click.echo("\n".join(summary(compared)))
    if measured.failed:
        raise CommandFailed(measured.failed, EXIT_UNREACHABLE)
    if measured.interrupted:
        raise SystemExit(EXIT_INTERRUPTED)
    if lines := missed(result, lowest, highest):
        raise CommandFailed("; ".join(lines), EXIT_REFUSED)


def _questions(
    source: Path | None, half: str | None, kinds: tuple[str, ...], limit: int | None
) -> list[Question]:
    from bot.evaluation.question_files import read_questions
    from bot.evaluation.questions import chosen

    if source is None and not DEFAULT_QUESTIONS.is_dir():
        raise CommandFailed(
            f"there is no {DEFAULT_QUESTIONS} here: name your own questions with --questions "
            "(docs/evaluation.md says how to write them)",
            EXIT_USAGE,
        )
    every = read_questions(source or DEFAULT_QUESTIONS)
    if unknown := sorted(set(kinds) - {question.kind for question in every}):
        there = ", ".join(sorted({question.kind for question in every}))
        raise CommandFailed(f"no question is of kind {unknown[0]}; there are {there}", EXIT_USAGE)
    questions = chosen(every, half=half, kinds=kinds, limit=limit)
    if not questions:
        raise CommandFailed(f"no question is of the {half} half", EXIT_USAGE)
    return questions


def _name_failures(failures: Sequence[Mapping[str, Any]], *, told: bool) -> None:
    if not failures:
        return
    where = "" if told else "; question, sources and answer of each: --html or --json"
    click.echo(f"\n{len(failures)} answers with a problem{where}")
    for failure in failures:
        click.echo(printable(f"  {failure['id']}: {failure['problems'][0]}"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} can't be written: {error.strerror}", EXIT_USAGE) from error
