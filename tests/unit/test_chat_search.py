"""Search: both sides find, neither can raise, and no language or summary outranks the right page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot.chat.ports.index import IndexState
from bot.chat.retrieve import Retriever
from bot.chat.search import RRF_K, Evidence, search
from corpus.errors import EmbedderUnavailable, EmbeddingRejected
from corpus.model import Language
from corpus.reader import Index
from corpus.settings import RagSettings, Settings
from corpus.vectors import Vector
from tests.fakes import FakeEmbedder
from tests.small_index import Page, Part, page, small_index, toward

RAG = RagSettings()
SHOP = toward(1)
OTHER = toward(0, 1)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = small_index(
        tmp_path_factory.mktemp("search"),
        page("projects/shop.md", "Customers pay by card. Payments: Stripe.", vector=SHOP),
        page("posts/cpp.md", "A comparison of C++ and Rust.", vector=OTHER),
        page("posts/csharp.md", "C# runs on .NET everywhere.", vector=OTHER),
        page("posts/vitamin.md", "Vitamin C is in oranges.", vector=OTHER),
        page("posts/node.md", "A server in Node.js 3.12 scales to 50%.", vector=OTHER),
        page("posts/year.md", "El año pasado hubo sequía.", vector=toward(0, 0, 1), lang="es"),
        page("posts/other.md", "El ano es parte del cuerpo.", vector=toward(0, 0, 0, 1), lang="es"),
        page("posts/japanese.md", "日本語のブログ記事", vector=toward(0, 0, 0, 0, 1)),
        page(
            "posts/long.md",
            "one POL-358",
            "two multi-agent",
            "three",
            vector=toward(0, 0, 0, 0, 0, 1),
        ),
    )
    yield opened
    opened.close()


def names(evidence: Evidence) -> list[str]:
    return [hit.passage.document.slug for hit in evidence.hits]


def test_an_attribute_must_be_given_of_what_the_question_names(tmp_path: Path) -> None:
    """Another page's year is no founding of the bank; where no name is known, every passage counts."""
    made = small_index(
        tmp_path,
        page("docs/cv.md", "Banco Orballo, 2018 – 2020. Cards.", vector=SHOP),
        page("docs/about.md", "The studio was founded in 2021.", vector=SHOP),
    )
    with closing(made) as opened:
        named = search(opened, "When was Banco Orballo founded?", SHOP, RAG, "en")
        assert (len(named.hits), named.missing_attributes) == (2, 1)
        unnamed = search(opened, "When was it founded?", SHOP, RAG, "en")
        assert unnamed.missing_attributes == 0


def test_meaning_finds_what_keywords_cannot(index: Index) -> None:
    """A Spanish question, an English document, no word in common."""
    question = "¿Con qué se liquida el carro?"
    found = search(index, question, toward(0.9, 0.1), RAG, "es")
    assert names(found)[0] == "shop"
    assert found.dense
    assert found.hits[0].coverage == 0
    assert "shop" not in names(search(index, question, None, RAG, "es"))


def test_keywords_find_what_meaning_missed(index: Index) -> None:
    """RAG-01: a hit of the lexical side only has its real cosine, not none and not zero."""
    found = search(index, "Stripe", toward(0, 0, 0, 0, 0, 0, 1), RAG, "en")
    assert names(found)[0] == "shop"
    assert found.hits[0].cosine == pytest.approx(0)
    found = search(index, "Stripe", toward(-0.3, 0, 0, 0, 0, 0, 1), RagSettings(top_k=20), "en")
    assert {hit.passage.document.slug: hit.cosine for hit in found.hits}["shop"] == pytest.approx(
        -0.287, abs=0.01
    )


def test_without_a_vector_it_searches_by_keywords(index: Index) -> None:
    found = search(index, "How do customers pay?", None, RAG, "en")
    assert names(found)[0] == "shop"
    assert not found.dense
    assert all(hit.cosine is None for hit in found.hits)
    assert (found.top_cosine, found.margin, found.contrast) == (0, 0, 0)


@pytest.mark.anyio
@pytest.mark.parametrize("error", [EmbedderUnavailable("down"), EmbeddingRejected("zeros")])
async def test_it_falls_back_to_keywords_when_the_embedder_fails(
    index: Index, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = FakeEmbedder()
    embedder.queue.append(error)
    retriever = Retriever(Settings(), embedder)
    state = IndexState(index=index, problem=None, dense=True)
    found = await retriever.retrieve(index, state, "How do customers pay?", (), "en")
    assert names(found.evidence)[0] == "shop"
    assert (found.vector, found.evidence.dense) == (None, False)
    assert "keywords only" in caplog.text


@pytest.mark.anyio
async def test_an_index_that_is_not_dense_is_never_compared_with_the_embedder(index: Index) -> None:
    """EMB-05"""
    embedder = FakeEmbedder()
    state = IndexState(index=index, problem="another model", dense=False)
    found = await Retriever(Settings(), embedder).retrieve(index, state, "Stripe", (), "en")
    assert embedder.questions == []
    assert not found.evidence.dense


def test_rank_fusion_is_selectable_and_only_orders(index: Index) -> None:
    """RAG-01: its scores are ranks; the evidence stays cosines and coverage."""
    rrf = RagSettings(fusion="rrf")
    found = search(index, "Stripe payments", SHOP, rrf, "en")
    assert names(found)[0] == "shop"
    assert found.hits[0].score == pytest.approx(2 / (RRF_K + 1))
    assert found.top_cosine == pytest.approx(1)
    assert search(index, "Stripe payments", SHOP, RAG, "en").top_cosine == found.top_cosine


@pytest.mark.parametrize(
    ("question", "slug"),
    [
        ("POL-358", "long"), ("multi-agent", "long"), ("Node.js 3.12", "node"), ("node.js?", "node"),
        ("nodejs", "node"), ("50%", "node"), ("what's Stripe?", "shop"), ("a:Stripe", "shop"),
        ("stripe*", "shop"), ("\"stripe\"", "shop"), ("NEAR(stripe, card)", "shop"), ("^stripe", "shop"),
        ("stripe AND (card OR", "shop"), ("-stripe", "shop"), ("title:stripe", "shop"), ("[stripe]", "shop"),
        ("{stripe}", "shop"), ("stripe\x00", "shop"), ("STRÍPE", "shop"), ("¿stripe?", "shop"),
        ("stripe'; DROP TABLE chunk;--", "shop"), ("C++", "cpp"), ("¿Sabéis C++?", "cpp"), ("C#", "csharp"),
        (".NET", "csharp"), ("c#?", "csharp"), ("🚀 stripe 🚀", "shop"),
    ],
)  # fmt: skip
def test_signs_never_raise_and_find_the_same_as_the_words(
    index: Index, question: str, slug: str
) -> None:
    """FTS-01, FTS-05, B13"""
    assert names(search(index, question, None, RAG))[0] == slug


@pytest.mark.parametrize(
    "question",
    ["", " ", "???", "🚀", "---", '""', "de la el", "the of", "C", "*", "AND OR NOT", "\x00", "++", "¿?",
     "''",     "ブログ", "日本語のブログ", "𝒳", "\ud83d", "﷽"],
)  # fmt: skip
def test_when_no_word_is_left_the_vector_decides_and_nothing_matches_by_accident(
    index: Index, question: str
) -> None:
    """FTS-03, FTS-06"""
    assert search(index, question, None, RAG).hits == ()
    dense = search(index, question, toward(0, 0, 0, 0, 1), RAG)
    assert names(dense)[0] == "japanese"


def test_what_shares_a_token_is_told_apart_by_meaning(index: Index) -> None:
    """FTS-05: «año» and «ano» are one token."""
    assert names(search(index, "¿Qué pasó el año pasado?", toward(0, 0, 1), RAG, "es"))[0] == "year"
    assert names(search(index, "el ano", toward(0, 0, 0, 1), RAG, "es"))[0] == "other"


def test_vitamin_c_is_no_programming_language(index: Index) -> None:
    """FTS-05"""
    assert names(search(index, "C++ y C#", None, RAG)) == ["cpp", "csharp"] or names(
        search(index, "C++ y C#", None, RAG)
    ) == ["csharp", "cpp"]


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(st.text(max_size=80))
def test_no_text_raises(index: Index, question: str) -> None:
    """FTS-01, B13"""
    found = search(index, question, SHOP, RAG, "en")
    assert 0 <= found.coverage <= 1.000001
    assert 0 <= found.unknown_share <= 1.000001


def test_ten_thousand_words_are_a_question_too(index: Index) -> None:
    """B13"""
    question = " ".join(f"w{n}" for n in range(3000)) + " stripe"
    assert "shop" in names(search(index, question, SHOP, RAG, "en"))


@pytest.mark.parametrize("top_k", [1, 2, 5, 20])
def test_no_more_passages_than_wanted(index: Index, top_k: int) -> None:
    settings = RagSettings(top_k=top_k)
    assert len(search(index, "one two three stripe", SHOP, settings, "en").hits) == min(
        top_k, len(index)
    )
    assert len(search(index, "stripe card", None, settings, "en").hits) == 1


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    with closing(small_index(tmp_path)) as empty:
        for vector in (None, SHOP):
            found = search(empty, "Stripe", vector, RAG, "en")
            assert found.hits == ()


def test_one_chunk_has_no_background(tmp_path: Path) -> None:
    """RAG-01: the best of one is not therefore good."""
    with closing(small_index(tmp_path, page("projects/shop.md", "Stripe", vector=SHOP))) as one:
        found = search(one, "weather", toward(0.1, 1), RAG, "en")
        assert names(found) == ["shop"]
        assert (found.margin, found.contrast) == (0, pytest.approx(0))
        assert found.top_cosine == pytest.approx(0.0995, abs=0.01)


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("asked", ["en", "es", None])
def test_levelling_changes_nothing_in_an_index_of_one_language(
    tmp_path: Path, lang: Language, asked: Language | None
) -> None:
    pages = [
        page(f"posts/{n}.md", f"word{n} text", vector=toward(1, n / 7), lang=lang) for n in range(9)
    ]
    with closing(small_index(tmp_path, *pages)) as index:
        plain = search(index, "word3 elsewhere", toward(1, 0.4), RAG, None)
        levelled = search(index, "word3 elsewhere", toward(1, 0.4), RAG, asked)
        assert [h.cosine for h in levelled.hits] == [h.cosine for h in plain.hits]
        if asked in {lang, None}:
            assert [h.score for h in levelled.hits] == [h.score for h in plain.hits]
        assert names(levelled) == names(plain)
        assert levelled.margin == pytest.approx(plain.margin)


def bilingual(folder: Path, foreign: Vector, native: Vector, *extra: Page) -> Index:
    """Ten Spanish pages that are all rather near, ten English ones that are all rather far."""
    return small_index(
        folder,
        page("projects/shop.md", "Payments: Stripe.", vector=foreign),
        *(page(f"posts/es{n}.md", f"ruido {n}", vector=native, lang="es") for n in range(10)),
        *(page(f"posts/en{n}.md", f"noise {n}", vector=toward(0.2, 1)) for n in range(10)),
        *extra,
    )


def test_the_right_foreign_page_beats_native_noise(tmp_path: Path) -> None:
    with closing(bilingual(tmp_path, toward(0.75, 0.6), toward(0.8, 0.5))) as index:
        asked = toward(1)
        assert names(search(index, "¿Con qué se liquida?", asked, RAG, None))[0].startswith("es")
        found = search(index, "¿Con qué se liquida?", asked, RAG, "es")
        assert names(found)[0] == "shop"
        assert found.foreign
        assert found.top_cosine == pytest.approx(0.78, abs=0.01)  # what was measured, not levelled


def test_a_right_native_page_stays_before_foreign_noise(tmp_path: Path) -> None:
    right = page("posts/right.md", "pagos", vector=toward(1, 0.1), lang="es")
    with closing(bilingual(tmp_path, toward(0.2, 1), toward(0.6, 0.8), right)) as index:
        found = search(index, "¿Con qué se paga?", toward(1), RAG, "es")
        assert names(found)[0] == "right"
        assert not found.foreign


def pair(lang_of_link: Language) -> tuple[Page, Page]:
    link_en, link_es = ("idea", None) if lang_of_link == "en" else (None, "thought")
    return (
        page("posts/thought.md", "about a thought", vector=SHOP, translation=link_en),
        page("posts/idea.md", "sobre una idea", vector=SHOP, lang="es", translation=link_es),
    )


@pytest.mark.parametrize("side", ["en", "es"])
def test_of_a_translated_pair_only_the_visitors_page_is_found(
    tmp_path: Path, side: Language
) -> None:
    with closing(small_index(tmp_path, *pair(side))) as index:
        assert names(search(index, "thought", SHOP, RAG, "en")) == ["thought"]
        assert names(search(index, "idea", SHOP, RAG, "es")) == ["idea"]
        assert len(search(index, "idea", SHOP, RAG, None).hits) == 2


def test_a_summary_does_not_outrank_the_page_it_sums_up(tmp_path: Path) -> None:
    summary = Page("projects/all.md", (Part("Stripe shop", SHOP),), kind="project", generated=True)
    with closing(
        small_index(tmp_path, summary, page("projects/shop.md", "Stripe", vector=toward(1, 0.1)))
    ) as index:
        assert names(search(index, "Stripe shop", SHOP, RAG, "en")) == ["shop", "all"]


def test_the_order_is_the_same_each_time(index: Index) -> None:
    first = names(search(index, "server Rust oranges", np.copy(OTHER), RAG, "en"))
    assert all(
        names(search(index, "server Rust oranges", np.copy(OTHER), RAG, "en")) == first
        for _ in range(5)
    )


def test_unknown_words_and_names_are_counted(index: Index) -> None:
    found = search(index, "Does the shop run on Kubernetes with Terraform?", SHOP, RAG, "en")
    assert found.unknown_names == 2
    assert 0 < found.unknown_share < 1
    assert search(index, "Stripe payments", SHOP, RAG, "en").unknown_names == 0


def test_an_attribute_the_passages_do_not_give_is_missing(index: Index) -> None:
    assert search(index, "How much does the shop cost?", SHOP, RAG, "en").missing_attributes == 1
    assert search(index, "How do customers pay?", SHOP, RAG, "en").missing_attributes == 0


def test_other_forms_of_a_word_and_its_translation_count(tmp_path: Path) -> None:
    """«workshops» is found as `workshop`, «talleres» too; an unrelated page of either language is not."""
    made = small_index(
        tmp_path,
        page("docs/services.md", "One-day workshops for teams.", vector=toward(1)),
        page("docs/about.md", "Two people in a village.", vector=toward(1)),
        page("docs/sobre.md", "Dos personas en una aldea.", vector=toward(1), lang="es"),
    )
    with closing(made) as index:
        for question, language in (("A workshop?", "en"), ("¿Algún taller?", "es")):
            found = search(index, question, None, RAG, language)  # type: ignore[arg-type]
            assert [name for name in names(found) if found.hits[0].coverage] == ["services"]
            assert found.unknown_share == 0
        assert search(index, "¿Algún curso de cerámica?", None, RAG, "es").hits == ()
