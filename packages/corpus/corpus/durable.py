"""Files that are whole or not there, and stay so when the power goes (ALICE, OSDI'14)."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's renames, are on the disk; raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes, *, temporary: Path) -> None:
    """Put `content` at `path` atomically and durably; a reader finds the old file or the new one.

    `temporary` lies in the same folder, under a name that whoever cleans up there knows; nothing is
    left under it.

    Raises:
        OSError: the disk refused; what stood at `path` still does.
    """
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
