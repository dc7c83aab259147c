"""A bound on work that a busy machine does not change."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most_cpu_seconds(limit: float) -> Iterator[None]:
    """Fail a block that uses more of the CPU; what other processes do does not count.

    Also inside one call of `re`, which looks for signals while it matches. Main thread only.
    """

    def too_long(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it took more than {limit:g} s of the CPU")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
