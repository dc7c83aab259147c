"""Clocks for tests: time passes when told to, however slow the machine is."""

from __future__ import annotations

from time import monotonic


class Clock:
    """Seconds that pass when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now

    def nanoseconds(self) -> int:
        """The same for what counts in nanoseconds."""
        return int(self.now * 1_000_000_000)


class AheadClock:
    """Real seconds plus those a test adds, for what also measures how long a call really took."""

    ahead = 0.0

    def __call__(self) -> float:
        return monotonic() + self.ahead
