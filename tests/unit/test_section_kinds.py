"""Headings of both languages to kinds, and which ranges of dates belong to which entry."""

from __future__ import annotations

import pytest

from corpus.section_kinds import SectionKind, kind_of_heading, kind_of_section, kind_words
from corpus.text import fold, words
from indexer.dating import spans_of

KINDS: dict[SectionKind, list[str]] = {
    "experience": [
        "Experience", "Work experience", "Professional Experience", "Work", "Employment history",
        "Career", "Where I've worked", "Previous jobs", "Experiencia", "EXPERIENCIA LABORAL",
        "Trayectoria profesional", "Trabajo", "Empleo", "Historial laboral", "Vida laboral",
        "Dónde he trabajado", "Puestos anteriores",
        "🧰 Experiencia", "3. Experience",
    ],
    "education": ["Education", "Studies", "Formación", "Formación académica", "Estudios",
                  "Academic background", "Education and certifications"],
    "skills": ["Skills", "Technical skills", "Habilidades", "Competencias", "Tecnologías",
               "Programming languages"],
    "projects": ["Projects", "Selected projects", "Proyectos", "Mis proyectos", "Portfolio"],
    "contact": ["Contact", "Contact me", "Contacto", "Datos de contacto", "Get in touch"],
    "languages": ["Languages", "Idiomas", "Languages spoken"],
    "certifications": ["Certifications", "Certificaciones", "Cursos y certificados"],
    "publications": ["Publications", "Talks", "Publicaciones", "Charlas y ponencias"],
    "about": ["About", "About me", "Sobre mí", "Quiénes somos", "Profile", "Perfil profesional"],
}  # fmt: skip
NAMES = [
    "Metrimex — Frontend Developer", "How it works", "Jobs queue", "Trabajo en equipo",
    "Contact form in Astro", "Education platform", "Languages of the parser", "About the cache",
    "Project Trama",
    "Tide map", "", "3.", "Curriculum vitae", "A language for tides",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "heading"), [(kind, heading) for kind, found in KINDS.items() for heading in found]
)
def test_headings_announce_kinds(kind: SectionKind, heading: str) -> None:
    assert kind_of_heading(heading) == kind


@pytest.mark.parametrize("heading", NAMES)
def test_names_announce_nothing(heading: str) -> None:
    assert kind_of_heading(heading) is None


def test_the_nearest_heading_decides_and_the_title_last() -> None:
    assert kind_of_section(("Experience", "Metrimex"), "CV") == "experience"
    assert kind_of_section(("Experience", "Projects", "X"), "CV") == "projects"
    assert kind_of_section((), "Contacto") == "contact"
    assert kind_of_section(("Metrimex",), "Work experience") == "experience"
    assert kind_of_section(("Usage",), "Tide map") is None


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_indexed_by_words_as_the_index_folds_them(kind: SectionKind) -> None:
    """In both languages, so that «empresas» finds a job that is written in English."""
    found = kind_words(kind)
    assert found == [fold(word) for word in found]
    assert len(set(found)) == len(found)
    assert any(words(heading)[0] in found for heading in KINDS[kind])


def entries(path: tuple[str, ...], text: str, **options: bool) -> list[tuple[str, str]]:
    return [(span.text, span.entry) for span in spans_of(path, text, **options)]


def test_the_first_line_dates_the_job() -> None:
    text = "Jul 2024 – Jun 2026. Both halves.\n\nData of 1990–2020 was moved."
    assert entries(("Experience", "Metrimex"), text) == [
        ("Jul 2024 – Jun 2026", "Metrimex"),
        ("1990–2020", ""),
    ]


def test_the_heading_dates_the_job_before_the_first_line() -> None:
    assert entries(("Experience", "Acme (2019–2021)"), "From 2020–2021 as lead.") == [
        ("2019–2021", "Acme"),
        ("2020–2021", ""),
    ]


def test_a_heading_counts_once_and_a_parents_not_at_all() -> None:
    assert entries(("Work 2014–2024", "Acme"), "text") == []
    assert entries(("Work", "Acme 2019–2021"), "Since 2020", is_first=False) == [("Since 2020", "")]


def test_items_and_rows_below_a_kind_are_entries() -> None:
    text = (
        "- **Acme**, engineer, Mar 2018 – Dec 2020\n- Banco (2021–present): lead\n\n"
        "| Company | When |\n|---|---|\n| Orballo | 2014–2016 |\n\nIn 2010–2012 nothing."
    )
    assert entries(("Experience",), text) == [
        ("Mar 2018 – Dec 2020", "Acme, engineer"),
        ("2021–present", "Banco: lead"),
        ("2014–2016", "Orballo"),
        ("2010–2012", ""),
    ]


def test_items_below_a_job_are_running_text() -> None:
    assert entries(("Experience", "Acme"), "Mar 2018 – Dec 2020\n\n- led a team 2019–2020") == [
        ("Mar 2018 – Dec 2020", "Acme"),
        ("2019–2020", ""),
    ]


def test_a_long_name_is_cut_between_words() -> None:
    ((_, entry),) = entries((f"{'word ' * 40}",), "2019–2021")
    assert len(entry) <= 81
    assert entry.endswith("word…")


def test_a_heading_of_dates_only_names_itself() -> None:
    assert entries(("Experience", "2019–2021"), "Acme.") == [("2019–2021", "2019–2021")]


def test_dates_of_a_kind_itself_are_no_entry() -> None:
    assert entries(("Experience 2014–2024",), "- Acme, 2014–2024") == [
        ("2014–2024", ""),
        ("2014–2024", "Acme"),
    ]
