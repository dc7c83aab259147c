"""Build a new index file beside the one in service, and publish it in one step.

A published index never changes: it is written under a name of its own with a rollback journal,
checked, fsynced, and only then does the pointer move. Killed at any point, the old index stays whole
and in use (docs/decisions/0002-published-index.md).
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import msgspec

from corpus.durable import sync
from corpus.errors import CorpusError, IndexBusy, IndexDamaged
from corpus.model import Chunk, Document, IndexMeta
from corpus.passage import page_text
from corpus.pointer import (
    INDEX_PATTERN,
    KEPT_OLD_INDEXES,
    POINTER_NAME,
    Pointer,
    file_sha256,
    read_pointer,
    write_pointer,
)
from corpus.schema import APPLICATION_ID, SCHEMA
from corpus.section_kinds import kind_words
from corpus.text import aliases
from corpus.token_estimate import estimated_tokens
from corpus.vectors import Vector, encode

LOCK_NAME = ".indexer.lock"


class HashedVector(msgspec.Struct, frozen=True, kw_only=True):
    """A vector and the hash of the exact text it was made of."""

    text_hash: str
    vector: Vector


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk ready to be stored."""

    chunk: Chunk
    text_hash: str
    """Hash of the exact text embedded; the key under which the next run reuses the vector."""
    vector: Vector | None
    """Of the whole chunk with its breadcrumb; None when the embedding server was down."""
    windows: tuple[HashedVector, ...] = ()
    """Of each window of its plain text, in order (corpus.windows)."""
    crumb: HashedVector | None = None
    """Of title, description and heading path alone; None where the chunk has none of them."""


class IndexBatch(msgspec.Struct, frozen=True, kw_only=True):
    """One document with its chunks."""

    document: Document
    entries: tuple[IndexEntry, ...]
    page_tokens: tuple[int, ...] = ()
    """Tokens of each of its pages, in order; estimated when they are left out."""


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's only writer lock; the kernel frees it when the process dies.

    Raises:
        IndexBusy: another process holds it.
        CorpusError: the folder can't be created or written (its message names uid and path).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise CorpusError(
            f"uid {os.getuid()} can't write to {folder}: {error.strerror}; "
            "give the folder to that user or set rag.index_path"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IndexBusy(f"another indexer is at work in {folder}: wait for it") from error
        yield
    finally:
        os.close(descriptor)


def publish(folder: Path, meta: IndexMeta, batches: Sequence[IndexBatch]) -> Pointer:
    """Write, check and put into service a new index. Call it under `writer_lock`.

    Raises:
        OSError, sqlite3.Error: the disk refused; nothing published has changed.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    temporary = folder / f".building-{stamp}.db"
    final = folder / f"index-{stamp}-{meta.source_hash[:8]}.db"
    try:
        _write(temporary, meta, batches)
        pointer = Pointer(
            index=final.name,
            size_bytes=temporary.stat().st_size,
            sha256=file_sha256(temporary),
            built_at=meta.built_at,
        )
        temporary.replace(final)
        sync(folder)
        write_pointer(folder, pointer)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(temporary.name + "-journal").unlink(missing_ok=True)
    return pointer


def remove_leftovers(folder: Path) -> list[str]:
    """Delete what killed runs left behind and all but the last old indexes. Under the lock only."""
    try:
        current = read_pointer(folder).index
    except CorpusError:
        current = ""
    removed = []
    old = sorted((p for p in folder.glob(INDEX_PATTERN) if p.name != current), reverse=True)
    unfinished = [*folder.glob(".building-*"), *folder.glob(f".{POINTER_NAME}.*")]
    for path in [*old[KEPT_OLD_INDEXES:], *unfinished]:
        path.unlink(missing_ok=True)
        removed.append(path.name)
    return removed


def _write(path: Path, meta: IndexMeta, batches: Sequence[IndexBatch]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={meta.schema_version}")
        # One transaction: in autocommit every CREATE is a sync of its own (180 ms on disk, 4 in one).
        connection.executescript("BEGIN;" + SCHEMA)
        for batch in batches:
            document_id = _insert_document(connection, batch.document)
            for entry in batch.entries:
                _insert_entry(connection, document_id, batch.document, entry)
            _insert_pages(connection, document_id, batch)
        connection.execute(
            "INSERT INTO meta VALUES ('index', ?)", (msgspec.json.encode(meta).decode(),)
        )
        connection.execute("COMMIT")
        connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('optimize')")
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            raise IndexDamaged(f"the new index fails SQLite's own check: {verdict}")
    sync(path)


def _insert_document(connection: sqlite3.Connection, document: Document) -> int:
    cursor = connection.execute(
        "INSERT INTO document (path, kind, title, url, lang, description, tags, date, translation,"
        " generated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.path, document.kind, document.title, document.url, document.lang,
            document.description, msgspec.json.encode(document.tags).decode(), document.date,
            document.translation, int(document.generated),
        ),
    )  # fmt: skip
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _insert_entry(
    connection: sqlite3.Connection, document_id: int, document: Document, entry: IndexEntry
) -> None:
    chunk = entry.chunk
    cursor = connection.execute(
        "INSERT INTO chunk (document_id, ordinal, heading, anchor, text, page, section, spans)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document_id, chunk.ordinal, chunk.heading, chunk.anchor, chunk.text, chunk.page,
            chunk.section, msgspec.json.encode(chunk.spans).decode(),
        ),
    )  # fmt: skip
    spoken = aliases(f"{document.title} {chunk.heading} {chunk.text}")
    spoken += kind_words(chunk.section) if chunk.section else []
    connection.execute(
        "INSERT INTO chunk_fts (rowid, title, heading, text, aliases) VALUES (?, ?, ?, ?, ?)",
        (cursor.lastrowid, document.title, chunk.heading, chunk.text, " ".join(spoken)),
    )
    if entry.vector is not None:
        whole = HashedVector(text_hash=entry.text_hash, vector=entry.vector)
        connection.executemany(
            "INSERT INTO vector (chunk_id, part, text_hash, dimension, data) VALUES (?, ?, ?, ?, ?)",
            (
                (cursor.lastrowid, part, item.text_hash, item.vector.size, encode(item.vector))
                for part, item in enumerate((entry.crumb, whole, *entry.windows), start=-1)
                if item is not None
            ),
        )


def _insert_pages(connection: sqlite3.Connection, document_id: int, batch: IndexBatch) -> None:
    tokens = batch.page_tokens
    if not tokens:
        chunks = [entry.chunk for entry in batch.entries]
        tokens = tuple(
            estimated_tokens(page_text(batch.document.title, list(own)))
            for _, own in groupby(chunks, lambda chunk: chunk.page)
        )
    connection.executemany(
        "INSERT INTO page (document_id, ordinal, tokens) VALUES (?, ?, ?)",
        ((document_id, ordinal, count) for ordinal, count in enumerate(tokens)),
    )
