"""The `chat-bot` command and its exit codes.

    0  done; a polite refusal is an answer too
    1  the bot is unhealthy, or it refused the request; `eval`: a wanted figure was not reached
    2  bad usage or bad configuration
    3  the server could not start (as uvicorn has it since 0.50)
    5  bot, model or embedding server can't be reached
    130  `eval` was ended by Ctrl-C

`reindex` passes on the indexer's own codes (docs/http-api.md#exit-codes). Commands import what they
need when they run: `chat-bot version` and the container's health check stay quick.
"""

from __future__ import annotations

import os

import click

from bot import __version__
from bot.cli.ask import ask
from bot.cli.calibrate import calibrate
from bot.cli.config import config
from bot.cli.eval import evaluate
from bot.cli.health import health
from bot.cli.reindex import reindex
from bot.cli.serve import serve
from bot.cli.warm import warm


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Ask a portfolio or blog in Spanish or English, and serve its chatbot."""


@cli.command()
def version() -> None:
    """Print the version."""
    click.echo(f"portfolio-bot {__version__}")


for command in (serve, reindex, warm, ask, calibrate, config, health, evaluate):
    cli.add_command(command)


def main() -> None:
    """Entry point of the `chat-bot` script."""
    # One thread for NumPy, before anything imports it: the product of a matrix and a vector is bound by
    # memory, and BLAS threads that spin beside a busy llama-server made a search 40 times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    cli(prog_name="chat-bot")
