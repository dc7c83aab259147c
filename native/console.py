"""What the supervisor and its processes say on the terminal: one line each, with its origin."""

from __future__ import annotations

import re
import sys
from typing import TextIO

COLOURS = (36, 35, 33, 32, 34, 96)
"""ANSI foregrounds, given to names in the order in which they appear."""
LLAMA_LEVEL = re.compile(r"^[\d.]+ (?P<level>[EWID]) ")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Console:
    """Writes `chat  │ text` lines; in colour only where a person watches."""

    def __init__(self, stream: TextIO | None = None, *, width: int = 6) -> None:
        """`stream` defaults to stdout; `width` is that of the longest name."""
        self._stream = sys.stdout if stream is None else stream
        self._width = width
        self._colours: dict[str, int] = {}
        self._coloured = self._stream.isatty()

    def line(self, name: str, text: str) -> None:
        """Print one line of a process."""
        label = f"{name:<{self._width}} │"
        if self._coloured:
            colour = self._colours.setdefault(name, COLOURS[len(self._colours) % len(COLOURS)])
            label = f"\x1b[{colour}m{label}\x1b[0m"
        self.say(f"{label} {text}")

    def say(self, text: str = "") -> None:
        """Print one line as it is. A terminal that went away is no reason to stop serving."""
        try:
            print(text, file=self._stream, flush=True)
        except (OSError, ValueError):
            self._coloured = False


def readable(line: str) -> str:
    """A line of another program without the escapes that would move or colour the terminal."""
    return ESCAPES.sub("", line).rstrip()


def severity(line: str) -> str:
    """The level letter of a llama-server line: `E`, `W`, `I` or `D`."""
    match = LLAMA_LEVEL.match(line)
    if match:
        return match["level"]
    # Before its log is set up, a wrong argument is told without prefix.
    return "E" if line.lower().startswith(("error", "terminate called")) else "I"
