"""Tables of an index file. A change here raises SCHEMA_VERSION; old files are then rebuilt."""

from __future__ import annotations

APPLICATION_ID = 0x50424F54  # "PBOT": tells our file from any other SQLite database
SCHEMA_VERSION = 2

# remove_diacritics 2 folds every accent, so `año` and `ano` are one token (measured, SQLite 3.40);
# the dense side tells them apart. `aliases` holds spoken forms of names the tokenizer destroys (C++,
# C#, .NET), see corpus.text.aliases, and the words a question has for the section's kind, see
# corpus.section_kinds. A vector's part 0 is the whole chunk with its breadcrumb, parts
# 1… are its windows (corpus.windows), part -1 is title, description and heading alone.
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('project', 'doc', 'post')),
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    lang TEXT NOT NULL CHECK (lang IN ('en', 'es')),
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    date TEXT,
    translation TEXT,
    generated INTEGER NOT NULL
);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES document(id),
    ordinal INTEGER NOT NULL,
    heading TEXT NOT NULL,
    anchor TEXT NOT NULL,
    text TEXT NOT NULL,
    page INTEGER NOT NULL,
    section TEXT,
    spans TEXT NOT NULL
);
CREATE INDEX chunk_document ON chunk(document_id, ordinal);
CREATE TABLE page (
    document_id INTEGER NOT NULL REFERENCES document(id),
    ordinal INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (document_id, ordinal)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE chunk_fts USING fts5(
    title, heading, text, aliases,
    content='', tokenize='unicode61 remove_diacritics 2'
);
CREATE TABLE vector (
    chunk_id INTEGER NOT NULL REFERENCES chunk(id),
    part INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (chunk_id, part)
) WITHOUT ROWID;
"""
