"""Stop asking a server that is down: after some failures in a row it rests, then one call probes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class CircuitBreaker:
    """Counts failures in a row. Ask `allows()` before a call, tell it how the call went after."""

    def __init__(
        self,
        *,
        failures: int = 3,
        rest_seconds: float = 5.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._limit = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    def allows(self) -> bool:
        """Whether to call now; after the rest only one call at a time may, until one succeeds."""
        if self._failures < self._limit:
            return True
        if self._probing or self._clock() < self._open_until:
            return False
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """The call went well: everything as before. True if the one before it had failed."""
        recovered = self._failures > 0
        self._failures = 0
        self._probing = False
        return recovered

    def failed(self) -> None:
        """The call failed: it counts, and a probe that fails starts the next rest."""
        self._failures += 1
        self._probing = False
        self._open_until = self._clock() + self._rest_seconds

    def abandoned(self) -> None:
        """The call was cancelled before it could tell anything."""
        self._probing = False
