"""`chat-bot serve`: the server, with a stop that visitors notice only as an honest message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import EXIT_NOT_STARTED, EXIT_USAGE, CommandFailed, config_option, load

if TYPE_CHECKING:
    from litestar import Litestar

    from corpus.settings import Settings

GRACE_SECONDS = 20  # then streams are cut; a container's stop_grace_period must be longer
KEEP_ALIVE_SECONDS = 65  # longer than the gateway's 30 s: it must be the one that closes
CONCURRENT_CONNECTIONS = 1000  # backstop only; the queue for the model refuses long before


@click.command()
@click.option("--host", help="Address to listen on [default: server.host].")
@click.option("--port", type=click.IntRange(1, 65535), help="Port [default: server.port].")
@config_option
@click.option("--reindex-on-start", is_flag=True, help="Build the index before serving.")
@click.option(
    "--site",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the page at / [default: the built-in one].",
)
@click.option(
    "--log-format", type=click.Choice(["json", "text"]), default="json", show_default=True
)
def serve(
    host: str | None,
    port: int | None,
    config_path: Path | None,
    reindex_on_start: bool,
    site: Path | None,
    log_format: Any,
) -> None:
    """Serve the chatbot over HTTP until it is stopped by SIGTERM or Ctrl-C."""
    settings = _with_address(load(config_path), host, port)
    if reindex_on_start:
        _reindex(config_path)
    from bot.app import create_app
    from bot.log import configure_logging

    configure_logging(log_format)
    run(create_app(settings, config_path=config_path, site=site), settings)


def run(app: Litestar, settings: Settings, *, patience_seconds: float | None = None) -> None:
    """Serve `app` until a signal; open streams end with an `error` event instead of a cut.

    Args:
        patience_seconds: What answers get to end by themselves; None: `PATIENCE_SECONDS`.

    Raises:
        CommandFailed: exit code 3, the port is taken or the address is not this machine's.
    """
    import logging

    from bot.api.stopping import PATIENCE_SECONDS, stop_answering
    from bot.server import listen, listen_config, serve_until_signal

    try:
        listener = listen(settings.server.host, settings.server.port)
    except OSError as error:
        raise CommandFailed(
            f"can't listen on {settings.server.host}:{settings.server.port}: {error.strerror}; "
            "set server.port or --port",
            EXIT_NOT_STARTED,
        ) from error
    patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
    with listener:
        logging.getLogger("bot").info(
            "listening on http://%s:%d", settings.server.host, listener.getsockname()[1]
        )
        serve_until_signal(
            listen_config(
                app,
                trusted_proxies=settings.server.trusted_proxies,
                grace_seconds=GRACE_SECONDS,
                keep_alive_seconds=KEEP_ALIVE_SECONDS,
                connections=CONCURRENT_CONNECTIONS,
            ),
            [listener],
            on_signal=lambda: stop_answering(app.state.chat, app.state.streams, patience),
        )


def _with_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    from msgspec.structs import replace

    if "*" in settings.server.trusted_proxies:
        raise CommandFailed(
            "server.trusted_proxies: '*' is not allowed: anybody could pose as another visitor",
            EXIT_USAGE,
        )
    server = replace(
        settings.server, host=host or settings.server.host, port=port or settings.server.port
    )
    return replace(settings, server=server)


def _reindex(config_path: Path | None) -> None:
    from bot.cli.reindex import run_indexer

    code = run_indexer(config_path)
    if code == EXIT_USAGE:
        raise SystemExit(code)
    if code:
        click.echo(f"the indexer ended with code {code}: serving what is there", err=True)
