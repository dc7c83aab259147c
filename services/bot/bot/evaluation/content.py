"""Where the full text of a shown passage comes from: the index, or no more than its quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from bot.evaluation.addresses import EMAIL, URL, address
from bot.evaluation.answers import Shown
from bot.evaluation.evidence import Text
from bot.evaluation.facts import folded
from corpus.passage import Passage
from corpus.reader import Index
from corpus.span_parser import find_spans
from corpus.spans import Span

WORD = re.compile(r"[^\W_]+")


class Content(Protocol):
    """The site as the checks read it."""

    source: str
    """`index` or `quotes`."""
    strangers: int
    """Shown passages that were not found: the index is not the bot's."""

    def cited(self, shown: Shown) -> Text:
        """Everything of one passage."""
        ...

    def read(self, shown: Shown) -> tuple[Text, ...]:
        """Everything of the page the passage stands on: what the model had before it."""
        ...

    def addresses(self) -> frozenset[str] | None:
        """Every e-mail and web address of the site; None where that is not known."""
        ...


class QuoteContent:
    """What the bot's own events tell: title, heading and quote of each passage."""

    source = "quotes"

    def __init__(self) -> None:
        self.strangers = 0

    def cited(self, shown: Shown) -> Text:
        text = f"{shown.title}\n{shown.section}\n{shown.quote}\n{shown.url}"
        return Text(text=text, spans=tuple(find_spans(text)))

    def read(self, shown: Shown) -> tuple[Text, ...]:
        return (self.cited(shown),)

    def addresses(self) -> frozenset[str] | None:
        return None


class IndexContent:
    """The passages of an opened index."""

    source = "index"

    def __init__(self, index: Index) -> None:
        self._index = index
        self.strangers = 0
        self._passages: dict[tuple[str, str], list[Passage]] = {}
        for page in index.pages:
            for passage in page.passages:
                key = (passage.document.title, passage.chunk.heading)
                self._passages.setdefault(key, []).append(passage)
        self._sections = _section_spans(index)
        self._quotes = QuoteContent()

    def cited(self, shown: Shown) -> Text:
        """The passage that holds the quote; all of its section where several or none do."""
        found = self._found(shown)
        if not found:
            self.strangers += 1
            return self._quotes.cited(shown)
        return Text(
            text="\n".join([_head(found[0]), shown.url, *(p.chunk.text for p in found)]),
            spans=tuple(span for passage in found for span in passage.chunk.spans),
        )

    def read(self, shown: Shown) -> tuple[Text, ...]:
        found = self._found(shown)
        if not found:
            return self._quotes.read(shown)
        pages = [self._index.page_of(passage.chunk_id) for passage in found]
        whole = dict.fromkeys(page.document.path for page in pages)
        sums = [text for path in whole for text in self._sections.get(path, ())]
        return (
            *sums,
            *(
                Text(
                    text="\n".join([_about(page.passages[0]), shown.url, page.text]),
                    spans=tuple(span for passage in page.passages for span in passage.chunk.spans),
                )
                for page in pages
            ),
        )

    def addresses(self) -> frozenset[str] | None:
        return frozenset(
            found
            for page in self._index.pages
            for found in addresses_in(f"{page.text}\n{page.document.url}")
        )

    def _found(self, shown: Shown) -> list[Passage]:
        same = self._passages.get((shown.title, shown.section), [])
        if not same and not shown.section:  # a whole page, of the catalogue
            same = [
                p for (title, _), ps in self._passages.items() if title == shown.title for p in ps
            ]
        linked = [
            passage
            for passage in same
            if not shown.url or passage.document.url == shown.url.split("#", 1)[0]
        ]
        quote = _words(shown.quote.removesuffix("…"))
        holding = [passage for passage in linked if quote and quote in _words(passage.chunk.text)]
        return holding or linked or same


def addresses_in(text: str) -> Iterator[str]:
    """E-mail and web addresses in the form that compares."""
    yield from (folded(match[0].rstrip(".")) for match in EMAIL.finditer(text))
    yield from (address(match[0]) for match in URL.finditer(EMAIL.sub(" ", text)))


def _section_spans(index: Index) -> dict[str, list[Text]]:
    """By document, the dated entries of each kind of section: what "in total" adds up."""
    found: dict[str, dict[str, list[Span]]] = {}
    for page in index.pages:
        for passage in page.passages:
            if passage.chunk.section:
                sections = found.setdefault(page.document.path, {})
                sections.setdefault(passage.chunk.section, []).extend(passage.chunk.spans)
    return {
        path: [Text(text="", spans=tuple(spans)) for spans in sections.values()]
        for path, sections in found.items()
    }


def _head(passage: Passage) -> str:
    return f"{passage.document.title}\n{passage.chunk.heading}"


def _about(passage: Passage) -> str:
    document = passage.document
    told = (document.title, document.description, document.date or "", " ".join(document.tags))
    return "\n".join(told)


def _words(text: str) -> str:
    return " ".join(WORD.findall(folded(text)))
