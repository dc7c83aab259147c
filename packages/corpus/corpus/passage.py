"""What a reader of the index hands out: passages, and the pages they stand on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from corpus.model import Chunk, Document

KEY_CHARS = 24  # 96 bits of SHA-256


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk together with the document it comes from."""

    chunk_id: int
    document: Document
    chunk: Chunk


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A document, or a run of its neighbouring passages: what the model reads at once."""

    document: Document
    passages: tuple[Passage, ...]
    """In the document's order; at least one."""
    ordinal: int
    """Place within its document, from 0."""
    tokens: int
    """Tokens of `text` as the chat model's tokenizer counts them, or a safe estimate above."""

    @property
    def text(self) -> str:
        """Title, headings and texts, one after the other; the same bytes for the same content."""
        return page_text(self.document.title, [passage.chunk for passage in self.passages])

    @property
    def key(self) -> str:
        """Short stable hash of `text`, 24 hex digits: the same whatever the file and address are."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:KEY_CHARS]


def page_text(title: str, chunks: Sequence[Chunk]) -> str:
    """The text of a page; a heading stands once above all passages of its section."""
    parts = [title] if title else []
    above = ""
    for chunk in chunks:
        is_named = chunk.heading and chunk.heading != above
        parts.append(f"{chunk.heading}\n{chunk.text}" if is_named else chunk.text)
        above = chunk.heading
    return "\n\n".join(parts)
