"""«What projects are there?»: lists, counts and the latest, straight from the index without a model.

Models count badly (Mintplex-Labs/anything-llm#4275: 102 records became 4). A question is taken here
only when every word of it is understood: the asking, the kind of page, and for the rest tags or a
year that select pages. Anything else is a question for retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bot.chat import phrases
from bot.chat.catalogue_words import (
    COUNT_WORDS,
    FILLER,
    KIND_WORDS,
    LANGUAGE_WORDS,
    LATEST_WORDS,
    LIST_WORDS,
    NUMBERS,
)
from bot.chat.followup import MOST_STEPS_BACK, OPENERS, points_back
from corpus.model import Document, Kind, Language
from corpus.reader import Index
from corpus.text import words

Form = Literal["list", "count", "latest"]
MOST_LISTED = 30
DEFAULT_LATEST = 3

YEAR = re.compile(r"(?:19|20)\d\d")


class CatalogueQuestion(Struct, frozen=True, kw_only=True):
    """A question about the list of pages, fully understood."""

    form: Form
    kind: Kind
    number: int | None = None
    """How many of the latest."""
    year: str | None = None
    language: Language | None = None
    topics: tuple[str, ...] = ()
    """Folded words, each of them part of a tag (or of the stack) of this kind's pages."""


class CatalogueAnswer(Struct, frozen=True, kw_only=True):
    """The text and the pages it lists, numbered as `[n]` in the text."""

    text: str
    documents: tuple[Document, ...]


def read_question(question: str, index: Index) -> CatalogueQuestion | None:
    """The catalogue question in `question`, or None when any word of it is left over."""
    spoken = words(question)
    kinds = {KIND_WORDS[word] for word in spoken if word in KIND_WORDS}
    if len(kinds) != 1 or len(spoken) > 16:
        return None
    kind = kinds.pop()
    asked = set(spoken)
    latest = bool(asked & LATEST_WORDS)
    count = bool(asked & COUNT_WORDS) and not latest
    tags = _tag_words(index, kind)
    # The kind, and one word that must turn out to be a year, a number or a language.
    if not (latest or count or asked & LIST_WORDS or len(asked - FILLER - tags) <= 2):
        return None
    topics: list[str] = []
    number: int | None = None
    year: str | None = None
    language: Language | None = None
    for word in spoken:
        if word in KIND_WORDS:
            continue
        if word in tags:
            topics.append(word)
        elif YEAR.fullmatch(word):
            year = word
        elif word in LANGUAGE_WORDS:
            language = LANGUAGE_WORDS[word]
        elif word in NUMBERS or (word.isdigit() and int(word) <= MOST_LISTED):
            number = NUMBERS.get(word) or int(word)
        elif word not in FILLER and word not in LATEST_WORDS and word not in COUNT_WORDS:
            return None
    singular = not asked & {"posts", "articulos", "entradas", "articles", "proyectos", "projects",
                            "publicaciones", "blogposts", "every"}  # fmt: skip
    if singular and not (latest or count):
        # «the project», one that was spoken of: not a question for the list
        return None
    return CatalogueQuestion(
        form="latest" if latest else "count" if count else "list",
        kind=kind,
        number=(number or (1 if singular else DEFAULT_LATEST)) if latest else None,
        year=year,
        language=language,
        topics=tuple(dict.fromkeys(topics)),
    )


def read_next_question(
    message: str, earlier: Sequence[str], index: Index
) -> CatalogueQuestion | None:
    """«and in TypeScript?» behind a question for the list: the same list by other topics or another year.

    Args:
        earlier: what the visitor asked before, oldest first.
    """
    spoken = [word for word in words(message) if word not in FILLER | OPENERS]
    if not spoken or not points_back(message):
        return None
    opened = (text for text in reversed(earlier[-MOST_STEPS_BACK:]) if not points_back(text))
    before = read_question(next(opened, ""), index)
    if before is None:
        return None
    year = next((word for word in spoken if YEAR.fullmatch(word)), None)
    topics = tuple(dict.fromkeys(word for word in spoken if word != year))
    if not set(topics) <= _tag_words(index, before.kind):
        return None
    return replace(before, topics=topics or before.topics, year=year or before.year)


def answer(question: CatalogueQuestion, index: Index, language: Language) -> CatalogueAnswer:
    """The list in the visitor's language, newest first; pages that exist in both languages once."""
    found = [
        document
        for document in catalogue(
            index.documents.values(), question.kind, question.language or language
        )
        if (question.year is None or (document.date or "").startswith(question.year))
        and (question.language is None or document.lang == question.language)
        and all(topic in _words_of_tags(document) for topic in question.topics)
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
        _line(n, document, dated=question.form == "latest") for n, document in enumerate(shown, 1)
    ]
    return CatalogueAnswer(text="\n".join([head, "", *lines]), documents=tuple(shown))


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


def _tag_words(index: Index, kind: Kind) -> set[str]:
    return {
        word
        for document in index.documents.values()
        if document.kind == kind and not document.generated
        for word in _words_of_tags(document)
    }


def _words_of_tags(document: Document) -> set[str]:
    return set(words(" ".join(document.tags)))


def _spelt(topics: Sequence[str], found: Iterable[Document]) -> str:
    """The topics as the pages write them; capitals before none: «Go» where it stands beside «go»."""
    spelling = {
        parts[0]: tag
        for document in found
        for tag in sorted(document.tags, reverse=True)
        if len(parts := words(tag)) == 1
    }
    return " ".join(spelling.get(topic, topic) for topic in topics)
