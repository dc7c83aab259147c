"""`chat-bot health`: the running bot's own report; also the container's health check."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.fetch import fetch_document
from bot.cli.options import EXIT_REFUSED, config_option, load, local_url

TIMEOUT_SECONDS = 4.0  # the bot answers within 2.5 s


@click.command()
@click.option("--url", help="Address of the bot [default: the configured host and port].")
@click.option("--deep", is_flag=True, help="Also embed a sentence now.")
@config_option
def health(url: str | None, deep: bool, config_path: Path | None) -> None:
    """Show how each part of the running bot is; exit code 1 when visitors can't be answered."""
    base = (url or local_url(load(config_path))).rstrip("/")
    path = f"/api/health{'?deep=true' if deep else ''}"
    report = fetch_document(
        base, path, {"status", "version", "components"}, timeout_seconds=TIMEOUT_SECONDS
    )
    click.echo(f"{report['status']}  {base}  version {report['version']}")
    for name, component in report["components"].items():
        latency = f"{component['latency']:.0f} ms" if "latency" in component else ""
        details = "  ".join(f"{key}={value}" for key, value in component.get("details", {}).items())
        click.echo(f"  {name:11} {component['status']:10} {latency:>8}  {details}".rstrip())
    if report["status"] == "unhealthy":
        raise SystemExit(EXIT_REFUSED)
