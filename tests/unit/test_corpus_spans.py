"""Ranges of dates: found in both languages, never where numbers are something else, counted honestly."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.span_parser import MONTHS, find_spans
from corpus.spans import Length, Span, at_most, length, overlap, surely, total
from corpus.time_notes import spelt

TODAY = date(2026, 11, 30)

RANGES = {
    "Jul 2024 – Jun 2026. Both halves.": ("2024-07", "2026-06"),
    "Sept. 2016 – Nov. 2020": ("2016-09", "2020-11"),
    "July 15, 2024 – August 1, 2025": ("2024-07", "2025-08"),
    "1st January 2024 to 3rd March 2025": ("2024-01", "2025-03"),
    "from January of 2019 through May of 2021": ("2019-01", "2021-05"),
    "julio de 2024 - actualidad": ("2024-07", None),
    "de enero de 2019 a marzo de 2021": ("2019-01", "2021-03"),
    "15 de julio de 2024 hasta hoy": ("2024-07", None),
    "Enero 2020 — Dic 2021": ("2020-01", "2021-12"),
    "set. 2019 – ene. 2020": ("2019-09", "2020-01"),
    "2021–2023": ("2021", "2023"),
    "Acme (2019-2021), Vigo": ("2019", "2021"),
    "2021 – present. Both halves.": ("2021", None),
    "2024 — hoy en día": ("2024", None),
    "2022 - en curso": ("2022", None),
    "(2018–)": ("2018", None),
    "03/2022 – present": ("2022-03", None),
    "3/2020 - 11/2021": ("2020-03", "2021-11"),
    "2021-05 to 2022-11": ("2021-05", "2022-11"),
    "2021-05-03 – 2022-11-15": ("2021-05", "2022-11"),
    "2019 – Jun 2022": ("2019", "2022-06"),
    "between March 2015 and June 2018": ("2015-03", "2018-06"),
    "entre 2015 y 2018": ("2015", "2018"),
    "Since March 2020 in Vigo": ("2020-03", None),
    "desde 2019": ("2019", None),
    "desde el 27 de junio de 2025": ("2025-06", None),
    "| Acme | 2019–2021 | Vigo |": ("2019", "2021"),
    "**2019 – 2021**": ("2019", "2021"),
    "MAR 2018 – DEC 2020": ("2018-03", "2020-12"),
}
NONE = [
    "v2020-2021", "version 2020-2021", "versión 2020–2021", "1.2019-2021", "2019.1-2021",
    "file-2019-2021.zip",
    "+34 2020-2021", "tel. 2020-2021", "Phone: 2020-2021", "981 2020-2021", "2020-2021 555",
    "€2000–2100", "$ 2000 - 2100", "2000–2100 €", "2000 to 2100 euros", "2000–2050 px", "1999-2001 users",
    "2000 a 2100 palabras", "from 2000 to 2100 words", "between 2000 and 2100 people", "desde 2000 €",
    "since 2000 users", "pp. 1990–2010", "pages 1990-2010", "páginas 1990–2010", "lines 2001-2010",
    "RFC 2026-2027", "ISO 2001–2010", "© 2019–2024", "(c) 2019-2024", "Copyright 2019–2024",
    "2020-2021-2022", "2019/2020", "12/03/2019", "2024-07-01", "2019-12", "in 2014", "degree, 2014",
    "2023–2021", "June 2022 – May 2021", "1950–2099", "192.168.2010-2011", "18–20", "10.000–20.000",
    "`2019-2021`", "```\n2019-2021\n```", "~~~\nsince 2019\n", "16 May – 18 May", "may 2000 requests",
    "https://example.com/2019-2021", "#2019-2021", "call 2021 to confirm", "2021: a to z",
]  # fmt: skip


@pytest.mark.parametrize("text", RANGES)
def test_ranges_are_read(text: str) -> None:
    assert [(span.start, span.end) for span in find_spans(text)] == [RANGES[text]]


@pytest.mark.parametrize("text", NONE)
def test_other_numbers_are_not_dates(text: str) -> None:
    assert find_spans(text) == []


def test_a_range_is_kept_as_written_on_one_line() -> None:
    text = "Worked there Jul 2024 –\n  Jun 2026 and 2019–2021."
    found = find_spans(text)
    assert [span.text for span in found] == ["Jul 2024 – Jun 2026", "2019–2021"]
    assert text[found[1].first : found[1].last] == "2019–2021"


def test_every_month_name_is_known() -> None:
    for name, number in MONTHS.items():
        assert [span.start for span in find_spans(f"{name} 2020 – present")] == [
            f"2020-{number:02}"
        ]


@given(st.text(alphabet="201-– /.aJanM desince€`\n|", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for span in find_spans(text):
        assert 0 <= span.first < span.last <= len(text)
        assert length(span, TODAY).least <= length(span, TODAY).most


def span(start: str, end: str | None) -> Span:
    return Span(text="", start=start, end=end)


@pytest.mark.parametrize(
    ("start", "end", "english", "spanish"),
    [
        ("2024-07", "2026-06", "2 years", "2 años"),
        ("2025-01", "2026-03", "1 year 3 months", "1 año y 3 meses"),
        ("2026-05", "2026-05", "1 month", "1 mes"),
        ("2026-09", "2026-11", "3 months", "3 meses"),
        ("2025-12", "2026-11", "1 year", "1 año"),
        ("2024-11", None, "2 years 1 month", "2 años y 1 mes"),
        ("2021", "2023", "2 to 3 years", "2 a 3 años"),
        ("2021", "2022", "1 to 2 years", "1 a 2 años"),
        ("2021", "2021", "up to 1 year", "hasta 1 año"),
        ("2021", None, "5 to 6 years", "5 a 6 años"),
        ("2019", "2022-06", "3 to 4 years", "3 a 4 años"),
        ("2022-03", "2023", "1 to 2 years", "1 a 2 años"),
        ("2020-09", "2023", "about 3 years", "unos 3 años"),
        ("2022-12", "2023", "about 1 year", "un año"),
    ],
)
def test_lengths_are_said_as_far_as_they_are_known(
    start: str, end: str | None, english: str, spanish: str
) -> None:
    known = length(span(start, end), TODAY)
    assert (spelt(known, "en"), spelt(known, "es")) == (english, spanish)


def test_an_open_range_grows_with_the_day() -> None:
    job = span("2024-07", None)
    assert length(job, date(2026, 6, 30)) == Length(least=24, most=24)
    assert length(job, date(2026, 7, 1)) == Length(least=25, most=25)
    assert length(job, date(2024, 1, 1)) == Length(least=0, most=0)


def test_time_on_two_jobs_at_once_counts_once() -> None:
    jobs = [span("2018-03", "2020-12"), span("2016-09", "2020-11"), span("2022-01", "2022-06")]
    assert total(jobs, TODAY) == Length(least=52 + 6, most=52 + 6)
    assert overlap(jobs[0], jobs[1], TODAY) == Length(least=33, most=33)
    assert overlap(jobs[0], jobs[2], TODAY) == Length(least=0, most=0)


POINTS = st.one_of(
    st.integers(2000, 2030).map(str),
    st.builds(lambda y, m: f"{y}-{m:02}", st.integers(2000, 2030), st.integers(1, 12)),
)


@given(st.lists(st.tuples(POINTS, st.one_of(st.none(), POINTS)), min_size=1, max_size=6))
def test_totals_agree_with_counting_months_one_by_one(
    ends: list[tuple[str, str | None]],
) -> None:
    spans = [span(start, end) for start, end in ends]
    whole = total(spans, TODAY)
    least = {m for each in spans for m in range(surely(each, TODAY)[0], surely(each, TODAY)[1] + 1)}
    most = {
        m for each in spans for m in range(at_most(each, TODAY)[0], at_most(each, TODAY)[1] + 1)
    }
    assert (whole.least, whole.most) == (len(least), len(most))
