"""What the model reads: the best passage's page, excerpts only where the search is in doubt."""

from __future__ import annotations

import msgspec
import pytest

from bot.chat.context import (
    EXCERPT_CHARS,
    EXCERPT_MARGIN,
    MOST_EXCERPTS,
    MOST_EXCERPTS_OF_SEVERAL,
    Context,
    page_first,
    passages_as_found,
)
from bot.chat.search import Hit
from corpus.model import Chunk, Language
from corpus.reader import Passage
from tests.small_index import page

DOCUMENT = page("projects/shop.md").document()


def passage(chunk_id: int) -> Passage:
    chunk = Chunk(heading="", anchor="", text=f"text {chunk_id}", ordinal=chunk_id)
    return Passage(chunk_id=chunk_id, document=DOCUMENT, chunk=chunk)


def hits(*found: tuple[int, float]) -> list[Hit]:
    return [
        Hit(passage=passage(chunk_id), score=score, cosine=score, coverage=0)
        for chunk_id, score in found
    ]


PAGE = [passage(n) for n in (1, 2, 3)]
BELOW = 0.9 - EXCERPT_MARGIN


def read(found: list[Hit], *, several: bool = False, language: Language = "es") -> Context:
    """What a visitor who asks in Spanish is answered from, over a page in English."""
    return page_first(
        PAGE, found, lambda hit, chars: hit.passage.chunk.text[:chars],
        language=language, several=several,
    )  # fmt: skip


def test_the_whole_page_is_the_prefix_whatever_else_was_found() -> None:
    context = read(hits((2, 0.9), (7, 0.5)))
    assert context.prefix == tuple(PAGE)
    assert context.excerpts == ()
    assert context.found == (2,)


def test_a_close_hit_of_another_page_comes_along_with_its_best_sentences_only() -> None:
    context = read(hits((2, 0.9), (7, BELOW + 0.001), (3, 0.4)))
    assert [excerpt.passage.chunk_id for excerpt in context.excerpts] == [7]
    assert context.found == (2, 4, 3)
    assert [p.chunk_id for p in context.passages] == [1, 2, 3, 7]


def test_the_margin_counts_from_the_best_on_the_page() -> None:
    assert not read(hits((2, 0.9), (7, BELOW - 0.001))).excerpts


def test_in_the_visitors_own_language_the_page_is_enough() -> None:
    found = hits((2, 0.9), (7, 0.9))
    assert not read(found, language="en").excerpts
    assert read(found, language="en", several=True).excerpts


def test_excerpts_are_few_and_short() -> None:
    asked: list[int] = []
    many = hits((1, 0.9), *((n, 0.9) for n in range(10, 20)))

    def sentences(hit: Hit, chars: int) -> str:
        asked.append(chars)
        return "x"

    assert len(page_first(PAGE, many, sentences, language="es").excerpts) == MOST_EXCERPTS
    assert set(asked) == {EXCERPT_CHARS}


def test_several_things_asked_for_take_more_pages_though_they_score_less() -> None:
    found = hits((1, 0.9), (10, 0.5), (11, 0.4), (12, 0.3))
    assert len(read(found, several=True).excerpts) == MOST_EXCERPTS_OF_SEVERAL


def test_the_visitor_counts_from_what_was_found() -> None:
    context = read(hits((3, 0.9), (7, 0.9), (1, 0.8)))
    assert context.found == (3, 4, 1)
    assert context.labels == (3, 4, 1, 2)
    assert context.found_labels == (1, 2, 3)


def test_passages_as_found_are_numbered_as_found() -> None:
    context = passages_as_found(hits((7, 0.9), (2, 0.8)))
    assert [p.chunk_id for p in context.prefix] == [7, 2]
    assert context.labels == context.found == (1, 2)


@pytest.mark.parametrize("best", [1, 2, 3])
def test_what_goes_first_is_never_the_best(best: int) -> None:
    rest = [n for n in (1, 2, 3) if n != best]
    context: Context | None = read(hits((best, 0.9), (7, 0.9), *((n, 0.1) for n in rest)))
    assert context is not None
    sizes = []
    while context is not None:
        assert context.passages[context.found[0] - 1].chunk_id == best
        assert sorted(context.labels) == list(range(1, len(context.passages) + 1))
        assert set(context.found) <= set(range(1, len(context.passages) + 1))
        sizes.append(len(context.passages))
        context = context.without_last()
    assert sizes == [4, 3, 2, 1]


def test_nothing_is_left_of_nothing() -> None:
    assert Context().without_last() is None
    assert Context().labels == ()
    assert msgspec.structs.replace(Context(), prefix=(passage(1),)).without_last() is None
