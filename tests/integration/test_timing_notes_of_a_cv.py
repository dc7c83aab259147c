"""What the model is told about time for a question that names jobs of an indexed CV."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from bot.chat.attribution import Attribution
from bot.chat.context import Context, Note
from bot.chat.found import Found
from bot.chat.sources import full_text
from bot.chat.timing_notes import time_notes
from corpus.model import Language
from corpus.reader import Index
from tests.indexed_cv import indexed_cv
from tests.retrieved import retrieved

CV = """# Curriculum

## Experience

### Metrimex — Platform engineer

Jul 2024 – Jun 2026. Meters for towns.

### Banco Orballo — Senior backend engineer

Mar 2018 – Dec 2020. Cards, with the backend half.

### Agencia Pistilo — Frontend developer, later frontend lead

Sep 2016 – Nov 2020. Sites of museums.
"""
METRIMEX, ORBALLO, PISTILO = "2 years (", "2 years 10 months (", "4 years 3 months ("
JOBS = ("Jul 2024", "Mar 2018", "Sep 2016")
BOTH = "At the same time: Banco Orballo"


LISTED = """# Currículum

## Experiencia

- Taller del Puerto, diseñadora, enero de 2012 – diciembre de 2012
- Estudio Ría, arquitecta, enero de 2013 – junio de 2013
- Museo del Mar, guía, marzo de 2014 – agosto de 2014
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from indexed_cv(CV, tmp_path_factory.mktemp("cv"))


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from indexed_cv(LISTED, tmp_path_factory.mktemp("listed"))


def told(index: Index, question: str, language: Language = "en") -> str:
    return " | ".join(note.text for note in notes_for(index, question, language))


def notes_for(index: Index, question: str, language: Language = "en") -> tuple[Note, ...]:
    page = next(page for page in index.pages if page.document.path.endswith("cv.md"))
    found = tuple(range(1, len(page.passages) + 1))
    context = Context(prefix=page.passages, found=found, shared=True)
    return time_notes(
        Found(index=index, retrieved=retrieved(question)), context, language, date(2026, 11, 30)
    )


def test_of_a_job_that_is_named_only_its_own_length_is_told(index: Index) -> None:
    notes = told(index, "How long did the backend half work at Banco Orballo?")
    assert ORBALLO in notes
    assert all(other not in notes for other in (METRIMEX, PISTILO, BOTH, "in total"))


def test_a_word_of_a_role_names_no_job(index: Index) -> None:
    notes = told(index, "How long did the frontend half work for Metrimex?")
    assert METRIMEX in notes
    assert PISTILO not in notes


def test_a_job_in_a_list_is_told_without_its_neighbours(listed: Index) -> None:
    notes = told(listed, "¿Cuánto tiempo trabajaste en el Museo del Mar?", "es")
    assert notes == "[1] Duración: 6 meses (marzo de 2014 – agosto de 2014)"


def test_a_role_names_no_job_with_accents_either(listed: Index) -> None:
    assert "3 entradas" in told(listed, "¿Cuánto tiempo trabajaste de diseñadora?", "es")


def test_of_two_jobs_that_are_named_only_what_they_share_is_told(index: Index) -> None:
    notes = told(index, "For how long did the jobs at Agencia Pistilo and Banco Orballo overlap?")
    assert all(part in notes for part in (ORBALLO, PISTILO, BOTH, "2 years 9 months"))
    assert METRIMEX not in notes
    assert "in total" not in notes


def test_what_went_on_beside_one_job_is_told_where_that_is_asked(index: Index) -> None:
    notes = told(index, "How long did the job at Banco Orballo overlap with another?")
    assert BOTH in notes
    assert PISTILO not in notes


@pytest.mark.parametrize(
    ("question", "language", "whole"),
    [
        ("How many years of experience do you have?", "en", "Experience in total"),
        ("How many years of backend experience do you have?", "en", "Experience in total"),
        ("¿Cuánto tiempo lleváis trabajando?", "es", "Experiencia en total"),
    ],
)
def test_where_no_job_is_named_all_are_told_with_their_sum(
    index: Index, question: str, language: Language, whole: str
) -> None:
    assert whole in told(index, question, language)
    assert all(part in told(index, question, language) for part in JOBS)


def test_what_two_jobs_share_is_cited_to_both(index: Index) -> None:
    question = "For how long did the jobs at Agencia Pistilo and Banco Orballo overlap?"
    notes = notes_for(index, question)
    page = next(page for page in index.pages if page.document.path.endswith("cv.md"))
    texts = [full_text(passage) for passage in page.passages]
    jobs = [n for n, text in enumerate(texts, start=1) if "Orballo" in text or "Pistilo" in text]
    assert len(jobs) == 2
    one, other = jobs
    settled = Attribution(texts, [question], notes).settle("2 years 9 months [1].")
    assert settled == f"2 years 9 months [{one}][{other}]."
