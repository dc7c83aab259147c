"""Small published indexes for tests: a few pages with the vectors a test gives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from corpus.model import Chunk, Document, EmbeddingIdentity, IndexMeta, Kind, Language
from corpus.reader import Index, open_index
from corpus.schema import SCHEMA_VERSION
from corpus.vectors import Vector
from corpus.writer import HashedVector, IndexBatch, IndexEntry, publish, writer_lock

DIMENSION = 8


def toward(*weights: float) -> Vector:
    """Unit vector with these first components."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(weights)] = weights
    return vector / np.float32(np.linalg.norm(vector))


@dataclass(frozen=True)
class Part:
    """One chunk; its only window has the vector of the whole."""

    text: str
    vector: Vector | None = None
    heading: str = ""
    anchor: str = ""
    page: int = 0


@dataclass(frozen=True)
class Page:
    """One document: `path` as in the index, `projects/shop.md`."""

    path: str
    parts: tuple[Part, ...]
    lang: Language = "en"
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    date: str | None = None
    translation: str | None = None
    generated: bool = False
    kind: Kind = field(default="post")

    def document(self) -> Document:
        """As the index holds it."""
        slug = self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        return Document(
            path=self.path,
            kind=self.kind,
            title=self.title or slug,
            url="" if self.generated else f"/{self.kind}s/{slug}",
            lang=self.lang,
            description=self.description,
            tags=self.tags,
            date=self.date,
            translation=self.translation,
            generated=self.generated,
        )


def page(path: str, *texts: str, vector: Vector | None = None, **fields: object) -> Page:
    """A page whose chunks all have the same vector."""
    return Page(path, tuple(Part(text, vector) for text in texts), **fields)  # type: ignore[arg-type]


def small_index(folder: Path, *pages: Page, built_at: str = "2026-01-01T00:00:00Z") -> Index:
    """Publish the pages in `folder` and open the index; the caller closes it."""
    batches = tuple(_batch(entry) for entry in pages)
    entries = [entry for batch in batches for entry in batch.entries]
    vectors = sum(entry.vector is not None for entry in entries)
    meta = IndexMeta(
        schema_version=SCHEMA_VERSION,
        chunker_version=1,
        embedding=EmbeddingIdentity(
            model="multilingual-e5-small", dimension=DIMENSION, query_prefix="", passage_prefix=""
        )
        if vectors
        else None,
        documents=len(pages),
        chunks=len(entries),
        vectors=vectors,
        source_hash="0" * 64,
        built_at=built_at,
    )
    with writer_lock(folder):
        publish(folder, meta, batches)
    return open_index(folder)


def _batch(entry: Page) -> IndexBatch:
    return IndexBatch(
        document=entry.document(),
        entries=tuple(
            IndexEntry(
                chunk=Chunk(
                    heading=part.heading,
                    anchor=part.anchor,
                    text=part.text,
                    ordinal=ordinal,
                    page=part.page,
                ),
                text_hash=f"{entry.path}-{ordinal}",
                vector=part.vector,
                windows=()
                if part.vector is None
                else (HashedVector(text_hash=f"{entry.path}-{ordinal}-w", vector=part.vector),),
            )
            for ordinal, part in enumerate(entry.parts)
        ),
    )
