"""`chat-bot reindex`: runs the indexer in the foreground."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from bot.cli.options import config_option


@click.command()
@config_option
def reindex(config_path: Path | None) -> None:
    """Build the index anew and publish it; a running bot takes it up by itself.

    The exit code is the indexer's: 0 done or nothing to do, 2 bad configuration, 4 content error,
    5 embedding server not reachable (the index then serves keyword search only).
    """
    sys.exit(run_indexer(config_path))


def run_indexer(config_path: Path | None) -> int:
    """Run `python -m indexer` with this terminal; its exit code."""
    command = [sys.executable, "-m", "indexer"]
    if config_path is not None:
        command += ["--config", str(config_path)]
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the indexer got the signal too and ends by itself
