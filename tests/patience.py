"""How long a test waits for what must happen: reached by a failure only, so a busy machine may take it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE_SECONDS = 60.0


def wait_until(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
    """Return when `condition` holds; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


async def until(condition: Callable[[], Any]) -> None:
    """The same beside other tasks of this loop."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  (a look from outside, at what tells nobody)
            await asyncio.sleep(0.001)
