"""Passages on their way into the index: the texts that get a vector, their hashes, their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from corpus.model import Chunk, Document, breadcrumb, embedded_text
from corpus.settings import Settings
from corpus.token_estimate import estimated_tokens
from corpus.vectors import Vector
from corpus.windows import windows
from corpus.writer import HashedVector, IndexBatch, IndexEntry
from indexer.chunk import chunk_sections
from indexer.document import ParsedDocument
from indexer.embed import PassageEmbedder
from indexer.fingerprint import text_hash
from indexer.pages import form_pages
from indexer.progress import Progress
from indexer.tokens import CountTokens


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk with the exact texts its vectors are made of."""

    chunk: Chunk
    texts: tuple[str, ...]
    """Names alone, the whole and each window of its text, both with the breadcrumb; with prefix."""
    hashes: tuple[str, ...]
    has_crumb: bool
    """False for a passage without any name: then the first text is the whole."""


class CutDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One document cut up."""

    passages: tuple[Passage, ...]
    page_tokens: tuple[int, ...]
    """Tokens of each of its pages, as the chat model counts them."""


def cut_into_passages(
    item: ParsedDocument,
    settings: Settings,
    count: CountTokens,
    count_for_chat: CountTokens = estimated_tokens,
) -> CutDocument:
    """Passages and pages of one document, in order.

    `count` is the embedding model's tokenizer, `count_for_chat` the chat model's.
    """
    document = item.document
    title = document.title
    chunks = chunk_sections(
        item.sections,
        limit=settings.rag.chunk_tokens,
        window=settings.embeddings.window_tokens,
        crumb_title=title,
        count=count,
        # The stack of a project is not somebody's skills, and a list of pages is nobody's work.
        names_kinds=document.kind == "doc" and not document.generated,
    )
    pages = form_pages(title, chunks, limit=settings.rag.page_tokens, count=count_for_chat)
    prefix = settings.embeddings.passage_prefix
    return CutDocument(
        passages=tuple(_passage(document, chunk, prefix) for chunk in pages.chunks),
        page_tokens=pages.tokens,
    )


def _passage(document: Document, chunk: Chunk, prefix: str) -> Passage:
    crumb = breadcrumb(document.title, document.description, chunk.heading)
    # A chunk of signs only has no window; without one the reader would take the whole index for
    # incomplete, so it is its own.
    parts = [
        *([crumb] if crumb else []),
        *(
            embedded_text(document.title, chunk.heading, text)
            for text in (chunk.text, *(windows(chunk.text) or [chunk.text]))
        ),
    ]
    texts = tuple(prefix + part for part in parts)
    hashes = tuple(text_hash(text) for text in texts)
    return Passage(chunk=chunk, texts=texts, hashes=hashes, has_crumb=bool(crumb))


def vectors_of(
    passages: Sequence[Passage],
    earlier: dict[str, Vector],
    embedder: PassageEmbedder,
    progress: Progress,
) -> tuple[dict[str, Vector], int]:
    """A vector for every text hash, and how many passages needed the embedding server.

    Raises:
        EmbedderUnavailable, EmbeddingRejected: see corpus.errors.
    """
    wanted = {key: text for p in passages for key, text in zip(p.hashes, p.texts, strict=True)}
    vectors = {key: earlier[key] for key in wanted if key in earlier}
    missing = {key: text for key, text in wanted.items() if key not in vectors}
    progress.begin("embedding", len(missing))
    fresh = embedder.embed(list(missing.values()), progress.advance)
    vectors.update(zip(missing, fresh, strict=True))
    return vectors, sum(any(key in missing for key in p.hashes) for p in passages)


def batch(item: ParsedDocument, cut: CutDocument, vectors: dict[str, Vector]) -> IndexBatch:
    """One document ready to be stored; with no `vectors` at all it is found by keywords only."""
    return IndexBatch(
        document=item.document,
        entries=tuple(_entry(passage, vectors) for passage in cut.passages),
        page_tokens=cut.page_tokens,
    )


def _entry(passage: Passage, vectors: dict[str, Vector]) -> IndexEntry:
    whole = passage.hashes[passage.has_crumb]
    if not vectors:
        return IndexEntry(chunk=passage.chunk, text_hash=whole, vector=None)
    hashed = [HashedVector(text_hash=part, vector=vectors[part]) for part in passage.hashes]
    crumb = hashed.pop(0) if passage.has_crumb else None
    return IndexEntry(
        chunk=passage.chunk,
        text_hash=whole,
        vector=hashed[0].vector,
        windows=tuple(hashed[1:]),
        crumb=crumb,
    )
