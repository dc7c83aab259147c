"""`chat-bot ask`: one question from the terminal, answered by the running bot or in this process."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from bot.cli.options import EXIT_UNREACHABLE, CommandFailed, config_option, load, local_url
from bot.cli.printer import AnswerPrinter


@click.command()
@click.argument("question")
@click.option("--no-rag", is_flag=True, help="Straight to the model, without the site's content.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.option("--url", help="Ask the bot at this address only [default: the configured one].")
@config_option
def ask(
    question: str, no_rag: bool, as_json: bool, url: str | None, config_path: Path | None
) -> None:
    """Ask a question and print the answer with its sources.

    The running bot answers where there is one, otherwise this process does (it needs the model
    server). `--no-rag` always runs in this process. Exit code 5: bot or model not reachable.
    """
    if no_rag and url:
        raise click.UsageError("--no-rag runs in this process, --url asks another one")
    if not question.strip():
        raise click.UsageError("the question is empty")
    printer = AnswerPrinter(question, as_json=as_json)
    if not (not no_rag and _asked_remotely(printer, question, url, config_path)):
        _ask_here(printer, question, config_path, use_retrieval=not no_rag)
    printer.finish()


def _asked_remotely(
    printer: AnswerPrinter, question: str, url: str | None, config_path: Path | None
) -> bool:
    """Whether a running bot took the question; without one, `--url` is an error."""
    from bot.cli.remote import NoBot, ask_bot

    base = url.rstrip("/") if url else local_url(load(config_path))
    try:
        events = ask_bot(base, question)
    except NoBot as error:
        if url:
            raise CommandFailed(str(error), EXIT_UNREACHABLE) from error
        return False
    with closing(events):
        for event in events:
            printer.take(event)
    return True


def _ask_here(
    printer: AnswerPrinter, question: str, config_path: Path | None, *, use_retrieval: bool
) -> None:
    settings = load(config_path)
    from bot.chat.errors import ChatError
    from bot.cli.local import ask_here
    from bot.log import configure_logging
    from corpus.errors import CorpusError

    configure_logging("text")
    try:
        ask_here(settings, config_path, question, use_retrieval=use_retrieval, take=printer.take)
    except ChatError as error:
        raise CommandFailed(f"no answer: {error.code}", EXIT_UNREACHABLE) from error
    except CorpusError as error:
        raise CommandFailed(str(error), EXIT_UNREACHABLE) from error
