"""Pages: every passage on one, in order, within the limit, and cut where the author cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.model import Chunk
from corpus.passage import page_text
from corpus.token_estimate import estimated_tokens
from indexer.chunk import chunk_sections
from indexer.pages import JOINT_TOKENS, Pages, form_pages
from indexer.sections import outline


def words(text: str) -> int:
    """A tokenizer of whole words, so that a test can count along."""
    return len(text.split())


def chunk(heading: str, size: int, ordinal: int = 0, anchor: str | None = None) -> Chunk:
    """A passage that costs `size` with its heading and the joint after it."""
    text = " ".join(["w"] * (size - len(heading.split()) - JOINT_TOKENS))
    return Chunk(
        heading=heading, anchor=heading if anchor is None else anchor, text=text, ordinal=ordinal
    )


def runs(pages: Pages) -> list[list[str]]:
    """Headings of the passages of each page."""
    by_page = itertools.groupby(pages.chunks, lambda each: each.page)
    return [[each.heading for each in own] for _, own in by_page]


def formed(*chunks: Chunk, limit: int = 100) -> list[list[str]]:
    return runs(form_pages("", chunks, limit=limit, count=words))


def test_a_document_that_fits_is_one_page() -> None:
    assert formed(chunk("a", 30), chunk("b", 30), chunk("c", 40)) == [["a", "b", "c"]]


def test_the_title_counts() -> None:
    three = [chunk("a", 30), chunk("b", 30), chunk("c", 40)]
    assert len(runs(form_pages("Title", three, limit=100, count=words))) == 2


def test_pages_are_of_even_size_where_nothing_else_decides() -> None:
    """No last page of a few tokens: four times 30 are two and two, not three and one."""
    assert formed(*(chunk(name, 30) for name in "abcd")) == [["a", "b"], ["c", "d"]]


def test_outer_headings_are_cut_before_inner_ones() -> None:
    jobs = [chunk(f"Work — {name}", 25) for name in ("One", "Two", "Three")]
    assert formed(*jobs, chunk("Study", 30), chunk("Skills", 20)) == [
        ["Work — One", "Work — Two", "Work — Three"],
        ["Study", "Skills"],
    ]


def test_a_section_is_kept_whole_at_the_price_of_one_page() -> None:
    """Two pages would do, but each of the three sections of two passages stays together."""
    chunks = [chunk(name, 30) for name in "aabbcc"]
    assert formed(*chunks) == [["a", "a"], ["b", "b"], ["c", "c"]]


def test_two_sections_of_one_name_are_two() -> None:
    one, other = chunk("Notes", 60), chunk("Notes", 30, anchor="notes-1")
    assert formed(one, other, chunk("Notes", 60, anchor="notes-1")) == [
        ["Notes"],
        ["Notes", "Notes"],
    ]


def test_a_passage_above_the_limit_is_a_page_of_its_own() -> None:
    assert formed(chunk("a", 10), chunk("b", 300), chunk("c", 10)) == [["a"], ["b"], ["c"]]


def test_a_page_says_what_its_text_costs() -> None:
    pages = form_pages("T", [chunk("a", 30), chunk("b", 90)], limit=100, count=words)
    assert pages.tokens == (
        words(page_text("T", pages.chunks[:1])),
        words(page_text("T", pages.chunks[1:])),
    )


def test_no_passages_no_pages() -> None:
    assert form_pages("T", [], limit=100, count=words) == Pages(chunks=(), tokens=())


def test_a_heading_stands_once_above_its_passages() -> None:
    chunks = [
        Chunk(heading="", anchor="", text="lead", ordinal=0),
        Chunk(heading="A", anchor="a", text="one", ordinal=1),
        Chunk(heading="A", anchor="a", text="two", ordinal=2),
    ]
    assert page_text("T", chunks) == "T\n\nlead\n\nA\none\n\ntwo"


CHUNKS = st.lists(
    st.builds(
        Chunk,
        heading=st.sampled_from(["", "A", "A — x", "A — y", "B", "B — x — z"]),
        anchor=st.sampled_from(["", "a", "b"]),
        text=st.text(alphabet="ab1 ñ\n", min_size=1, max_size=400),
        ordinal=st.just(0),
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(CHUNKS, st.sampled_from(["", "A title"]), st.integers(60, 300))
def test_every_passage_stands_on_one_page(chunks: list[Chunk], title: str, limit: int) -> None:
    pages = form_pages(title, chunks, limit=limit, count=estimated_tokens)
    assert [(c.heading, c.text) for c in pages.chunks] == [(c.heading, c.text) for c in chunks]
    numbers = [c.page for c in pages.chunks]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(pages.tokens)))
    for number, tokens in enumerate(pages.tokens):
        assert tokens <= limit or numbers.count(number) == 1
    assert pages == form_pages(title, chunks, limit=limit, count=estimated_tokens)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(5, 80), min_size=1, max_size=9), st.integers(80, 160))
def test_there_are_as_few_pages_as_there_can_be(sizes: list[int], limit: int) -> None:
    """Against every cut there is, for sections of one passage."""
    chunks = [chunk(f"h{number}", size) for number, size in enumerate(sizes)]
    found = form_pages("", chunks, limit=limit, count=words)
    places = range(1, len(sizes))
    fewest = min(
        len(cuts) + 1
        for number in range(len(sizes))
        for cuts in itertools.combinations(places, number)
        if all(sum(sizes[a:b]) <= limit for a, b in itertools.pairwise([0, *cuts, len(sizes)]))
    )
    assert len(found.tokens) == fewest


@pytest.mark.parametrize("level", [1, 2])
def test_real_headings_are_where_pages_begin(level: int) -> None:
    body = "\n\n".join(
        f"{'#' * level} Part {n}\n\n"
        + "\n\n".join(f"### Item {n}{i}\n\n{'word ' * 40}" for i in "ab")
        for n in range(4)
    )
    chunks = chunk_sections(
        outline(body, "Doc", mdx=False).sections,
        limit=256, window=512, crumb_title="Doc", count=words,
    )  # fmt: skip
    found = runs(form_pages("Doc", chunks, limit=220, count=words))
    assert [page[0] for page in found] == ["Part 0 — Item 0a", "Part 2 — Item 2a"]
