"""One JSON document of a running bot, by the standard library alone: a health check must start quickly."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

import click

from bot.cli.options import EXIT_REFUSED, CommandFailed

FORBIDDEN = 403


def fetch_document(
    base: str,
    path: str,
    keys: AbstractSet[str],
    *,
    timeout_seconds: float,
    post: bool = False,
    forbidden: str = "is not a portfolio-bot",
) -> dict[str, Any]:
    """The document at `path` of the bot at `base`, whatever its status; it has all of `keys`.

    Raises:
        CommandFailed: exit code 1; nothing there, something else, or a 403, which `forbidden` tells.
        click.UsageError: `base` is no http address.
    """
    if not base.startswith(("http://", "https://")):
        raise click.UsageError(f"{base} is not an http address")
    opener = build_opener(ProxyHandler({}))  # a proxy of the environment is not asked for localhost
    request = Request(f"{base}{path}")  # noqa: S310  (checked above)
    if post:
        request = Request(  # noqa: S310  (checked above)
            f"{base}{path}", data=b"{}", headers={"content-type": "application/json"}
        )
    try:
        with opener.open(request, timeout=timeout_seconds) as reply:
            body = reply.read()
    except HTTPError as error:
        with error:
            body = error.read()
        if error.code == FORBIDDEN:
            raise CommandFailed(f"{base} {forbidden}", EXIT_REFUSED) from error
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise CommandFailed(f"no bot answers at {base}: {reason}", EXIT_REFUSED) from error
    try:
        found: dict[str, Any] = json.loads(body)
        known = keys <= found.keys()
    except (ValueError, AttributeError) as error:
        raise CommandFailed(f"{base} is not a portfolio-bot", EXIT_REFUSED) from error
    if not known:
        raise CommandFailed(f"{base} is not a portfolio-bot", EXIT_REFUSED)
    return found
