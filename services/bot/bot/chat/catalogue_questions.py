"""Which list of pages a visitor asks for: «What projects are there?», «and in TypeScript?».

A question is taken here only when every word of it is understood: the asking, the kind of page, and for
the rest tags or a year that select pages. Anything else is a question for retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bot.chat.catalogue_words import (
    COUNT_WORDS,
    FILLER,
    KIND_WORDS,
    LANGUAGE_WORDS,
    LATEST_WORDS,
    LIST_WORDS,
    MADE_WORDS,
    NUMBERS,
    WITHOUT_NOUN,
)
from bot.chat.followup import MOST_STEPS_BACK, OPENERS, points_back
from bot.chat.several import parts
from corpus.model import Document, Kind, Language
from corpus.reader import Index
from corpus.text import STOP_WORDS, words

Form = Literal["list", "count", "latest"]
DEFAULT_LATEST = 3
LARGEST_NUMBER = 30
"""«The latest 30 posts»; a larger number is a year or something else."""
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


def read_question(question: str, index: Index) -> CatalogueQuestion | None:
    """The catalogue question in `question`, or None when any word of it is left over."""
    spoken = words(question)
    asked = set(spoken)
    kinds = {KIND_WORDS[word] for word in asked & KIND_WORDS.keys()}
    made = not kinds and bool(asked & MADE_WORDS)
    if made:
        kinds = {"project"}
    if len(kinds) != 1 or len(spoken) > 16:
        return None
    kind = kinds.pop()
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
            if year is not None and year != word:
                return None
            year = word
        elif word in LANGUAGE_WORDS:
            language = LANGUAGE_WORDS[word]
        elif word in NUMBERS or (word.isdigit() and int(word) <= LARGEST_NUMBER):
            number = NUMBERS.get(word) or int(word)
        elif word not in FILLER and word not in LATEST_WORDS and word not in COUNT_WORDS:
            return None
    singular = not asked & {"posts", "articulos", "entradas", "articles", "proyectos", "projects",
                            "publicaciones", "blogposts", "every"}  # fmt: skip
    if made and not topics:
        # «What have you made?» may be anything that is made of something.
        return None
    if singular and not (latest or count or made):
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


def read_parts(asked: Sequence[str], index: Index) -> tuple[CatalogueQuestion | None, ...]:
    """The catalogue question of each part of a message; «and which use Go» is about the kind before it."""
    before = ""
    read: list[CatalogueQuestion | None] = []
    for part in asked:
        spoken = words(part)
        kind_word = next((word for word in spoken if word in KIND_WORDS), "")
        if not kind_word and WITHOUT_NOUN & set(spoken[:2]):
            part = f"{part} {before}"
        before = kind_word or before
        read.append(read_question(part, index))
    return tuple(read)


def read_several(message: str, index: Index) -> tuple[CatalogueQuestion, ...]:
    """The two catalogue questions of a message that selects different pages with each; else nothing.

    «How many projects are there and which are they?» selects the same pages twice: one question.
    """
    asked = parts(message)
    read = [question for question in read_parts(asked, index) if question is not None]
    if len(asked) < 2 or len(read) < len(asked):
        return ()
    selected = {replace(each, form="list" if each.form == "count" else each.form) for each in read}
    return tuple(read) if len(selected) == len(read) else ()


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


def _tag_words(index: Index, kind: Kind) -> set[str]:
    return {
        word
        for document in index.documents.values()
        if document.kind == kind and not document.generated
        for word in words_of_tags(document)
    }


def words_of_tags(document: Document) -> set[str]:
    """Folded words of a page's tags that can select it."""
    return set(words(" ".join(document.tags))) - STOP_WORDS
