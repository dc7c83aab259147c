"""A volume that is full, and the moment at which a program opens a file."""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

IN_OPEN = 0x20
HEAD_BYTES = 16
"""Of an inotify event: watch, mask, cookie, length of the name."""
LOOK_MS = 50
FILLER = "filler"


@contextmanager
def small_volume(folder: Path, megabytes: int) -> Iterator[bool]:
    """A tmpfs at `folder`, made only where this user may; whether it is there."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(folder: Path, leave_bytes: int) -> Iterator[None]:
    """So much room is left on the folder's volume while the block runs."""
    filler = folder / FILLER
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - leave_bytes)
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def at_opening(folder: Path, pattern: str, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in the moment somebody opens a file there, once; Linux only."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init()
    assert watch >= 0
    assert libc.inotify_add_watch(watch, os.fsencode(folder), IN_OPEN) >= 0
    over = threading.Event()

    def look() -> None:
        poll = select.poll()
        poll.register(watch, select.POLLIN)
        while not over.is_set():
            if poll.poll(LOOK_MS) and any(
                Path(name).match(pattern) for name in _names(os.read(watch, 65_536))
            ):
                act()
                return

    thread = threading.Thread(target=look, name="watch")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        os.close(watch)


def _names(events: bytes) -> Iterator[str]:
    while events:
        length = int.from_bytes(events[12:HEAD_BYTES], "little")
        yield os.fsdecode(events[HEAD_BYTES : HEAD_BYTES + length].rstrip(b"\0"))
        events = events[HEAD_BYTES + length :]
