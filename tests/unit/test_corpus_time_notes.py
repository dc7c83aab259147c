"""What the model is told about time: per passage, and over all entries of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from corpus.model import Chunk, Language
from corpus.section_kinds import SectionKind
from corpus.spans import Span
from corpus.time_notes import section_notes, span_note

TODAY = date(2026, 11, 30)


def span(text: str, start: str, end: str | None, entry: str = "") -> Span:
    return Span(text=text, start=start, end=end, entry=entry)


def job(
    name: str, start: str, end: str | None, *, heading: str = "", kind: SectionKind = "experience"
) -> Chunk:
    return Chunk(
        heading=heading or f"Experience — {name}",
        anchor="",
        text="",
        ordinal=0,
        section=kind,
        spans=(span(f"{start} – {end}", start, end, name),),
    )


def test_a_passage_says_how_long_it_took_in_both_languages() -> None:
    spans = [span("Jul 2024 – Jun 2026", "2024-07", "2026-06")]
    assert span_note(spans, "en", TODAY) == "Duration: 2 years (Jul 2024 – Jun 2026)"
    assert span_note(spans, "es", TODAY) == "Duración: 2 años (Jul 2024 – Jun 2026)"


def test_what_goes_on_is_counted_to_the_day_of_the_question() -> None:
    spans = [span("2024 – present", "2024-03", None)]
    assert span_note(spans, "en", TODAY) == "Duration: 2 years 9 months so far (2024 – present)"
    assert span_note(spans, "es", date(2024, 4, 1)) == (
        "Duración: 2 meses hasta hoy (2024 – present)"
    )


def test_several_ranges_are_told_once_each() -> None:
    spans = [
        span("a", "2020-01", "2020-12"),
        span("b", "2021", "2023"),
        span("a", "2020-01", "2020-12"),
    ]
    assert span_note(spans, "en", TODAY) == "Duration: 1 year (a); 2 to 3 years (b)"


def test_nothing_is_said_of_no_time() -> None:
    assert span_note([], "en", TODAY) == ""
    assert span_note([span("since 2030", "2030", None)], "en", TODAY) == ""


def together(
    chunks: Sequence[Chunk],
    kind: SectionKind = "experience",
    language: Language = "en",
    named: Sequence[str] = (),
) -> list[str]:
    return [note.text for note in section_notes(chunks, kind, language, TODAY, named=named)]


def test_entries_of_a_kind_are_added_up_with_what_overlaps() -> None:
    chunks = [
        job("Banco", "2018-03", "2020-12"),
        job("Agencia", "2016-09", "2020-11"),
        job("Master", "2014-09", "2016-06", kind="education"),
    ]
    assert together(chunks) == [
        "Experience in total: 4 years 4 months (2 entries; time spent on several at once counts once)",
        "At the same time: Banco and Agencia, 2 years 9 months",
    ]
    assert together(chunks, language="es") == [
        "Experiencia en total: 4 años y 4 meses (2 entradas; lo simultáneo cuenta una vez)",
        "A la vez: Banco y Agencia, 2 años y 9 meses",
    ]


def test_a_note_knows_the_ranges_it_was_worked_out_from() -> None:
    chunks = [
        job("A", "2018-03", "2020-12"),
        job("B", "2016-09", "2020-11"),
        job("C", "2022", "2023"),
    ]
    notes = section_notes(chunks, "experience", "en", TODAY)
    assert [[span.entry for span in note.spans] for note in notes] == [["A", "B", "C"], ["A", "B"]]


def test_of_named_entries_only_what_they_share_is_told() -> None:
    chunks = [
        job("Banco", "2018-03", "2020-12"),
        job("Agencia", "2016-09", "2020-11"),
        job("Museo", "2020-01", "2020-06"),
    ]
    both = together(chunks, named=["Banco", "Agencia"])
    assert both == ["At the same time: Banco and Agencia, 2 years 9 months"]
    one = together(chunks, named=["Museo"])
    assert "At the same time: Banco and Museo, 6 months" in one
    assert not any("Banco and Agencia" in note for note in one)
    alone = [job("Banco", "2018-03", "2020-12"), job("Museo", "2022-01", "2022-06")]
    assert together(alone, named=["Museo"]) == []


def test_bare_years_are_no_certain_overlap() -> None:
    """2018–2020 and 2020–2022 may or may not have met."""
    (note,) = together([job("A", "2018", "2020"), job("B", "2020", "2022")])
    assert note.startswith("Experience in total: 4 to 5 years (2 entries")


def test_parts_of_a_dated_job_are_no_jobs() -> None:
    part = job("Rewrite", "2019-01", "2019-06", heading="Experience — Banco — Rewrite")
    chunks = [job("Banco", "2018-03", "2020-12"), part]
    assert together(chunks) == []
    assert "2 entries" in together([*chunks, job("C", "2022", None)])[0]


def test_jobs_below_a_list_of_jobs_count_too() -> None:
    listed = job("Old one", "2010", "2012", heading="Experience")
    assert "2 entries" in together([listed, job("Banco", "2018-03", "2020-12")])[0]


def test_a_range_in_running_text_is_no_entry() -> None:
    assert together([job("A", "2018", "2020"), job("", "1990", "2020")]) == []


@pytest.mark.parametrize("kind", ["contact", "skills"])
def test_kinds_without_time_have_no_total(kind: SectionKind) -> None:
    chunks = [job("A", "2018", "2020", kind=kind), job("B", "2021", "2022", kind=kind)]
    assert together(chunks, kind) == []
