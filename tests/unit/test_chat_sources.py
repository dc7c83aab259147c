"""What the visitor sees of a passage: one short plain line, a link to its section, each page once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.chat.search import search
from bot.chat.sources import MOST_QUOTE_CHARS, link, quote, sources_of, supporting
from corpus.reader import Index
from corpus.settings import RagSettings
from tests.small_index import Page, Part, page, small_index, toward

TABLE = "| Item | Price |\n|------|:-----:|\n| bread | 2 EUR |\n| cake | 3 EUR |"
TEXTS = {
    "table": TABLE,
    "long": "palabra " * 200,
    "word": "x" * 900,
    "marks": "# Title\n\n> **bold** and *thin* with `code`\n\n- one\n\n1. two\n\n_so_ snake_case stays",
    "lines": "a\tb\u2028c\u00a0d\n\n\ne",
    "signs": "| --- |\n***",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = small_index(
        tmp_path_factory.mktemp("sources"),
        *(page(f"posts/{name}.md", text, vector=toward(1)) for name, text in TEXTS.items()),
        Page("projects/shop.md", (Part("Pay with Stripe.", toward(0, 1), "Payments", "payments"),
                                  Part("Hosted on Hetzner.", toward(0, 1))), kind="project"),
        Page("projects/all.md", (Part("Everything.", toward(0, 0, 1), "A", "a"),), generated=True),
    )  # fmt: skip
    yield opened
    opened.close()


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("dense", [True, False])
def test_a_quote_is_one_short_line_without_markup(index: Index, name: str, dense: bool) -> None:
    for chunk_id in map(int, index.chunk_ids):
        passage = index.passage(chunk_id)
        if passage.document.slug != name:
            continue
        said = quote(index, passage, "bread price", toward(1) if dense else None)
        assert len(said) <= MOST_QUOTE_CHARS == 280
        assert len(said.splitlines()) <= 1
        assert not {"|", "*", "`", "\t"} & set(said)
        assert said == said.strip()
        assert "---" not in said


def test_a_quote_keeps_names_with_underscores(index: Index) -> None:
    passage = next(
        p for p in map(index.passage, map(int, index.chunk_ids)) if p.document.slug == "marks"
    )
    assert "snake_case stays" in quote(index, passage, "snake_case", None)


def test_a_link_leads_to_the_section(index: Index) -> None:
    links = {link(index.passage(int(chunk_id))) for chunk_id in index.chunk_ids}
    assert "/projects/shop#payments" in links
    assert "/projects/shop" in links
    assert "" in links  # a summary is no page
    assert not any(address.startswith("#") for address in links)


def test_sources_number_the_passages_and_name_each_page_once(index: Index) -> None:
    found = search(index, "Stripe Hetzner", toward(0, 1), RagSettings(top_k=3), "en")
    numbered = list(enumerate((hit.passage for hit in found.hits), start=1))
    event = sources_of(index, numbered, "Stripe", toward(0, 1))
    assert event.documents[0] == "shop.md"
    assert len(event.documents) == len(set(event.documents)) < len(event.passages) == 3
    assert [passage.n for passage in event.passages] == [1, 2, 3]
    assert event.passages[0].section in {"Payments", ""}
    order = [hit.passage.document.name for hit in found.hits]
    assert list(event.documents) == list(dict.fromkeys(order))


def test_the_supporting_passage_holds_most_of_the_words(index: Index) -> None:
    hits = search(index, "Stripe Hetzner", toward(0, 1), RagSettings(top_k=3), "en").hits
    passages = [hit.passage for hit in hits]
    for word in ("Stripe", "Hetzner"):
        place = supporting(passages, f"It is {word}.") - 1
        assert word in passages[place].chunk.text
    assert supporting(passages, "nothing of it") == 1
    assert supporting([], "x") == 1
