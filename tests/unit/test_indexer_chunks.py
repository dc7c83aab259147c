"""Passages: where sections are cut, what is repeated, what is never cut, and that nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.model import Chunk
from corpus.text import words
from indexer.chunk import LEAST_LIMIT, chunk_sections
from indexer.sections import outline
from indexer.tokens import estimated_tokens


def chunks(
    body: str, *, limit: int = 64, title: str = "Doc", mdx: bool = False, window: int = 512
) -> list[Chunk]:
    sections = outline(body, title, mdx=mdx).sections
    return chunk_sections(
        sections, limit=limit, window=window, crumb_title=title, count=estimated_tokens
    )


def texts(body: str, **options: int) -> list[str]:
    return [chunk.text for chunk in chunks(body, **options)]  # type: ignore[arg-type]


PARAGRAPH = "Una frase de prueba con varias palabras. Otra frase que sigue a la primera. " * 2


def test_sub_headings_are_preferred_to_byte_offsets() -> None:
    """A section over the limit is cut where its author cut it, even if the parts are unequal."""
    body = "\n\n".join(f"### Parte {n}\n\n{PARAGRAPH * n}" for n in (1, 1, 2, 1))
    found = chunks(f"## Todo\n\n{body}", limit=150)
    assert [chunk.heading for chunk in found] == [f"Todo — Parte {n}" for n in (1, 1, 2, 1)]
    assert all(chunk.text.startswith("Una frase") for chunk in found)


def test_every_job_keeps_its_name_and_passage() -> None:
    """Small neighbours are not merged: the name of a job is its heading path."""
    body = (
        "## Experience\n\n### Metrimex — Frontend Developer\n\n2024\n\n### Otra — Backend\n\n2020"
    )
    assert [(c.heading, c.text) for c in chunks(body, limit=400)] == [
        ("Experience — Metrimex — Frontend Developer", "2024"),
        ("Experience — Otra — Backend", "2020"),
    ]


def test_a_section_that_fits_is_one_passage() -> None:
    body = "uno\n\n- a\n- b\n\n```\ncode\n```"
    assert texts(body) == ["uno\n\n- a\n- b\n\n```\ncode\n```"]


def test_paragraphs_are_cut_between_each_other_before_sentences() -> None:
    first, second = "a" * 40 + " fin.", "b" * 40 + " fin."
    assert texts("\n\n".join([first] * 3 + [second] * 3), limit=60) == [
        "\n\n".join([first] * 3),
        "\n\n".join([second] * 3),
    ]


@pytest.mark.parametrize("columns", [1, 3, 6])
def test_tables_are_cut_between_rows_with_their_header_repeated(columns: int) -> None:
    """MD-15: contiguous, so that each piece is a table; the budget counts the header."""
    header = "| " + " | ".join(f"Col{c}" for c in range(columns)) + " |"
    rows = ["| " + " | ".join(f"r{r}c{c}" for c in range(columns)) + " |" for r in range(200)]
    separator = "|" + " --- |" * columns
    pieces = texts("\n".join([header, separator, *rows]), limit=80)
    assert len(pieces) > 3
    seen: list[str] = []
    for piece in pieces:
        lines = piece.split("\n")
        assert lines[:2] == [header, separator]
        assert len(lines) > 2
        assert estimated_tokens(piece) <= 80
        seen += lines[2:]
    assert seen == rows


def test_the_caption_of_a_table_is_not_repeated() -> None:
    """MD-15"""
    rows = "\n".join(f"| {n} | valor {n} |" for n in range(100))
    joined = "\n".join(texts(f"Tabla 1: precios\n\n| n | v |\n|---|---|\n{rows}"))
    assert joined.count("Tabla 1") == 1


def test_rows_above_the_separator_are_cut_between_lines() -> None:
    """MD-15: two header rows are no table by specification, and still never cut inside a row."""
    rows = [f"| {n} | valor {n} |" for n in range(100)]
    lines = ["| A | B |", "| a | b |", "|---|---|", *rows]
    pieces = texts("\n".join(lines))
    found = [line for piece in pieces for line in piece.split("\n")]
    assert [line for line in found if line in rows] == rows


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "~~~~"])
@pytest.mark.parametrize("info", ["", "py", 'sh title="x y"'])
def test_code_is_cut_between_lines_and_its_fence_opened_again(fence: str, info: str) -> None:
    """MD-03: same marker length and info string in each piece; bytes of the lines unchanged."""
    lines = [f"\tif x{n} ==\u00a0{n}:  # nota" if n % 7 else "" for n in range(1, 100)]
    pieces = texts(f"{fence}{info}\n" + "\n".join(lines) + f"\n{fence}")
    assert len(pieces) > 3
    inner: list[str] = []
    for piece in pieces:
        first, *middle, last = piece.split("\n")
        assert (first, last) == (fence + info, fence)
        assert estimated_tokens(piece) <= 64
        inner += middle
    assert inner == lines


@pytest.mark.parametrize("marker", ["-", "*", "1.", "7)"])
def test_lists_are_cut_between_items(marker: str) -> None:
    items = [f"{marker} elemento número {n} de la lista" for n in range(40)]
    pieces = texts("\n".join(items), limit=64)
    assert len(pieces) > 3
    assert all(
        re.match(r"(?:[-*]|\d+[.)]) elemento", line) for p in pieces for line in p.split("\n")
    )
    assert sum(piece.count("elemento") for piece in pieces) == 40


def test_a_list_item_with_long_code_keeps_whole_fences() -> None:
    """MD-03 in a list."""
    code = "\n".join(f"  linea_{n} = {n}" for n in range(60))
    pieces = texts(f"- paso uno\n\n  ```py\n{code}\n  ```\n- paso dos")
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert sum(piece.count("linea_") for piece in pieces) == 60
    assert "- paso uno" in pieces[0]
    assert "- paso dos" in pieces[-1]


def test_sentences_are_cut_before_words_and_words_never() -> None:
    sentences = [f"Esta es la frase número {n} de un párrafo largo." for n in range(20)]
    for piece in texts(" ".join(sentences), limit=64):
        assert re.fullmatch(r"(?:Esta es la frase número \d+ de un párrafo largo\. ?)+", piece)
    long_sentence = " ".join(f"palabra{n}" for n in range(200))
    pieces = texts(long_sentence, limit=64)
    assert " ".join(pieces).split() == long_sentence.split()


@pytest.mark.parametrize("run", ["x" * 5000, "日本語のブログ記事" * 200, "QUJD" * 1000 + "=="])
def test_a_run_no_word_can_be_is_cut_all_the_same(run: str) -> None:
    """Data and scripts without blanks: a passage of 5,000 characters would fill a prompt."""
    pieces = texts(run, limit=64)
    assert "".join(pieces) == run
    assert max(map(len, pieces)) <= 200


@pytest.mark.parametrize(
    "body",
    [
        "",
        "   \n\n\t\n",
        "# Doc",
        "---",
        "<!-- x -->",
        "![](a.png)",
        "[a]: https://b.c",
        "```\n\n```",
    ],
)
def test_nothing_to_read_gives_no_passage(body: str) -> None:
    """EMB-04, MD-17"""
    assert chunks(body) == []


def test_ordinals_count_through_the_document() -> None:
    found = chunks(f"intro\n\n## A\n\n{PARAGRAPH * 4}\n\n## B\n\nfin")
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))
    assert {chunk.anchor for chunk in found} == {"", "a", "b"}


def test_a_long_breadcrumb_takes_room_from_its_passages() -> None:
    """EMB-01: both go into the same window of the model."""
    body = "## " + "Título largo " * 9 + "\n\n" + PARAGRAPH * 10
    for chunk in chunks(body, limit=120, window=160):
        crumb = f"Doc — {chunk.heading}"
        assert estimated_tokens(crumb) + estimated_tokens(chunk.text) <= 160


WORDS = st.sampled_from(
    "alfa beta gamma delta año niño mañana straße C++ naïve don't 3.14 foo_bar x<y café función".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
CODE = st.lists(SENTENCES, min_size=1, max_size=8).map(
    lambda lines: "```sh\n" + "\n".join(lines) + "\n```"
)
LISTS = st.lists(SENTENCES, min_size=1, max_size=6).map(
    lambda items: "\n".join(f"- {item}" for item in items)
)
TABLES = st.lists(SENTENCES, min_size=1, max_size=6).map(
    lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | z |" for row in rows)
)
QUOTES = SENTENCES.map(lambda text: f"> {text}\n> > y {text}")
HEADINGS = st.tuples(st.integers(1, 6), SENTENCES).map(lambda pair: "#" * pair[0] + " " + pair[1])
RULES = st.just("---")
DOCUMENTS = st.lists(
    st.one_of(SENTENCES, CODE, LISTS, TABLES, QUOTES, HEADINGS, RULES), min_size=1, max_size=12
).map("\n\n".join)


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(DOCUMENTS, st.sampled_from([64, 100, 256]))
def test_no_word_is_lost_and_no_passage_too_long(body: str, limit: int) -> None:
    """Every word stands in a passage or its heading path, and every passage keeps the limit."""
    found = chunks(body, limit=limit)
    kept = set(words(" ".join(f"{chunk.heading} {chunk.text}" for chunk in found)))
    assert set(words(body.replace("```sh", "```"))) <= kept
    for chunk in found:
        assert chunk.text.strip()
        is_single = len(chunk.text.split()) == 1
        assert is_single or estimated_tokens(chunk.text) <= max(limit, LEAST_LIMIT)
    assert found == chunks(body, limit=limit)


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(
    st.text(st.sampled_from("ab \n\t#-*`~<>{}()[]!\\/$%|&;:'\"=._1éñ"), max_size=200), st.booleans()
)
def test_no_input_breaks_the_parser(body: str, mdx: bool) -> None:
    for chunk in chunks(body, mdx=mdx):
        assert chunk.text.strip()


@pytest.mark.parametrize(
    "opening",
    ["{", "<a ", "`", "<!--", "$$\n", "{{", "{%", "{#", "import {", "export const a = `${"],
)
def test_many_openings_take_no_time(opening: str) -> None:
    """Quadratic scanning of hostile text would stall a run: 37 s for 4,000 openings of `{{` (measured)."""
    body = f"{opening}x " * 4000
    chunks(body, mdx=True, limit=256)
    chunks(body, limit=256)
