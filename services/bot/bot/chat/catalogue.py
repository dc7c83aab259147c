"""Lists, counts and the latest pages, straight from the index without a model.

Models count badly (Mintplex-Labs/anything-llm#4275: 102 records became 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from bot.chat import phrases
from bot.chat.catalogue_questions import DEFAULT_LATEST, CatalogueQuestion, words_of_tags
from corpus.model import Document, Kind, Language
from corpus.reader import Index
from corpus.text import words

MOST_LISTED = 30


class CatalogueAnswer(Struct, frozen=True, kw_only=True):
    """The text and the pages it lists, numbered as `[n]` in the text."""

    text: str
    documents: tuple[Document, ...]


def answer(
    question: CatalogueQuestion, index: Index, language: Language, *, first: int = 1
) -> CatalogueAnswer:
    """The list in the visitor's language, newest first; pages that exist in both languages once.

    Args:
        first: the number of its first page.
    """
    found = [
        document
        for document in catalogue(
            index.documents.values(), question.kind, question.language or language
        )
        if (question.year is None or (document.date or "").startswith(question.year))
        and (question.language is None or document.lang == question.language)
        and all(topic in words_of_tags(document) for topic in question.topics)
    ]
    about = ""
    if question.topics:
        about = phrases.LABELLED[language].format(topic=_spelt(question.topics, found))
    if question.year:
        about += phrases.OF_YEAR[language].format(year=question.year)
    if not found:
        kind = phrases.kind_name(question.kind, 2, language)
        return CatalogueAnswer(
            text=phrases.COUNT_NONE[language].format(kind=kind, about=about), documents=()
        )
    if question.form == "latest":
        dated = sorted((d for d in found if d.date), key=lambda d: d.date or "", reverse=True)
        shown = (dated or found)[: question.number or DEFAULT_LATEST]
        head = phrases.LATEST[language]
    else:
        shown = found[:MOST_LISTED]
        head = phrases.COUNT[language].format(
            n=len(found), kind=phrases.kind_name(question.kind, len(found), language), about=about,
            are="is" if len(found) == 1 else "are",
        )  # fmt: skip
    lines = [
        _line(n, document, dated=question.form == "latest")
        for n, document in enumerate(shown, first)
    ]
    return CatalogueAnswer(text="\n".join([head, "", *lines]), documents=tuple(shown))


def answer_all(
    asked: Sequence[CatalogueQuestion], index: Index, language: Language
) -> CatalogueAnswer:
    """The lists one below the other, their pages numbered through."""
    texts: list[str] = []
    documents: tuple[Document, ...] = ()
    for question in asked:
        said = answer(question, index, language, first=len(documents) + 1)
        texts.append(said.text)
        documents += said.documents
    return CatalogueAnswer(text="\n\n".join(texts), documents=documents)


def catalogue(documents: Iterable[Document], kind: Kind, language: Language) -> list[Document]:
    """Published pages of a kind, newest first; of a translated pair the one in `language`."""
    listed = [d for d in documents if d.kind == kind and not d.generated]
    native = {d.slug for d in listed if d.lang == language}
    native |= {d.translation for d in listed if d.lang == language and d.translation}
    once = [d for d in listed if d.lang == language or not {d.slug, d.translation} & native]
    once.sort(key=lambda d: d.title.casefold())
    once.sort(key=lambda d: d.date or "", reverse=True)
    return once


def _line(n: int, document: Document, *, dated: bool) -> str:
    date = f" ({document.date})" if dated and document.date else ""
    description = f" — {document.description}" if document.description else ""
    return f"- **{document.title}**{date}{description} [{n}]"


def _spelt(topics: Sequence[str], found: Iterable[Document]) -> str:
    """The topics as the pages write them; capitals before none: «Go» where it stands beside «go»."""
    spelling = {
        parts[0]: tag
        for document in found
        for tag in sorted(document.tags, reverse=True)
        if len(parts := words(tag)) == 1
    }
    return " ".join(spelling.get(topic, topic) for topic in topics)
