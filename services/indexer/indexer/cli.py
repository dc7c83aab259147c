"""The command `chat-bot-index`: arguments, signals, output, exit code."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from corpus.embedding import EmbeddingClient
from corpus.errors import CorpusError, EmbeddingError
from corpus.settings_file import load_settings
from indexer.chat_tokens import ChatTokenCounter
from indexer.errors import IndexerError, Interrupted, exit_code
from indexer.job import run
from indexer.progress import LineProgress, Progress, SilentProgress, TerminalProgress, is_terminal
from indexer.report import Findings, Report

EPILOG = """\
One JSON line on stdout says what was done; problems go to stderr, one line each.

exit codes:
  0    done, or nothing to do
  2    bad configuration: a wrong value, or none of the content folders exists
  4    content error: some documents were skipped and the rest published, or nothing was found
  5    embedding server unreachable: the index in service has keywords only
  6    embedding server sent unusable vectors: the old index is kept
  7    another indexer is at work
  8    disk or permission error: the old index is kept
  130  stopped by Ctrl-C, 143 by SIGTERM: the old index is kept
"""

KEYWORDS_ONLY = """\
KEYWORDS ONLY: the index in service has no vectors, a question in other words than the text finds
nothing. Start the embedding server and run this again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; nothing is raised for foreseeable faults."""
    options = _parser().parse_args(arguments)
    findings = Findings()
    try:
        with _signals(), _progress(options.json_only) as progress:
            report = _run(options, progress, findings)
    except (IndexerError, CorpusError, OSError, sqlite3.Error) as error:
        _tell(findings)
        print(f"error: {_one_line(error)}", file=sys.stderr)
        return exit_code(error)
    _tell(findings)
    if report.keyword_only:
        print(KEYWORDS_ONLY, file=sys.stderr)
    print(report.summary().decode(), flush=True)
    return report.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="chat-bot-index",
        description="Turn the content folders into a search index and put it into service.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings, default configs/portfolio-bot.yaml"
    )
    parser.add_argument(
        "--json-only", action="store_true", help="no progress, only the JSON line and problems"
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="publish even if no document is left"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="embed everything anew, whatever exists"
    )
    return parser


def _run(options: argparse.Namespace, progress: Progress, findings: Findings) -> Report:
    settings = load_settings(options.config)
    with (
        EmbeddingClient(settings.embeddings) as client,
        ChatTokenCounter(settings.provider) as chat,
    ):
        return run(
            settings,
            client=client,
            chat=chat,
            progress=progress,
            findings=findings,
            allow_empty=options.allow_empty,
            rebuild=options.rebuild,
        )


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Turn SIGINT and SIGTERM into an ordinary error, so that temporary files are removed."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Interrupted(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress(is_quiet: bool) -> Iterator[Progress]:
    if is_quiet:
        yield SilentProgress()
    elif is_terminal():
        with TerminalProgress() as bar:
            yield bar
    else:
        yield LineProgress(sys.stderr)


def _tell(findings: Findings) -> None:
    for problem in findings.problems:
        print(problem, file=sys.stderr)


def _one_line(error: BaseException) -> str:
    if isinstance(error, EmbeddingError):
        return f"{error}; the old index is kept"
    if isinstance(error, OSError | sqlite3.Error):
        place = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"the index can't be written: {reason}{place}; the old index is kept"
    return " ".join(str(error).split())
