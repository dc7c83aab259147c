"""Puts a broken index into service, or the good one back; run inside a container of the indexer.

python spoilt_index.py CASE        a key of CASES
python spoilt_index.py restore     what the first call found
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

FOLDER = Path(os.environ["PORTFOLIO_BOT__RAG__INDEX_PATH"])
POINTER = FOLDER / "current.json"
KEPT = Path("/tmp/good-pointer.json")
SPOILT = FOLDER / "index-99990101T000000000000-spoilt.db"
COMPANIONS = ("-wal", "-shm", "-journal")


def put(content: bytes, *, said: bytes | None = None, name: str = SPOILT.name) -> None:
    """A file, and a pointer to it that has the size and sum of `said` (the file itself)."""
    SPOILT.write_bytes(content)
    said = content if said is None else said
    pointer = {**json.loads(KEPT.read_bytes()), "index": name, "size_bytes": len(said),
               "sha256": hashlib.sha256(said).hexdigest()}  # fmt: skip
    move(json.dumps(pointer).encode())


def move(pointer: bytes) -> None:
    """Replace the pointer in one step, as the indexer does."""
    temporary = FOLDER / ".current.json.0"
    temporary.write_bytes(pointer)
    temporary.replace(POINTER)


def edited(good: bytes, *statements: tuple[str, tuple[object, ...]]) -> bytes:
    """The database after these statements."""
    path = Path("/tmp/edited.db")
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as connection:
        for statement, values in statements:
            connection.execute(statement, values)
        connection.commit()
    return path.read_bytes()


def other_model(good: bytes) -> bytes:
    """The same index, said to be made by another embedding model."""
    path = Path("/tmp/edited.db")
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as connection:
        ((value,),) = connection.execute("SELECT value FROM meta WHERE key = 'index'").fetchall()
    meta = json.loads(value)
    meta["embedding"]["model"] = "another-model"
    changed = json.dumps(meta)
    return edited(good, ("UPDATE meta SET value = ? WHERE key = 'index'", (changed,)))


def companions(good: bytes) -> None:
    """What a killed SQLite could leave beside the file: a reader that used it would see wrong rows."""
    name = json.loads(KEPT.read_bytes())["index"]
    for suffix in COMPANIONS:
        (FOLDER / (name + suffix)).write_bytes(b"\x37\x7f\x06\x82" + good[4:8192])
    move(KEPT.read_bytes())


def flipped(good: bytes) -> bytes:
    """One bit of the middle is another one."""
    middle = len(good) // 2
    return good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]


CASES: dict[str, Callable[[bytes], object]] = {
    "truncated": lambda good: put(good[: len(good) // 2], said=good),
    "truncated, sum of what is there": lambda good: put(good[: len(good) // 2]),
    "0 bytes": lambda good: put(b""),
    "one bit": lambda good: put(flipped(good), said=good),
    "other schema": lambda good: put(edited(good, ("PRAGMA user_version = 9999", ()))),
    "no row of a passage": lambda good: put(edited(good, ("DELETE FROM chunk WHERE id = 1", ()))),
    "foreign SQLite file": lambda good: put(edited(b"", ("CREATE TABLE notes (text)", ()))),
    "no SQLite file": lambda good: put(b"not an index" * 1000),
    "other embedding model": lambda good: put(other_model(good)),
    "pointer to nothing": lambda good: put(b"", name="index-of-nobody.db"),
    "pointer out of the folder": lambda good: put(good, name="../etc/passwd"),
    "pointer of garbage": lambda good: move(b"{"),
    "stale companions": companions,
}


def restore() -> None:
    """The good pointer again, and nothing else beside it."""
    move(KEPT.read_bytes())
    SPOILT.unlink(missing_ok=True)
    for suffix in COMPANIONS:
        for path in FOLDER.glob(f"*{suffix}"):
            path.unlink()


if __name__ == "__main__":
    if sys.argv[1] == "cases":
        print(json.dumps(list(CASES)))
    elif sys.argv[1] == "restore":
        restore()
    else:
        if not KEPT.exists():
            KEPT.write_bytes(POINTER.read_bytes())
        CASES[sys.argv[1]]((FOLDER / json.loads(KEPT.read_bytes())["index"]).read_bytes())
