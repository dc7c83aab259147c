"""State files on disk: names, sums, and writes that are whole or not there."""

from __future__ import annotations

import hashlib
import re
import secrets
import stat
from pathlib import Path

import msgspec
from msgspec import Struct

from corpus.durable import replace_file

NAME = re.compile(r"[pct]-[0-9a-f]{32}")
"""p: a page's state, c: a conversation's, t: being written. Nothing else in the folder is touched."""
STATE, NOTE = ".kv", ".json"
PIECE_BYTES = 1 << 20


class Note(Struct, frozen=True, kw_only=True):
    """What stands beside a page's state; without it the state does not count."""

    name: str
    fingerprint: str
    bytes: int
    digest: str
    """BLAKE2b of the file, 64 hex digits."""
    tokens: int
    created: int


class FileIdentity(Struct, frozen=True):
    """The same as long as nobody has written to the file or put another in its place."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def new_name(kind: str) -> str:
    """A name nobody can guess, for kind `c` or `t`."""
    return f"{kind}-{secrets.token_hex(16)}"


def identity(path: Path) -> FileIdentity:
    """Of a regular file; raises OSError, also where it is a link or something else."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise FileNotFoundError(f"{path.name} is not a file")
    return FileIdentity(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def digest(path: Path) -> str:
    """BLAKE2b of the content; 40 ms for the 32 MB of a page with a 1.5B model. Raises OSError."""
    total = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            total.update(piece)
    return total.hexdigest()


def write_note(folder: Path, note: Note) -> None:
    """Put the note in place at once; raises OSError."""
    replace_file(
        folder / (note.name + NOTE),
        msgspec.json.encode(note),
        temporary=folder / (new_name("t") + NOTE),
    )


def read_note(path: Path) -> Note | None:
    """The note at `path` where it is one and belongs to that name."""
    try:
        note = msgspec.json.decode(path.read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError):
        return None
    return note if note.name == path.stem else None
