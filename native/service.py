"""What the supervisor keeps running, and how it says why that did not work."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from native.child import Child
from native.console import readable


class ProcessFailed(Exception):
    """Something that everything else needs could not be started or kept; shown as it is."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A process that is to stay."""

    name: str
    command: tuple[str, ...]
    health_url: str
    """Answers 200 once it is ready; anything else, or nothing, is "not yet"."""
    ready_seconds: float = 120.0
    environment: Mapping[str, str] = field(default_factory=dict)
    llama: bool = False
    """Its log is llama-server's: only warnings and errors are worth a line on the terminal."""


def ended(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def last_words(child: Child, log: Path, what: str) -> str:
    lines = "\n".join(f"    {readable(line)}" for line in child.tail)
    return f"{what}. Its last lines (all of them: {log}):\n{lines or '    (it said nothing)'}"
