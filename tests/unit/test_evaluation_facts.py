"""Key facts: whole words, folded, with alternatives."""

from __future__ import annotations

from datetime import date

import pytest

from bot.evaluation.facts import share
from bot.evaluation.time_facts import given


@pytest.mark.parametrize(
    ("answer", "facts", "found"),
    [
        ("Se paga con STRIPE [1].", ["Stripe"], 1.0),
        ("Publicado en Galicia, con conexión.", ["conexion"], 1.0),
        ("It has 150 users.", ["15"], 0.0),
        ("It has 1,150 users.", ["150"], 0.0),
        ("Versión 15.3", ["15"], 0.0),
        ("PostgreSQL 15.", ["15"], 1.0),
        ("In cash or by card", ["efectivo|cash", "card|tarjeta"], 1.0),
        ("In cash", ["efectivo|cash", "tarjeta|card"], 0.5),
        ("Stripes", ["Stripe"], 0.0),
        ("anything", [], 1.0),
    ],
)
def test_share(answer: str, facts: list[str], found: float) -> None:
    assert share(answer, facts) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("for 24 months", True),
        ("durante dos años", True),
        ("two years, 2 in all", True),
        ("2 years and 10 months", False),
        ("2 años y tres meses", False),
        ("25 months", False),
        ("almost 2 years", True),
        ("3 years", False),
        ("a year", False),
    ],
)
def test_a_range_of_dates_stands_for_its_length(said: str, found: bool) -> None:
    assert given(said, ["{Jul 2024 – Jun 2026}"], date(2026, 11, 30)) == [found]


def test_years_may_be_rounded_by_three_months() -> None:
    for said, found in (("4 years", True), ("almost 5 years", False), ("5 years", False)):
        assert given(said, ["{Jan 2020 – Mar 2024}"], date(2026, 1, 1)) == [found]
    for said, found in (("almost 5 years", True), ("casi cinco años", True), ("5 years", False)):
        assert given(said, ["{Jan 2020 – Sep 2024}"], date(2026, 1, 1)) == [found]


def test_one_alternative_is_enough() -> None:
    facts = ["{Jul 2024 – Jun 2026}|since July 2024", "Go"]
    assert given("since July 2024, in Go", facts, date(2026, 1, 1)) == [True, True]
    assert given("since 2024", facts, date(2026, 1, 1)) == [False, False]
