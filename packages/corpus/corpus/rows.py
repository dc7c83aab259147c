"""Rows of an index file to records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import msgspec

from corpus.errors import IndexDamaged, IndexOutdated
from corpus.model import Chunk, Document, IndexMeta
from corpus.passage import Page, Passage
from corpus.schema import APPLICATION_ID, SCHEMA_VERSION
from corpus.spans import Span


def read_meta(connection: sqlite3.Connection, path: Path) -> IndexMeta:
    """What made the index in `path`.

    Raises:
        IndexDamaged: it is no index, or its meta can't be read.
        IndexOutdated: it has another schema.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        raise IndexDamaged(f"{path.name} is not an index of portfolio-bot: run `chat-bot reindex`")
    if version != SCHEMA_VERSION:
        raise IndexOutdated(
            f"{path.name} has schema {version}, this version needs {SCHEMA_VERSION}: "
            "run `chat-bot reindex`"
        )
    row = connection.execute("SELECT value FROM meta WHERE key = 'index'").fetchone()
    if row is None:
        raise IndexDamaged(f"{path.name} has no meta: run `chat-bot reindex`")
    try:
        return msgspec.json.decode(row[0], type=IndexMeta)
    except msgspec.DecodeError as error:
        raise IndexDamaged(f"{path.name} has unreadable meta: run `chat-bot reindex`") from error


def read_documents(connection: sqlite3.Connection) -> dict[int, Document]:
    """Documents by id, in the order they were written."""
    rows = connection.execute(
        "SELECT id, path, kind, title, url, lang, description, tags, date, translation, generated"
        " FROM document ORDER BY id"
    )
    return {
        row[0]: msgspec.convert(
            dict(
                zip(
                    ("path", "kind", "title", "url", "lang", "description", "tags", "date",
                     "translation", "generated"),
                    (*row[1:7], msgspec.json.decode(row[7]), row[8], row[9], bool(row[10])),
                    strict=True,
                )
            ),
            Document,
        )
        for row in rows
    }  # fmt: skip


def read_passages(
    connection: sqlite3.Connection, documents: dict[int, Document]
) -> dict[int, Passage]:
    """Passages by chunk id, in order."""
    rows = connection.execute(
        "SELECT id, document_id, ordinal, heading, anchor, text, page, section, spans"
        " FROM chunk ORDER BY id"
    )
    return {
        row[0]: Passage(
            chunk_id=row[0],
            document=documents[row[1]],
            chunk=Chunk(
                ordinal=row[2],
                heading=row[3],
                anchor=row[4],
                text=row[5],
                page=row[6],
                section=row[7],
                spans=msgspec.json.decode(row[8], type=tuple[Span, ...]),
            ),
        )
        for row in rows
    }


def read_pages(
    connection: sqlite3.Connection, documents: dict[int, Document], passages: Iterable[Passage]
) -> tuple[Page, ...]:
    """Pages in the order of their passages.

    Raises:
        KeyError: passages and pages contradict each other.
    """
    rows = connection.execute("SELECT document_id, ordinal, tokens FROM page")
    tokens = {(documents[row[0]].path, row[1]): row[2] for row in rows}
    pages = []
    for (path, ordinal), group in groupby(passages, lambda p: (p.document.path, p.chunk.page)):
        own = tuple(group)
        pages.append(
            Page(
                document=own[0].document,
                passages=own,
                ordinal=ordinal,
                tokens=tokens.pop((path, ordinal)),
            )
        )
    if tokens:
        raise KeyError(f"pages without passages: {sorted(tokens)[:3]}")
    return tuple(pages)
