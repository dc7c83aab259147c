"""Lengths are worked out for questions about time, and cost no token where only a name is asked."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.chat.context import Context
from bot.chat.found import Found
from bot.chat.timing_notes import time_notes
from corpus.model import Language
from corpus.spans import Span
from tests.retrieved import retrieved
from tests.small_index import page, small_index, toward

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("question", "language", "notes"),
    [
        ("How long did you work for Metrimex?", "en", 1),
        ("¿Cuánto tiempo trabajaste en Metrimex?", "es", 1),
        ("Which companies have you worked for?", "en", 0),
        ("¿En qué empresas has trabajado?", "es", 0),
        ("How do customers pay?", "en", 0),
    ],
)
def test_only_a_question_about_time_has_notes(
    tmp_path: Path, question: str, language: Language, notes: int
) -> None:
    index = small_index(tmp_path, page("docs/cv.md", "Metrimex", vector=toward(1)))
    passage = index.passage(int(index.chunk_ids[0]))
    span = Span(text="Jul 2024 – Jun 2026", start="2024-07", end="2026-06", entry="Metrimex")
    chunk = replace(passage.chunk, section="experience", spans=(span,))
    context = Context(prefix=(replace(passage, chunk=chunk),), found=(1,), shared=True)
    told = time_notes(Found(index=index, retrieved=retrieved(question)), context, language, TODAY)
    assert len(told) == notes
    if notes:
        assert told[0].text.startswith("[1] ")
        assert told[0].numbers == (1,)
        assert ("2 years" if language == "en" else "2 años") in told[0].text
    index.close()
