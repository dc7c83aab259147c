"""The pointer file that says which index is in service, moved atomically.

`current.json` names one `index-<id>.db` beside it with its size and SHA-256. Readers look at the
pointer only; an index file that no pointer names does not exist for them, so whatever a killed
indexer leaves behind is never visible.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from corpus.durable import replace_file
from corpus.errors import IndexDamaged, IndexMissing

POINTER_NAME = "current.json"
INDEX_PATTERN = "index-*.db"
KEPT_OLD_INDEXES = 2  # enough to roll back by hand; older ones are removed after a publish


class Pointer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of `current.json`."""

    index: str
    size_bytes: int
    sha256: str
    built_at: str


def read_pointer(folder: Path) -> Pointer:
    """The pointer in `folder`.

    Raises:
        IndexMissing: there is none.
        IndexDamaged: it can't be read or names a file outside the folder.
    """
    path = folder / POINTER_NAME
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise IndexMissing(f"no index in {folder}: build one with `chat-bot reindex`") from error
    except OSError as error:
        raise IndexDamaged(
            f"{path} can't be read by uid {os.getuid()}: {error.strerror}"
        ) from error
    try:
        pointer = msgspec.json.decode(raw, type=Pointer)
    except msgspec.DecodeError as error:
        raise IndexDamaged(
            f"{path} is not a pointer file ({error}): run `chat-bot reindex`"
        ) from error
    if Path(pointer.index).name != pointer.index:
        raise IndexDamaged(
            f"{path} names a file outside its folder ({pointer.index!r}): run `chat-bot reindex`"
        )
    return pointer


def write_pointer(folder: Path, pointer: Pointer) -> None:
    """Replace the pointer atomically and durably."""
    replace_file(
        folder / POINTER_NAME,
        msgspec.json.encode(pointer) + b"\n",
        temporary=folder / f".{POINTER_NAME}.{os.getpid()}",
    )


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex, read in pieces of 1 MiB."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
