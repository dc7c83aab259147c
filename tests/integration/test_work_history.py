"""Questions about the jobs of an indexed CV are answered from its dates, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bot.chat import work_history
from bot.chat.sources import full_text
from bot.chat.work_history import WorkAnswer
from corpus.model import Language
from corpus.reader import Index
from tests.indexed_cv import indexed_cv

TODAY = date(2026, 11, 30)
CV = """# Ana García

Engineer in Vigo.

## Experience

### Estudio Marea — Founder

2021 – present. The old service took six hours.

### Banco Orballo — Senior backend engineer

Mar 2018 – Dec 2020. Led a team that rewrote the old service in Go.

### Agencia Pistilo — Frontend developer

Sep 2016 – Nov 2020. Sites of museums.

### Teleclínica Norte — Junior developer

Jun 2014 – Aug 2016. Frontend of the appointments.

## Education

- Physics, University of Santiago, 2010 – 2014
"""
LISTED = """---
lang: es
---
# Currículum

## Experiencia

- Taller del Puerto, diseñadora, enero de 2012 – diciembre de 2012
- Estudio Ría, arquitecta, enero de 2013 – junio de 2013
- Museo del Mar, guía, marzo de 2014 – agosto de 2014
"""
MAREA, ORBALLO, PISTILO, NORTE = JOBS = ("Estudio Marea", "Banco Orballo", "Pistilo", "Teleclínica")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from indexed_cv(CV, tmp_path_factory.mktemp("cv"))


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from indexed_cv(LISTED, tmp_path_factory.mktemp("listed"))


def asked(index: Index, question: str, language: Language = "en") -> WorkAnswer | None:
    jobs = work_history.entries(index, language)
    read = work_history.read(question, jobs)
    return None if read is None else work_history.answer(read, jobs, language, TODAY)


@pytest.mark.parametrize(
    ("question", "language", "jobs"),
    [
        ("Where has she worked?", "en", JOBS),
        ("Which companies have you worked for?", "en", JOBS),
        ("¿En qué empresas has trabajado?", "es", JOBS),
        ("¿Dónde ha trabajado la parte de frontend?", "es", (PISTILO, NORTE)),
        ("How many jobs does the CV list?", "en", JOBS),
        ("¿En cuántas empresas has trabajado?", "es", JOBS),
        ("Where did you work in 2019?", "en", (ORBALLO, PISTILO)),
        ("¿En qué empresa trabajabas en 2015?", "es", (NORTE,)),
        ("What was your first job?", "en", (NORTE,)),
        ("¿Cuál fue su último empleo?", "es", (MAREA,)),
        ("Where do you work now?", "en", (MAREA,)),
        ("¿Dónde trabajas actualmente?", "es", (MAREA,)),
        ("Where did she work before Agencia Pistilo?", "en", (NORTE,)),
        ("¿Qué trabajos tuvo después de Banco Orballo?", "es", (MAREA,)),
        ("Where was the frontend employed while the backend was at Banco Orballo?", "en", (PISTILO,)),
        ("Mientras estaba en Banco Orballo, ¿dónde trabajaba?", "es", (PISTILO,)),
        ("How long did you work for Banco Orballo?", "en", (ORBALLO,)),
        ("¿Hasta cuándo estuvo en Agencia Pistilo?", "es", (PISTILO,)),
        ("¿Cuántos años lleva funcionando Estudio Marea?", "es", (MAREA,)),
        ("Did Agencia Pistilo and Banco Orballo overlap?", "en", (ORBALLO, PISTILO)),
    ],
)  # fmt: skip
def test_the_jobs_that_are_asked_about_are_listed_and_no_other(
    index: Index, question: str, language: Language, jobs: tuple[str, ...]
) -> None:
    answer = asked(index, question, language)
    assert answer is not None
    lines = [line for line in answer.text.split("\n") if line.startswith("- **")]
    assert {job for job in JOBS if any(job in line for line in lines)} == set(jobs)
    assert len(lines) == len(jobs)


@pytest.mark.parametrize(
    ("question", "language", "length"),
    [
        ("How long did you work for Banco Orballo?", "en", "2 years 10 months (Mar 2018 – Dec 2020)"),
        ("¿Cuánto tiempo trabajó en Banco Orballo?", "es", "2 años y 10 meses"),
        ("For how long did Agencia Pistilo and Banco Orballo overlap?", "en", "2 years 9 months [1][2]"),
        ("How many years of experience do you have?", "en", "(4 entries; time spent on several"),
    ],
)  # fmt: skip
def test_lengths_are_counted_from_the_dates(
    index: Index, question: str, language: Language, length: str
) -> None:
    answer = asked(index, question, language)
    assert answer is not None
    assert length in answer.text


def test_each_line_names_the_passage_it_is_from(index: Index) -> None:
    answer = asked(index, "Where has she worked?")
    assert answer is not None
    for job, line in zip(JOBS, answer.text.split("\n")[2:], strict=True):
        number = int(line.rpartition("[")[2].rstrip("]"))
        assert job in line
        assert job in full_text(answer.passages[number - 1])


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Where did you work with Go?", "en"),  # projects use it too
        ("Where did you work in 2019 and what did you earn?", "en"),
        ("When was Agencia Pistilo founded?", "en"),
        ("¿Cuántos empleados tiene Banco Orballo?", "es"),
        ("How long was the old service at Banco Orballo?", "en"),
        ("Who worked at Banco Orballo?", "en"),
        ("How long did that job last?", "en"),
        ("Why did you leave Banco Orballo?", "en"),
        ("What do you do?", "en"),
        ("Banco Orballo", "en"),
        ("Where did you study?", "en"),
        ("¿Desde dónde trabajáis?", "es"),
        ("How many years of backend work do you have?", "en"),
        ("Which companies use Faro?", "en"),
        ("", "en"),
    ],
)
def test_a_question_with_a_word_that_is_not_understood_is_for_the_search(
    index: Index, question: str, language: Language
) -> None:
    assert asked(index, question, language) is None


def test_a_year_without_a_job_is_said_to_have_none(index: Index) -> None:
    answer = asked(index, "Where did you work in 2009?")
    assert answer is not None
    assert answer.text.startswith("By the dates that the site gives, no work experience in 2009.")


def test_what_goes_on_is_not_said_of_years_to_come(index: Index) -> None:
    answer = asked(index, "Where do you work in 2031?")
    assert answer is not None
    assert "no work experience in 2031" in answer.text


def test_marks_and_links_of_a_name_do_not_go_live(tmp_path: Path) -> None:
    cv = "# CV\n\n## Experience\n\n- [Click](https://evil.example) *Ltd* `x`, Jan 2020 – Mar 2021\n"
    for hostile in indexed_cv(cv, tmp_path):
        answer = asked(hostile, "Where have you worked?")
        assert answer is not None
        assert "- **Click Ltd x**: 1 year 3 months (Jan 2020 – Mar 2021) [1]" in answer.text


def test_jobs_that_are_items_of_one_list_are_told_apart(listed: Index) -> None:
    answer = asked(listed, "¿Dónde trabajaste en 2013?", "es")
    assert answer is not None
    assert "Estudio Ría" in answer.text
    assert "Taller" not in answer.text
    role = asked(listed, "¿Dónde trabajó de guía?", "es")
    assert role is not None
    assert "Museo del Mar" in role.text
    assert "Estudio Ría" not in role.text


def test_a_cv_in_the_other_language_is_answered_from_too(listed: Index) -> None:
    answer = asked(listed, "Where did you work in 2014?", "en")
    assert answer is not None
    assert "Museo del Mar, guía**: 6 months" in answer.text
