"""Questions made from the pages' titles."""

from __future__ import annotations

import pytest

from bot.chat.suggestions import generated_questions, question_about
from corpus.model import Document, Kind, Language


def document(
    title: str, kind: Kind = "project", lang: Language = "en", **fields: object
) -> Document:
    slug = title.lower().replace(" ", "-") or "none"
    values = {"path": f"{kind}s/{slug}.md", "url": f"/{slug}", **fields}
    return Document(kind=kind, title=title, lang=lang, **values)  # type: ignore[arg-type]


SITE = (
    document("A day with RAG", "post", date="2025-01-01"),
    document("Shop", translation="tienda"),
    document("Tienda", lang="es", translation="shop"),
    document("Rony"),
    document("About us", "doc"),
    document("Everything", generated=True),
    document("What is RAG?", "post", date="2026-01-01"),
)


def test_one_question_for_each_page_projects_first_and_posts_newest_first() -> None:
    assert generated_questions(SITE, "en") == (
        "What is Rony?",
        "What is Shop?",
        "What does the page “About us” say?",
        "What is RAG?",
        "What does the post “A day with RAG” say?",
    )


def test_a_translated_page_is_asked_for_by_its_title_in_that_language() -> None:
    questions = generated_questions(SITE, "es")
    assert "¿Qué es Tienda?" in questions
    assert "¿Qué es Shop?" not in questions
    assert "¿Qué es Rony?" in questions
    assert "¿Qué cuenta el artículo «What is RAG»?" in questions
    assert len(questions) == 5


@pytest.mark.parametrize(
    ("title", "lang", "language", "question"),
    [
        ("¿Qué es RAG?", "es", "es", "¿Qué es RAG?"),
        ("Marea.", "en", "en", "What is Marea?"),
        ("Two\n  lines", "en", "en", "What is Two lines?"),
        ("{name} {0}", "en", "es", "¿Qué es {name} {0}?"),
    ],
)
def test_titles_are_taken_as_they_are(
    title: str, lang: Language, language: Language, question: str
) -> None:
    assert question_about(document(title, lang=lang), language) == question


def test_pages_without_a_title_and_equal_titles_ask_nothing_twice() -> None:
    pages = (document(""), document("Same"), document("Same", path="projects/other.md"))
    assert generated_questions(pages, "en") == ("What is Same?",)
    assert generated_questions((), "en") == ()
