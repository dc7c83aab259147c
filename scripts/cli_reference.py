"""docs/cli.md: the help of every command, as the commands print it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import click

from bot.cli.main import cli

INTRODUCTION = """\
# Commands

<!-- Generated from the commands' own help by `make docs`; edit the texts in services/. -->

In a checkout the programs are in `.venv/bin`. Exit codes of `chat-bot`: 0 done (a polite refusal is
an answer too), 1 unhealthy or refused, or a wanted figure of `eval` not reached, 2 bad usage or
configuration, 3 the server could not start, 5 bot, model or embedding server not reachable, 130
`eval` ended by Ctrl-C; `chat-bot reindex` hands on those of `chat-bot-index`, listed with it.
"""
WIDTH = 88


def render() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    pages = [(name, help_of(name, command)) for name, command in commands()]
    for name, text in [*pages, ("chat-bot-index", indexer_help())]:
        parts.append(f"## `{name}`\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def commands() -> list[tuple[str, click.Command]]:
    """`chat-bot` and all below it, with their full names; groups before what they hold."""
    return list(_walk("chat-bot", cli))


def _walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for word, inner in sorted(command.commands.items()):
            yield from _walk(f"{name} {word}", inner)


def help_of(name: str, command: click.Command) -> str:
    """What `name --help` prints on a terminal of 88 columns."""
    context = click.Context(
        command,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=cli.context_settings["help_option_names"],
    )
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def indexer_help() -> str:
    """What `chat-bot-index --help` prints; asked for from outside, since it is no click command."""
    done = subprocess.run(
        [sys.executable, "-m", "indexer", "--help"],
        env={**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
