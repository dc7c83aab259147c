"""«What projects are there?»: lists, counts and the latest, straight from the index without a model.

Models count badly (Mintplex-Labs/anything-llm#4275: 102 records became 4). A question is taken here
only when every word of it is understood: the asking, the kind of page, and for the rest tags or a
year that select pages. Anything else is a question for retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from bot.chat import phrases
from corpus.model import Document, Kind, Language
from corpus.reader import Index
from corpus.text import words

Form = Literal["list", "count", "latest"]
MOST_LISTED = 30
DEFAULT_LATEST = 3

KIND_WORDS: dict[str, Kind] = dict.fromkeys(
    "proyecto proyectos project projects".split(), "project"
)
KIND_WORDS |= dict.fromkeys(
    "post posts articulo articulos article articles entrada entradas publicacion publicaciones "
    "blogpost blogposts".split(),
    "post",
)
COUNT_WORDS = frozenset("cuantos cuantas how many numero number count".split())
LATEST_WORDS = frozenset(
    "ultimo ultimos ultima ultimas reciente recientes nuevo nuevos latest newest last recent "
    "recently new".split()
)
LIST_WORDS = frozenset(
    "que cuales lista listame enumera what which list show see ver muestrame all every".split()
)
# Words around such a question that select nothing.
FILLER = frozenset(
    "a about all and any are be can cual cuales de del dime do does el ella en every ense ensename es esta "
    "este estan existe existen favor for from give ha haber habeis habla hablan han has hasta hay have hecho "
    "hechos how i in is it la las list lista listame listar los made many mas me mencionan most muestrame "
    "mi my of on or os page pagina please por portfolio portafolio publicado publicados puedes que quiero "
    "realizado realizados saber se see show site sitio sobre sois son studio estudio tell that the their "
    "there these they this tienen teneis tienes to todos todo todas tratan un una uno us using usa usan used "
    "use ver vuestro vuestros web website what which with con was were you your yours tus tu su sus "
    "written escrito escritos escribi desarrollado desarrollados built build creado creados done is do "
    "s re ve ultimo ultimos ultima ultimas reciente recientes nuevo nuevos latest newest last recent "
    "recently cuantos cuantas numero number count blog entero completo tiene published publicaste "
    "enumera enumerame list cuentame y worked titulado titulados llama llaman called fecha dia".split()
)  # fmt: skip
LANGUAGE_WORDS: dict[str, Language] = {
    "espanol": "es", "castellano": "es", "spanish": "es", "ingles": "en", "english": "en",
}  # fmt: skip
NUMBERS = {
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "two": 2, "three": 3, "four": 4, "five": 5,
}  # fmt: skip
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
    """Folded words, each of them part of a tag of this kind's pages."""


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
    if not (latest or count or asked & LIST_WORDS or len(asked - FILLER) <= 2):
        return None
    tags = _tag_words(index, kind)
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
    if question.topics or question.year:
        topic = " ".join((*question.topics, *((question.year,) if question.year else ())))
        about = phrases.ABOUT[language].format(topic=topic)
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
