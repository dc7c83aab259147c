"""Run a program with the settings of a profile's models: `python -m native.with_models -- PROGRAM`.

Bot, indexer and `make demo` must name the same model files, or the index would count as made by
another model. Without fetched models the program runs with the configuration file alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from models.errors import ModelsError
from native.chosen import chosen_models
from native.preflight import DEFAULT_PORTS, ROOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Become the program; returns only when it can't be started."""
    options = parser(__doc__ or "").parse_args(arguments)
    try:
        models = chosen_models(options.profile, options.dir.absolute())
        settings = models.settings(
            port=options.port,
            chat_port=options.chat_port,
            embed_port=options.embed_port,
            states=options.states.absolute() if options.states else None,
        )
    except ModelsError as error:
        print(f"note: {error}", file=sys.stderr)
        settings = {}
    command = [part for part in options.command if part != "--"]
    try:
        # What the caller's environment says explicitly goes before the profile.
        os.execvpe(command[0], command, {**settings, **os.environ})  # noqa: S606
    except (OSError, IndexError) as error:
        print(f"error: the program can't be started: {error}", file=sys.stderr)
    return 127


def parser(description: str) -> argparse.ArgumentParser:
    """The options that say which models and ports; the rest is the command."""
    made = argparse.ArgumentParser(prog="python -m native.with_models", description=description)
    made.add_argument("--profile", default="default")
    made.add_argument("--dir", type=Path, default=ROOT / "models/files")
    made.add_argument("--port", type=int, default=DEFAULT_PORTS["PORT"])
    made.add_argument("--chat-port", type=int, default=DEFAULT_PORTS["CHAT_PORT"])
    made.add_argument("--embed-port", type=int, default=DEFAULT_PORTS["EMBED_PORT"])
    made.add_argument("--states", type=Path, help="folder of the prompt states, if there is one")
    made.add_argument("command", nargs=argparse.REMAINDER)
    return made


if __name__ == "__main__":
    sys.exit(main())
