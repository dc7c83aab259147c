"""Dates and kinds of sections through a whole run: stored, read back, found in the other language."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from corpus.embedding import EmbeddingClient
from corpus.reader import Index, open_index
from corpus.settings import EmbeddingSettings, RagSettings, Settings
from corpus.time_notes import section_notes, span_note
from indexer.job import run
from tests.fake_embedder import FakeEmbedder

CV = """# Curriculum

## Experience

### Metrimex — Platform

Jul 2024 – Jun 2026. Meters for towns.

### Orballo — Backend

Mar 2018 – Dec 2024. Cards.

## Formación

Física, Santiago, 2010–2014.
"""


@pytest.fixture
def index(tmp_path: Path) -> Index:
    for name in ("projects", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "cv.md").write_text(CV)
    (tmp_path / "projects" / "shop.md").write_text("# Shop\n\n## Stack\n\nGo, since 2021.")
    with FakeEmbedder(dimension=32) as fake:
        settings = Settings(
            rag=RagSettings(
                data_path=str(tmp_path / "projects"), docs_path=str(tmp_path / "docs"),
                posts_path=str(tmp_path / "none"), index_path=str(tmp_path / "index"),
            ),
            embeddings=EmbeddingSettings(endpoint=fake.url, model="fake", dimension=32),
        )  # fmt: skip
        with EmbeddingClient(settings.embeddings) as client:
            run(settings, client=client)
    return open_index(tmp_path / "index")


def test_passages_know_their_kind_and_dates(index: Index) -> None:
    chunks = [index.passage(int(number)).chunk for number in index.chunk_ids]
    by_heading = {chunk.heading: chunk for chunk in chunks}
    job = by_heading["Experience — Metrimex — Platform"]
    assert job.section == "experience"
    assert [(s.text, s.start, s.end, s.entry) for s in job.spans] == [
        ("Jul 2024 – Jun 2026", "2024-07", "2026-06", "Metrimex — Platform")
    ]
    assert (
        span_note(job.spans, "es", date(2026, 11, 30)) == "Duración: 2 años (Jul 2024 – Jun 2026)"
    )
    assert by_heading["Formación"].section == "education"
    assert [span.start for span in by_heading["Stack"].spans] == ["2021"]
    together = section_notes(chunks, "experience", "en", date(2026, 11, 30))
    assert together[0].text.startswith("Experience in total: 8 years 4 months (2 entries")
    index.close()


def test_the_text_a_visitor_reads_stays_as_written(index: Index) -> None:
    texts = [index.passage(int(number)).chunk.text for number in index.chunk_ids]
    assert "Jul 2024 – Jun 2026. Meters for towns." in texts
    assert not any("2 years" in text for text in texts)
    index.close()


@pytest.mark.parametrize("word", ["empresas", "trabajado", "companies", "worked", "employment"])
def test_jobs_are_found_by_words_they_do_not_hold(index: Index, word: str) -> None:
    found = [index.passage(number).chunk.heading for number, _ in index.bm25([word], 10)]
    assert sorted(found) == ["Experience — Metrimex — Platform", "Experience — Orballo — Backend"]
    index.close()


def test_headings_of_projects_and_summaries_announce_nothing(index: Index) -> None:
    """Where the shop has a stack, nobody has skills."""
    found = [index.passage(number).document.path for number, _ in index.bm25(["habilidades"], 10)]
    assert found == []
    assert {
        passage.document.kind
        for passage in map(index.passage, map(int, index.chunk_ids))
        if passage.chunk.section
    } == {"doc"}
    index.close()
