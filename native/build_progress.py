"""Run a build and show only how far it is: a bar on a terminal, a line each 10 % in a log."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections import deque
from typing import TextIO

from native.llama_errors import BuildFailed

PERCENT = re.compile(r"^\[ *(\d{1,3})%\]")
STEP_PERCENT = 10
BAR_CELLS = 30
# Lines of the build's output kept for the error message.
KEPT_LINES = 200


def run_with_progress(command: list[str], label: str, stream: TextIO | None = None) -> None:
    """Run ``command`` and follow its ``[ 42%]`` lines; raises `BuildFailed` with what went wrong.

    Whatever ends this function, nothing of the build goes on running.
    """
    out = stream if stream is not None else sys.stderr
    kept: deque[str] = deque(maxlen=KEPT_LINES)
    shown = _Shown(label, out)
    # A session of its own: make and its compilers can be ended together, by their group.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        for line in process.stdout or ():
            kept.append(line.rstrip())
            match = PERCENT.match(line)
            if match:
                shown.show(int(match[1]))
        code = process.wait()
    finally:
        _end(process)
        shown.close()
    if code != 0:
        raise BuildFailed(f"{label} failed with code {code}: {_reason(list(kept))}")


class _Shown:
    """The progress as it was last shown; percentages only ever grow."""

    def __init__(self, label: str, out: TextIO) -> None:
        self._label = label
        self._out = out
        self._terminal = out.isatty()
        self._last = -1

    def show(self, percent: int) -> None:
        step = 1 if self._terminal else STEP_PERCENT
        if percent // step <= self._last // step:
            return
        self._last = percent
        if self._terminal:
            full = BAR_CELLS * percent // 100
            bar = "#" * full + "." * (BAR_CELLS - full)
            self._out.write(f"\r{self._label} [{bar}] {percent:3d} %")
        else:
            self._out.write(f"{self._label}  {percent // step * step:3d} %\n")
        self._out.flush()

    def close(self) -> None:
        if self._terminal and self._last >= 0:
            self._out.write("\n")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _reason(lines: list[str]) -> str:
    """Return the first line that says error, or the last one."""
    for line in lines:
        if re.search(r"\berror\b|No space left|Killed", line, re.IGNORECASE):
            return line.strip()
    return lines[-1].strip() if lines else "no output"
