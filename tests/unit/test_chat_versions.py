"""Versions and years of a question against those a page names."""

from __future__ import annotations

import pytest

from bot.chat.versions import lacks_version, lacks_year

RELEASES = (
    "First released in May 2021, version 2.0 in January 2024. Needs Rust 1.70.\n4. A list, 12.5 km."
)
JOBS = "Banco Orballo. Mar 2018 – Dec 2020.\n\nEstudio Marea. 2021 – present."


@pytest.mark.parametrize(
    "question",
    ["When will tidecalc 3.0 be released?", "¿Cuándo sale la versión 4?", "What is new in version 2.1?",
     "Does it need Rust 1.80?", "¿Cuándo sale rony-tui 2.5?"],
)  # fmt: skip
def test_versions_that_no_page_names(question: str) -> None:
    assert lacks_version(question, [RELEASES])
    assert lacks_version(question, [])


@pytest.mark.parametrize(
    "question",
    ["When was tidecalc 2.0 released?", "¿Qué trae la versión 2.0?", "Does it need Rust 1.70?",
     "Is it more than 3.5 km away?", "Is the file of 4.5 MB too large?", "How many people are there?"],
)  # fmt: skip
def test_versions_that_are_named_and_numbers_that_are_none(question: str) -> None:
    assert not lacks_version(question, [RELEASES])


@pytest.mark.parametrize("year", [2018, 2019, 2020, 2021, 2026])
def test_years_of_a_span(year: int) -> None:
    assert not lacks_year(f"Where did she work in {year}?", [JOBS])


def test_years_that_no_page_names() -> None:
    assert lacks_year("Where did she work in 2016?", [JOBS])
    assert lacks_year("¿De qué fue la charla de 2025?", ["Rust meetup, 2023. Conference, 2024."])
    assert not lacks_year(
        "¿De qué fue la charla de 2024?", ["Rust meetup, 2023. Conference, 2024."]
    )
    assert not lacks_year("Which of them, 2016 or 2018?", [JOBS])
    assert not lacks_year("Since when?", [JOBS])
    assert not lacks_year("In 2024?", ["We have done it since 2021."])
