"""Tell the owner how far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

LINE_EVERY_SECONDS = 10.0


class Progress(Protocol):
    """What a run reports to."""

    def begin(self, label: str, total: int) -> None:
        """A stage of `total` steps starts; the one before is over."""
        ...

    def advance(self, steps: int) -> None:
        """So many steps more are done."""
        ...


class SilentProgress:
    """Says nothing: for tests and callers that only want the report."""

    def begin(self, label: str, total: int) -> None:
        """Ignored."""

    def advance(self, steps: int) -> None:
        """Ignored."""


class LineProgress:
    """At most one line in ten seconds, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._label, self._total, self._done = "", 0, 0
        self._told_at = 0.0

    def begin(self, label: str, total: int) -> None:
        """Start a stage and say so."""
        self._label, self._total, self._done = label, total, 0
        self._told_at = time.monotonic()
        print(f"{label} ({total})", file=self._stream, flush=True)

    def advance(self, steps: int) -> None:
        """Count, and speak when the last line is old enough."""
        self._done += steps
        if time.monotonic() - self._told_at >= LINE_EVERY_SECONDS:
            self._told_at = time.monotonic()
            print(f"{self._label} {self._done}/{self._total}", file=self._stream, flush=True)


class TerminalProgress(AbstractContextManager["TerminalProgress"]):
    """A bar on stderr; use it as a context manager so that the cursor comes back."""

    def __init__(self) -> None:
        self._bar = RichProgress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._task: TaskID | None = None

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, label: str, total: int) -> None:
        """Replace the bar."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(label, total=total)

    def advance(self, steps: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._bar.advance(self._task, steps)


def is_terminal() -> bool:
    """True when a bar on stderr would be seen."""
    return sys.stderr.isatty()
