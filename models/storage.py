"""Files on disk: hash, publish atomically, ask for room before writing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from models.errors import DiskError, ManifestError

# 4 MiB: the sha256 of 1.1 GB takes the same time from 1 MiB on, and memory stays flat.
CHUNK_BYTES = 4 * 1024 * 1024
# Left free on top of what a download needs, so that the index and the logs still fit.
SPARE_BYTES = 64 * 1024 * 1024


def sha256_of(path: Path) -> str:
    """Return the hex sha256 of a file, read in pieces."""
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while piece := file.read(CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def part_of(path: Path) -> Path:
    """Return where the unfinished bytes of ``path`` live."""
    return path.with_name(path.name + ".part")


def publish(part: Path, path: Path) -> None:
    """Make ``part`` durable and rename it to ``path``; a reader sees the old file or the new."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that a kill at any moment leaves the old bytes or the new."""
    part = part_of(path)
    part.write_bytes(data)
    publish(part, path)


def require_room(folder: Path, needed_bytes: int, what: str) -> None:
    """Raise `DiskError` unless ``folder``'s disk can take ``needed_bytes`` and some to spare."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes + SPARE_BYTES:
        raise DiskError(
            f"{what} needs {megabytes(needed_bytes + SPARE_BYTES)} free in {folder}, there are "
            f"{megabytes(free_bytes)}: free some space or pass --dir on another disk"
        )


def megabytes(count_bytes: int) -> str:
    """Return a size as people read it: ``1117 MB`` (10^6 bytes, as the hub shows it)."""
    return f"{count_bytes / 1e6:.0f} MB"


@contextmanager
def locked(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold ``folder`` for one fetch at a time; a second one waits, saying so once.

    The kernel drops the lock with the process, so a killed run never blocks the next.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise ManifestError(
            f"can't write to {folder}: {error.strerror}; pass --dir with a folder of yours"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(f"another fetch is writing to {folder}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
