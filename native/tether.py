"""Become another program that can't outlive its parent: `python tether.py PARENT PROGRAM ARGS…`.

On Linux the kernel then kills the program when the process PARENT dies, be it by `kill -9`.
Elsewhere it only becomes the program. The request survives exec, the process id stays the same.

A program of its own instead of subprocess's preexec_fn: that runs Python between fork and exec,
which is unsafe beside threads and warned about since Python 3.12.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
CANNOT_START = 127


def tethered(command: tuple[str, ...]) -> tuple[str, ...]:
    """`command`, tied to the life of this process."""
    # Isolated, without site-packages: it starts in some 15 ms.
    return (sys.executable, "-I", "-S", str(Path(__file__)), str(os.getpid()), *command)


def main(parent: int, command: list[str]) -> int:
    """Tie and become; returns only when the program can't be started."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the line above
            return CANNOT_START
    # Python ignores these for itself; ignored signals stay ignored after exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606  (no shell is wanted)
    except OSError as error:
        print(f"{command[0]} can't be started: {error.strerror}", file=sys.stderr)
    return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
