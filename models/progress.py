"""One way to show how far something is: a bar on a terminal, a line each 10 % in a log."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

Unit = Literal["MB", "wheels"]
STEP_PERCENT = 10


class Progress:
    """Shows ``done`` of ``total`` while it is used as a context manager.

    ``total`` and every count are in bytes for the unit ``MB`` and plain numbers otherwise.
    """

    def __init__(
        self,
        label: str,
        total: int,
        *,
        unit: Unit = "MB",
        done: int = 0,
        stream: TextIO | None = None,
    ) -> None:
        self._label = label
        self._total = max(total, 1)
        self._unit = unit
        self._done = done
        self._stream = stream if stream is not None else sys.stderr
        self._next_percent = (self._percent() // STEP_PERCENT + 1) * STEP_PERCENT
        self._bar: RichProgress | None = None

    def __enter__(self) -> Progress:
        if self._stream.isatty():
            self._bar = _bar(self._stream, self._unit)
            self._bar.start()
            self._bar.add_task(self._label, total=self._total, completed=self._done)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def set(self, done: int) -> None:
        """Say that ``done`` of the total are there; going back is allowed (a restart)."""
        self._done = done
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
            return
        if self._percent() < self._next_percent:
            return
        self._next_percent = (self._percent() // STEP_PERCENT + 1) * STEP_PERCENT
        self._stream.write(f"{self._label}  {self._percent():3d} %  {self._counts()}\n")
        self._stream.flush()

    def advance(self, count: int) -> None:
        """Say that ``count`` more are there."""
        self.set(self._done + count)

    def _percent(self) -> int:
        return min(100, 100 * self._done // self._total)

    def _counts(self) -> str:
        if self._unit == "wheels":
            return f"{self._done} of {self._total} wheels"
        return f"{self._done / 1e6:.0f} of {self._total / 1e6:.0f} MB"


def _bar(stream: TextIO, unit: Unit) -> RichProgress:
    # Imported here: rich takes 0.1 s, and a run that finds everything in place shows no bar.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as RichProgress

    count: list[ProgressColumn] = [MofNCompleteColumn(), TextColumn(unit)]
    if unit == "MB":
        count = [DownloadColumn(), TransferSpeedColumn()]
    return RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        *count,
        TimeRemainingColumn(),
        console=Console(file=stream),
    )
