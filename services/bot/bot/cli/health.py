"""`chat-bot health`: the running bot's own report; also the container's health check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

import click

from bot.cli.options import EXIT_REFUSED, CommandFailed, config_option, load, local_url

TIMEOUT_SECONDS = 4.0  # the bot answers within 2.5 s


@click.command()
@click.option("--url", help="Address of the bot [default: the configured host and port].")
@click.option("--deep", is_flag=True, help="Also embed a sentence now.")
@config_option
def health(url: str | None, deep: bool, config_path: Path | None) -> None:
    """Show how each part of the running bot is; exit code 1 when visitors can't be answered."""
    base = (url or local_url(load(config_path))).rstrip("/")
    report = fetch_health(base, deep=deep)
    click.echo(f"{report['status']}  {base}  version {report['version']}")
    for name, component in report["components"].items():
        latency = f"{component['latency']:.0f} ms" if "latency" in component else ""
        details = "  ".join(f"{key}={value}" for key, value in component.get("details", {}).items())
        click.echo(f"  {name:11} {component['status']:10} {latency:>8}  {details}".rstrip())
    if report["status"] == "unhealthy":
        raise SystemExit(EXIT_REFUSED)


def fetch_health(base: str, *, deep: bool) -> dict[str, Any]:
    """The report of the bot at `base`.

    Raises:
        CommandFailed: exit code 1; nothing there, or something else.
    """
    if not base.startswith(("http://", "https://")):
        raise click.UsageError(f"{base} is not an http address")
    opener = build_opener(ProxyHandler({}))  # a proxy of the environment is not asked for localhost
    try:
        with opener.open(
            f"{base}/api/health{'?deep=true' if deep else ''}", timeout=TIMEOUT_SECONDS
        ) as reply:
            body = reply.read()
    except HTTPError as error:
        with error:
            body = error.read()
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise CommandFailed(f"no bot answers at {base}: {reason}", EXIT_REFUSED) from error
    try:
        report = json.loads(body)
        known = {"status", "version", "components"} <= report.keys()
    except (ValueError, AttributeError) as error:
        raise CommandFailed(f"{base} is not a portfolio-bot", EXIT_REFUSED) from error
    if not known:
        raise CommandFailed(f"{base} is not a portfolio-bot", EXIT_REFUSED)
    found: dict[str, Any] = report
    return found
