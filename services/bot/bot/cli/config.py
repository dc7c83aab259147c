"""`chat-bot config validate`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import config_option, load


@click.group()
def config() -> None:
    """Look at the configuration."""


@config.command()
@config_option
def validate(config_path: Path | None) -> None:
    """Check the configuration; exit code 2 names the first wrong key."""
    settings = load(config_path)
    server, provider, rag = settings.server, settings.provider, settings.rag
    click.echo("ok")
    for name, value in (
        ("listens on", f"{server.host}:{server.port}"),
        ("may be embedded by", ", ".join(server.cors_origins) or "no other site"),
        (
            "language model",
            f"{provider.model} at {', '.join((provider.endpoint, *provider.more_endpoints))}",
        ),
        ("embeddings", f"{settings.embeddings.model} at {settings.embeddings.endpoint}"),
        ("content", ", ".join((rag.data_path, rag.docs_path, rag.posts_path))),
        ("index", rag.index_path),
        ("re-index over HTTP", "open to the owner" if server.owner_token_file else "closed"),
    ):
        click.echo(f"  {name:20} {value}")
