"""The search index in service, the embedder of questions, and the job that builds the index."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from bot.chat.calibrations import OwnCalibration
from corpus.reader import Index
from corpus.vectors import Vector


class QueryEmbedder(Protocol):
    """Embeds questions. Every failure is a corpus.errors.EmbeddingError."""

    async def embed_query(self, text: str) -> Vector:
        """Unit vector of a question (the adapter adds the prefix)."""
        ...

    async def probe(self) -> Vector:
        """Unit vector of corpus.model.PROBE_TEXT: which model is behind the endpoint?"""
        ...


class IndexState(Struct, frozen=True, kw_only=True):
    """The index in service."""

    index: Index | None
    problem: str | None
    """Why there is none, or why search is by keywords only: one line for logs and health."""
    dense: bool
    """Whether the vectors may be compared with the embedder's."""
    calibration: OwnCalibration | None = None
    """The gate fitted to this content and embedder; without it the shipped one decides."""
    calibration_note: str | None = None
    """Why there is none, or what has changed since it was fitted: one line for logs and health."""


class IndexSource(Protocol):
    """Holds the opened index and swaps it when the pointer moves."""

    def lease(self) -> IndexLease:
        """The index in service, kept open until the lease is released."""
        ...

    def state(self) -> IndexState:
        """What health and info report."""
        ...


class IndexLease(Protocol):
    """`with source.lease() as state:` keeps that index open though another is published."""

    def __enter__(self) -> IndexState: ...

    def __exit__(self, *_: object) -> None: ...


class ReindexReport(Struct, frozen=True, kw_only=True):
    """What `/api/reindex` answers."""

    indexed_files: int
    total_chunks: int
    duration_ms: int


class Reindexer(Protocol):
    """Runs the indexer."""

    async def run(self) -> ReindexReport:
        """Build and publish; raise ReindexFailed with the owner's message."""
        ...
