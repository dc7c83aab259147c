"""Ask a local HTTP server whether it is ready."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

PROBE_SECONDS = 4.0
"""Longer than the bot's own bound of 2.5 s for its whole health answer."""


async def is_healthy(url: str, timeout_seconds: float = PROBE_SECONDS) -> bool:
    """Whether `GET url` answers 200 in time; every failure is False.

    Written on a bare socket: urllib would honour proxy variables of the environment, httpx takes
    0.2 s to import, and all that is needed is the status line.
    """
    try:
        return await asyncio.wait_for(_status(url), timeout_seconds) == 200
    except (OSError, ValueError, IndexError, TimeoutError, asyncio.LimitOverrunError):
        return False


async def _status(url: str) -> int:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        head = f"GET {target or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        await writer.drain()
        line = await reader.readline()
        return int(line.split()[1])
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
