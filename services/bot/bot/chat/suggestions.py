"""Questions made from the pages' titles, for a site whose owner wrote none."""

from __future__ import annotations

from collections.abc import Iterable

from bot.chat.catalogue import catalogue
from bot.chat.phrases import ABOUT_PAGE
from corpus.model import KINDS, Document, Language

MOST_SHOWN = 4  # buttons the widget shows without scrolling


def generated_questions(documents: Iterable[Document], language: Language) -> tuple[str, ...]:
    """One question for each page, projects first, then pages and posts, each newest first.

    Of a page in both languages the one in `language` gives the title; a page in the other language
    only keeps its title. A title that is a question already is asked as it is.
    """
    pages = tuple(documents)
    listed = [page for kind in KINDS for page in catalogue(pages, kind, language)]
    return tuple(dict.fromkeys(question_about(page, language) for page in listed if page.title))


def question_about(document: Document, language: Language) -> str:
    """What a visitor would ask to get to know this page."""
    title = " ".join(document.title.split())
    if title.endswith("?") and document.lang == language:
        return title
    return ABOUT_PAGE[document.kind][language].format(title=title.rstrip(".!?"))
