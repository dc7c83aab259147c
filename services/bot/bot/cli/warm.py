"""`chat-bot warm`: have the running bot evaluate every page now, and watch it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from bot.cli.fetch import fetch_document
from bot.cli.options import EXIT_REFUSED, CommandFailed, config_option, load, local_url

TIMEOUT_SECONDS = 5.0
LOOK_SECONDS = 1.0


@click.command()
@click.option("--url", help="Address of the bot [default: the configured host and port].")
@config_option
def warm(url: str | None, config_path: Path | None) -> None:
    """Prepare every page for its first question, with a progress bar; visitors go before it.

    Prepared pages answer in about a second. The running bot does this by itself while nobody asks.
    Exit code 1: no bot, or one that keeps no prompt states.
    """
    base = (url or local_url(load(config_path))).rstrip("/")
    warmth = warming(base, start=True)
    if not warmth["enabled"]:
        raise CommandFailed(
            "this bot keeps no prompt states: set states_path of the provider and start its "
            "llama-server with --slot-save-path",
            EXIT_REFUSED,
        )
    with click.progressbar(length=warmth["pages"], label="warming", show_pos=True, width=30) as bar:
        while warmth["warm"] < warmth["pages"] and warmth["working"]:
            bar.update(warmth["warm"] - bar.pos)
            bar.label = _label(warmth)
            time.sleep(LOOK_SECONDS)
            warmth = warming(base)
        bar.update(warmth["warm"] - bar.pos)
    click.echo(f"{warmth['warm']} of {warmth['pages']} pages are warm")
    if warmth["warm"] < warmth["pages"]:
        click.echo("the others found no room, or the model failed: see the bot's log", err=True)
        raise SystemExit(EXIT_REFUSED)


def _label(warmth: dict[str, Any]) -> str:
    left = warmth["eta_seconds"]
    return f"warming, {left / 60:.0f} min left" if left >= 90 else f"warming, {left:.0f} s left"


def warming(base: str, *, start: bool = False) -> dict[str, Any]:
    """How far the bot at `base` is, after telling it to begin.

    Raises:
        CommandFailed: exit code 1; nothing there, something else, or a bot on another machine.
    """
    keys = {"enabled", "warm", "pages", "working", "eta_seconds"}
    return fetch_document(
        base,
        "/api/warm",
        keys,
        timeout_seconds=TIMEOUT_SECONDS,
        post=start,
        forbidden="takes this from its own machine only",
    )
