"""`chat-bot calibrate`: fit the gate to the owner's own content and embedder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import (
    EXIT_REFUSED,
    EXIT_UNREACHABLE,
    EXIT_USAGE,
    CommandFailed,
    config_option,
    load,
)

if TYPE_CHECKING:
    from bot.calibration.calibrate import Result
    from bot.calibration.questions import Question
    from corpus.embedding import EmbeddingClient
    from corpus.reader import Index
    from corpus.settings import Settings
    from corpus.vectors import Vector

BATCH = 16


@click.command()
@click.option(
    "--questions",
    "questions_path",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Your own labelled questions, YAML (docs/calibration.md).",
)
@click.option(
    "--recall",
    type=click.FloatRange(0.5, 0.999),
    default=0.97,
    show_default=True,
    help="Share of answerable questions that shall be answered.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write a page with charts; `-` prints it, and the report goes to stderr.",
)
@click.option("--dry-run", is_flag=True, help="Store nothing.")
@config_option
def calibrate(
    questions_path: Path | None,
    recall: float,
    html: Path | None,
    dry_run: bool,
    config_path: Path | None,
) -> None:
    """Fit the gate that decides which questions the content can answer.

    Asks the embedding server for the vectors of a few hundred questions: made from your titles and
    headings, shipped ones that most sites don't answer, and your own. Once 20 of your own are
    answerable, the gate is fitted to them; before, only its cut may be lowered. Prints score
    distributions, figures and the questions next to the cut. The result is stored beside the index;
    a running bot takes it up by itself. Exit code 1: no usable index or embedder, 5: embedding server
    not reachable.
    """
    settings = load(config_path)
    from bot.calibration.page import render_page
    from bot.calibration.report import render

    result, fitted_at = _fit(settings, questions_path, recall, store=not dry_run)
    to_stdout = html is not None and str(html) == "-"
    click.echo(render(result), err=to_stdout)
    if not dry_run:
        click.echo(f"stored in {settings.rag.index_path}", err=to_stdout)
    if html is not None:
        page = render_page(result, fitted_at)
        if to_stdout:
            click.echo(page, nl=False)
        else:
            try:
                html.write_text(page, "utf-8")
            except OSError as error:
                raise CommandFailed(
                    f"{html} can't be written: {error.strerror}", EXIT_USAGE
                ) from error


def _fit(
    settings: Settings, questions_path: Path | None, recall: float, *, store: bool
) -> tuple[Result, str]:
    from contextlib import closing
    from datetime import UTC, datetime

    from bot.calibration.calibrate import TooFewQuestions
    from bot.calibration.calibrate import calibrate as fit
    from bot.calibration.questions import QuestionsError, gather, read_labelled
    from bot.calibration.store import Stored, write_stored
    from bot.chat.gate import MEASURED
    from corpus.embedding import EmbeddingClient
    from corpus.errors import CorpusError, EmbedderUnavailable
    from corpus.reader import open_index

    folder = Path(settings.rag.index_path)
    fitted_at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        labelled = read_labelled(questions_path) if questions_path else []
        with closing(open_index(folder)) as index, EmbeddingClient(settings.embeddings) as client:
            _check_embedder(index, client, settings)
            questions = gather(index, labelled)
            vectors = _embed(client, settings, questions)
            result = fit(
                index, questions, vectors, settings.rag,
                model=settings.embeddings.model, recall=recall,
            )  # fmt: skip
            assert index.meta.embedding is not None, "_check_embedder has seen it"
            if store:
                stored = Stored(
                    measured=MEASURED,
                    fitted_at=fitted_at,
                    source_hash=index.meta.source_hash,
                    chunker_version=index.meta.chunker_version,
                    embedding=index.meta.embedding,
                    calibration=result.own,
                    recall=recall,
                    questions=result.counts,
                )
                write_stored(folder, stored)
    except (QuestionsError, TooFewQuestions) as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error
    except EmbedderUnavailable as error:
        raise CommandFailed(str(error), EXIT_UNREACHABLE) from error
    except CorpusError as error:
        raise CommandFailed(str(error), EXIT_REFUSED) from error
    except OSError as error:
        raise CommandFailed(
            f"nothing stored in {folder}: {error.strerror}", EXIT_REFUSED
        ) from error
    return result, fitted_at


def _check_embedder(index: Index, client: EmbeddingClient, settings: Settings) -> None:
    """A cut fitted on the vectors of another model would refuse at random."""
    from bot.adapters.index_identity import compare_identity, compare_probe
    from corpus.model import PROBE_TEXT

    problem = compare_identity(index, settings.embeddings)
    if problem is None:
        problem = compare_probe(index, client.embed([PROBE_TEXT])[0], settings.embeddings)
    if problem is not None:
        raise CommandFailed(f"nothing to calibrate: {problem}", EXIT_REFUSED)


def _embed(client: EmbeddingClient, settings: Settings, questions: list[Question]) -> list[Vector]:
    vectors: list[Vector] = []
    texts = [settings.embeddings.query_prefix + question.text for question in questions]
    shown = sys.stderr.isatty()
    for start in range(0, len(texts), BATCH):
        vectors += client.embed(texts[start : start + BATCH])
        if shown:
            click.echo(f"\rembedding questions: {len(vectors)} of {len(texts)}", nl=False, err=True)
    if shown:
        click.echo(err=True)
    return vectors
