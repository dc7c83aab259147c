"""A CV indexed by the real job with a fake embedder, for tests about jobs and their dates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.embedding import EmbeddingClient
from corpus.reader import Index, open_index
from corpus.settings import EmbeddingSettings, RagSettings, Settings
from indexer.job import run
from tests.fake_embedder import FakeEmbedder


def indexed_cv(cv: str, folder: Path, name: str = "cv.md") -> Iterator[Index]:
    """The index of a site with this page alone; closed after use."""
    (folder / "docs").mkdir()
    (folder / "docs" / name).write_text(cv, "utf-8")
    rag = RagSettings(
        data_path=str(folder / "none"), docs_path=str(folder / "docs"),
        posts_path=str(folder / "none"), index_path=str(folder / "index"),
    )  # fmt: skip
    with FakeEmbedder(dimension=8) as fake:
        settings = Settings(rag=rag, embeddings=EmbeddingSettings(endpoint=fake.url, dimension=8))
        with EmbeddingClient(settings.embeddings) as client:
            run(settings, client=client)
    opened = open_index(folder / "index")
    yield opened
    opened.close()
