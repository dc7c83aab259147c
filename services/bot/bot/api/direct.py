"""Whether a request came straight to the bot: owner's routes are not for what a gateway lets through."""

from __future__ import annotations

from collections.abc import Container

# Whoever forwards a request adds one of these.
FORWARDED = ("x-forwarded-for", "x-forwarded-host", "forwarded", "via", "x-real-ip")


def came_through_proxy(headers: Container[str]) -> bool:
    """Whether the headers show a gateway between caller and bot."""
    return any(name in headers for name in FORWARDED)
