"""What several commands share: the configuration option, its loading, and one-line errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from corpus.settings import Settings

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_NOT_STARTED = 3
EXIT_UNREACHABLE = 5
EXIT_INTERRUPTED = 130

WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (looked up, not bound)


class CommandFailed(click.ClickException):
    """Ends a command with one line on stderr and an exit code of its own."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance


def config_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--config`; the command gets `config_path`."""
    return click.option(
        "--config",
        "config_path",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Configuration file [default: configs/portfolio-bot.yaml where it exists].",
    )(command)


def load(config_path: Path | None) -> Settings:
    """The settings.

    Raises:
        CommandFailed: exit code 2 with the key's path, its value and what is allowed.
    """
    from corpus.errors import SettingsError
    from corpus.settings_file import load_settings

    try:
        return load_settings(config_path)
    except SettingsError as error:
        raise CommandFailed(str(error), EXIT_USAGE) from error


def local_url(settings: Settings) -> str:
    """Address at which this machine reaches the configured server."""
    host = WILDCARD_HOSTS.get(settings.server.host, settings.server.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.server.port}"
