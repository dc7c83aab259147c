"""One hash over everything that shapes an index: when it is equal, there is nothing to do."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from corpus.schema import SCHEMA_VERSION
from corpus.settings import Settings
from corpus.windows import WINDOW_CHARS
from indexer.chunk import CHUNKER_VERSION
from indexer.document import Entry

VECTOR_PARTS = ("crumb", "whole", "windows by paragraph")  # what gets a vector of each passage


def source_hash(entries: Sequence[Entry], settings: Settings) -> str:
    """SHA-256 in hex over paths and bytes of the published files, settings and code versions.

    The day is not part of it: a post whose date has come is a new entry, which is.
    """
    rag, embeddings = settings.rag, settings.embeddings
    shape = {
        "schema": SCHEMA_VERSION,
        "chunker": CHUNKER_VERSION,
        "vectors": VECTOR_PARTS,
        "files": [(entry.path, entry.sha256) for entry in entries],
        "urls": (rag.site_url, rag.project_url, rag.doc_url, rag.post_url),
        "language": rag.default_language,
        "chunk_tokens": rag.chunk_tokens,
        "page_tokens": rag.page_tokens,
        "window_chars": WINDOW_CHARS,
        "window_tokens": embeddings.window_tokens,
        "topics": {lang: list(topics) for lang, topics in sorted(settings.persona.topics.items())},
        "embedding": (
            embeddings.model, embeddings.dimension, embeddings.query_prefix,
            embeddings.passage_prefix, embeddings.pooling, embeddings.sha256,
        ),
    }  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(shape, order="sorted")).hexdigest()


def text_hash(text: str) -> str:
    """Key under which the vector of exactly this text (prefix included) is kept."""
    return hashlib.sha256(text.encode()).hexdigest()
