"""Lists, counts and the latest come from the index, and only where every word is understood."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot.chat.catalogue import answer, answer_all
from bot.chat.catalogue_questions import (
    read_next_question,
    read_parts,
    read_question,
    read_several,
)
from corpus.embedding import EmbeddingClient
from corpus.model import Language
from corpus.reader import Index, open_index
from corpus.settings import EmbeddingSettings, RagSettings, Settings
from indexer.job import run
from tests.fake_embedder import FakeEmbedder
from tests.small_index import Page, Part, page, small_index

ROOT = Path(__file__).parents[2]
GATE = yaml.safe_load((ROOT / "tests/eval/gate.yaml").read_text())["questions"]


def project(slug: str, **fields: object) -> Page:
    return page(f"projects/{slug}.md", "text", kind="project", title=slug.title(), **fields)


def post(slug: str, **fields: object) -> Page:
    return page(f"posts/{slug}.md", "text", kind="post", title=slug.title(), **fields)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    opened = small_index(
        tmp_path_factory.mktemp("catalogue"),
        project("shop", tags=("TypeScript", "web"), date="2025-03-01", description="A shop."),
        project("rony", tags=("Go", "terminal"), date="2026-01-05"),
        project("pan", lang="es", tags=("web",), date="2024-11-30"),
        project("undated", tags=("Rust",)),
        post("tides", tags=("Rust",), date="2025-06-01"),
        post("mareas", lang="es", tags=("Rust",), date="2025-06-01", translation="tides"),
        post("sse", tags=("web", "streaming"), date="2026-02-02"),
        post("cuatro-dias", lang="es", tags=("estudio",), date="2024-05-01"),
        page("docs/cv.md", "text", kind="doc", title="CV"),
        Page("projects/summary.md", (Part("All"),), kind="project", title="All", generated=True),
    )
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The sample site, indexed for real; its vectors are a fake's, which no catalogue looks at."""
    folder = tmp_path_factory.mktemp("site")
    rag = RagSettings(
        data_path=str(ROOT / "data/projects"), docs_path=str(ROOT / "data/docs"),
        posts_path=str(ROOT / "data/posts"), index_path=str(folder),
    )  # fmt: skip
    with FakeEmbedder(dimension=8) as fake:
        settings = Settings(rag=rag, embeddings=EmbeddingSettings(endpoint=fake.url, dimension=8))
        with EmbeddingClient(settings.embeddings) as client:
            run(settings, client=client)
    opened = open_index(folder)
    yield opened
    opened.close()


def listed(index: Index, question: str, language: Language = "en") -> list[str] | None:
    asked = read_question(question, index)
    return None if asked is None else [d.slug for d in answer(asked, index, language).documents]


PROJECTS = ["rony", "shop", "pan", "undated"]
POSTS_EN = ["sse", "tides", "cuatro-dias"]
POSTS_ES = ["sse", "mareas", "cuatro-dias"]


@pytest.mark.parametrize(
    ("question", "slugs"),
    [
        ("What projects are there?", PROJECTS),
        ("which projects have you built", PROJECTS),
        ("List all projects", PROJECTS),
        ("projects?", PROJECTS),
        ("Show me your projects please", PROJECTS),
        ("Can you tell me about the projects on this site?", PROJECTS),
        ("How many projects are there?", PROJECTS),
        ("How many projects have you made in total?", None),
        ("What blog posts have you written?", POSTS_EN),
        ("articles", POSTS_EN),
        ("Which projects use Go?", ["rony"]),
        ("Have you built anything in Go?", ["rony"]),
        ("What did you make?", None),
        ("Which of your posts deals with streaming?", ["sse"]),
        ("web projects", ["shop", "pan"]),
        ("terminal projects", ["rony"]),
        ("posts about Rust", ["tides"]),
        ("How many posts about streaming are there?", ["sse"]),
        ("posts from 2025", ["tides"]),
        ("projects of 2024", ["pan"]),
        ("projects of 1999", []),
        ("posts in Spanish", ["mareas", "cuatro-dias"]),
        ("posts in English", ["sse", "tides"]),
        ("latest post", ["sse"]),
        ("What is the newest project?", ["rony"]),
        ("the two latest posts", ["sse", "tides"]),
        ("last 2 projects", ["rony", "shop"]),
        ("recent posts", POSTS_EN),
        ("Which posts did you publish in 2024?", ["cuatro-dias"]),
    ],
)
def test_english_questions_for_the_list(
    index: Index, question: str, slugs: list[str] | None
) -> None:
    assert listed(index, question, "en") == slugs


@pytest.mark.parametrize(
    ("question", "slugs"),
    [
        ("¿Qué proyectos hay?", PROJECTS),
        ("que proyectos teneis", PROJECTS),
        ("Lista los proyectos", PROJECTS),
        ("¿Cuáles son vuestros proyectos?", PROJECTS),
        ("enséñame todos los proyectos", PROJECTS),
        ("¿Cuántos proyectos habéis hecho?", PROJECTS),
        ("proyectos", PROJECTS),
        ("¿Qué artículos hay en el blog?", POSTS_ES),
        ("¿Sobre qué hablan los artículos?", POSTS_ES),
        ("¿Qué proyectos tienes en Go?", ["rony"]),
        ("proyectos web", ["shop", "pan"]),
        ("¿Cuántos artículos hay sobre Rust?", ["mareas"]),
        ("artículos de 2024", ["cuatro-dias"]),
        ("artículos en inglés", ["sse", "tides"]),
        ("publicaciones en español", ["mareas", "cuatro-dias"]),
        ("¿Cuál es el último artículo?", ["sse"]),
        ("los dos últimos proyectos", ["rony", "shop"]),
        ("últimas entradas", POSTS_ES),
        ("¿Cuál es el proyecto más reciente?", ["rony"]),
        ("¿Qué artículos publicasteis en 2024?", ["cuatro-dias"]),
    ],
)
def test_spanish_questions_for_the_list(index: Index, question: str, slugs: list[str]) -> None:
    assert listed(index, question, "es") == slugs


@pytest.mark.parametrize(
    "question",
    [
        "Which projects use Java?", "¿Qué proyectos tenéis en Angular?", "Any Elixir projects?",
        "How do you deploy the projects?", "¿Cómo se paga en el proyecto de la tienda?",
        "What is the project?",
        "el proyecto", "tell me about this project", "Which project won a prize?", "projects and posts",
        "How many people worked on the project?", "¿Cuánto cuestan los proyectos?", "who are you", "", "???",
        " ".join(["posts"] * 17),
        "posts from 2025 and 2026", "¿Qué artículos hay de 2024 y cuáles de 2025?",
        "¿Qué dice el artículo sobre Rust?", "project management", "latest news", "¿Cuántos años tenéis?",
    ],
)  # fmt: skip
def test_a_question_with_a_word_that_is_not_understood_goes_to_retrieval(
    index: Index, question: str
) -> None:
    assert read_question(question, index) is None


@pytest.mark.parametrize(
    ("parts", "slugs"),
    [
        (("Which projects use Go", "which use Java"), [["rony"], None]),
        (("Which projects use Java", "which use Go"), [None, ["rony"]]),
        (("Qué proyectos usan Go", "cuáles Java"), [["rony"], None]),
        (("Qué proyectos usan Java", "cuáles Go"), [None, ["rony"]]),
        (("Which posts are from 2025", "which from 1999"), [["tides"], []]),
        (("How many projects are there", "how many use Go"), [PROJECTS, ["rony"]]),
        # It says of what itself, or nothing was named before.
        (("Which projects use Go", "which posts are about Rust"), [["rony"], ["tides"]]),
        (("Which projects use Go", "what is Go"), [["rony"], None]),
        (("Which use Go", "which use Rust"), [None, None]),
        (("Which projects use Go", "how many people made them"), [["rony"], None]),
    ],
)
def test_the_second_of_two_questions_is_about_the_kind_that_the_first_names(
    index: Index, parts: tuple[str, ...], slugs: list[list[str] | None]
) -> None:
    found = [
        None if asked is None else [d.slug for d in answer(asked, index, "en").documents]
        for asked in read_parts(parts, index)
    ]
    assert found == slugs


def test_two_lists_are_numbered_through(index: Index) -> None:
    asked = read_several("Which projects use Go and which are from 2025?", index)
    found = answer_all(asked, index, "en")
    assert [document.slug for document in found.documents] == ["rony", "shop"]
    assert found.text == (
        "There is 1 project labelled “Go”:\n\n- **Rony** [1]\n\n"
        "There is 1 project from 2025:\n\n- **Shop** — A shop. [2]"
    )


@pytest.mark.parametrize(
    "question",
    [
        "How many projects are there and which are they?",  # the same pages twice
        "¿Cuántos proyectos hay y cuáles son?",
        "Which projects use Go and which use Java?",
        "Which projects use Go?",
        "Who are you and which projects are there?",
        "",
    ],
)
def test_anything_else_is_not_two_lists(index: Index, question: str) -> None:
    assert read_several(question, index) == ()


def test_a_small_word_of_a_tag_selects_nothing(tmp_path: Path) -> None:
    small = small_index(
        tmp_path / "tags", post("budget", tags=("presupuesto de rendimiento",)), post("tides")
    )
    try:
        assert listed(small, "¿Qué artículos hay de tides?") is None
        assert listed(small, "¿De qué hablan los artículos?") == ["budget", "tides"]
        assert listed(small, "artículos de rendimiento") == ["budget"]
    finally:
        small.close()


def test_generated_pages_and_other_kinds_are_never_listed(index: Index) -> None:
    for question in ("projects", "posts", "latest projects", "how many posts"):
        slugs = listed(index, question)
        assert slugs is not None
        assert not {"summary", "cv"} & set(slugs)


def test_a_translated_pair_is_listed_once_in_the_visitors_language(index: Index) -> None:
    """The pair is named from one side only; it holds for both."""
    assert {"tides", "mareas"} & set(listed(index, "posts", "en") or []) == {"tides"}
    assert {"tides", "mareas"} & set(listed(index, "posts", "es") or []) == {"mareas"}


def test_the_text_counts_right_and_numbers_what_it_lists(index: Index) -> None:
    """mintplex-labs/anything-llm#4275: 102 records became 4."""
    asked = read_question("How many projects are there?", index)
    assert asked is not None
    found = answer(asked, index, "en")
    head, _, *lines = found.text.splitlines()
    assert head == "There are 4 projects:"
    assert lines[1] == "- **Shop** — A shop. [2]"
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["[1]", "[2]", "[3]", "[4]"]


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("projects in Go", "en", "There is 1 project labelled “Go”:"),
        ("¿Cuántos artículos sobre Rust hay?", "es", "Hay 1 artículo con la etiqueta «Rust»:"),
        ("proyectos de 1999", "es", "No hay proyectos de 1999 en este sitio."),
        (
            "which projects in Spanish from 2025",
            "en",
            "There are no projects from 2025 on this site.",
        ),
        ("latest post", "en", "The latest:"),
        ("el último artículo", "es", "Lo más reciente:"),
    ],
)
def test_the_first_line_is_in_the_visitors_language(
    index: Index, question: str, language: Language, text: str
) -> None:
    asked = read_question(question, index)
    assert asked is not None
    assert answer(asked, index, language).text.splitlines()[0] == text


def test_dates_are_shown_with_the_latest(index: Index) -> None:
    asked = read_question("latest post", index)
    assert asked is not None
    assert "(2026-02-02)" in answer(asked, index, "en").text


def test_an_empty_index_lists_nothing(tmp_path: Path) -> None:
    empty = small_index(tmp_path / "empty")
    try:
        assert listed(empty, "projects") == []
    finally:
        empty.close()


# Answerable questions that do ask for a list: the catalogue may take these and no others.
ASK_FOR_A_LIST: set[str] = set()


def test_no_question_of_the_evaluation_set_is_swallowed(site: Index) -> None:
    taken = {
        item["question"]
        for item in GATE
        if item["label"] == "answerable" and read_question(item["question"], site)
    }
    assert taken == ASK_FOR_A_LIST


def test_no_question_that_must_be_refused_is_answered_with_a_list(site: Index) -> None:
    taken = [
        item["question"]
        for item in GATE
        if item["label"] != "answerable" and read_question(item["question"], site)
    ]
    assert taken == []


@pytest.mark.parametrize(("question", "language"), [("What projects are there?", "en"),
                                                    ("¿Qué proyectos hay?", "es")])  # fmt: skip
def test_the_sample_sites_projects_are_listed_exactly(
    site: Index, question: str, language: Language
) -> None:
    expected = {path.stem for path in (ROOT / "data/projects").glob("*.md")} - {"README"}
    slugs = listed(site, question, language)
    assert slugs is not None
    assert len(slugs) == len(set(slugs)) == len(expected)
    assert set(slugs) == expected


@pytest.mark.parametrize(
    ("question", "slugs"),
    [
        ("Which projects are written in Go?", {"rony-tui", "clothes-shop"}),
        ("¿Qué proyectos usan SQLite?", {"rony-tui", "faro-bot", "pan-a-las-siete"}),
        ("Projects built with Node.js", {"contraste", "pan-a-las-siete"}),
        ("¿Qué tenéis hecho en Rust?", {"tidecalc", "tide-map"}),
    ],
)
def test_projects_are_listed_by_what_they_are_made_with(
    site: Index, question: str, slugs: set[str]
) -> None:
    assert set(listed(site, question) or ()) == slugs


@pytest.mark.parametrize(
    ("message", "earlier", "slugs"),
    [
        ("and in TypeScript?", ["Which projects are written in Go?"], {"contraste", "tide-map"}),
        ("¿y en Python?", ["hola", "¿Qué proyectos usan SQLite?"], {"faro-bot", "tidecalc"}),
        ("¿y con Rust?", ["¿Qué proyectos usan Go?", "¿y en Python?"], {"tidecalc", "tide-map"}),
        ("and in Kotlin?", ["Which projects are written in Go?"], None),
        ("tell me more", ["Which projects are written in Go?"], None),
        ("and in TypeScript?", ["What is tidecalc?"], None),
        ("Who maintains the shop?", ["Which projects are written in Go?"], None),
        ("and in TypeScript?", [], None),
    ],
)
def test_the_same_list_by_another_label(
    site: Index, message: str, earlier: list[str], slugs: set[str] | None
) -> None:
    asked = read_next_question(message, earlier, site)
    assert (asked and {d.slug for d in answer(asked, site, "es").documents}) == slugs
