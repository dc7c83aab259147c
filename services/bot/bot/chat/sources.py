"""What the visitor sees of the passages: title, section, link and the quote that counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat.events import SourcePassage, Sources
from bot.chat.names import names_in
from corpus.model import Document
from corpus.reader import Index, Passage
from corpus.text import content_words, words
from corpus.vectors import Vector
from corpus.windows import windows

MOST_QUOTE_CHARS = 280
MARKUP = re.compile(
    r"^\s{0,3}(?:#{1,6}|>|[-*+]|\d+[.)])\s+|[*`]|(?<!\w)_+|(?<=[^\W_])_+(?!\w)|^[\s:|-]+$", re.M
)


def sources_of(
    index: Index, numbered: Sequence[tuple[int, Passage]], question: str, vector: Vector | None
) -> Sources:
    """The `sources` event of some passages under the numbers the visitor sees."""
    return Sources(
        documents=tuple(dict.fromkeys(passage.document.name for _, passage in numbered)),
        passages=tuple(
            SourcePassage(
                n=n,
                title=passage.document.title,
                section=passage.chunk.heading,
                url=link(passage),
                lang=passage.document.lang,
                kind=passage.document.kind,
                quote=quote(index, passage, question, vector),
            )
            for n, passage in numbered
        ),
    )


def listed(documents: Sequence[Document]) -> Sources:
    """The `sources` event of whole pages: a catalogue."""
    return Sources(
        documents=tuple(document.name for document in documents),
        passages=tuple(
            SourcePassage(
                n=n, title=document.title, section="", url=document.url, lang=document.lang,
                kind=document.kind, quote=document.description,
            )
            for n, document in enumerate(documents, start=1)
        ),
    )  # fmt: skip


def link(passage: Passage) -> str:
    """Address of the passage's section; empty for generated pages, which have none."""
    url, anchor = passage.document.url, passage.chunk.anchor
    return f"{url}#{anchor}" if url and anchor else url


def quote(index: Index, passage: Passage, question: str, vector: Vector | None) -> str:
    """The window of the passage nearest to the question, as plain text of one line."""
    parts = windows(passage.chunk.text)
    if not parts:
        return ""
    best = index.best_window(passage.chunk_id, vector) if vector is not None else None
    if best is None or best >= len(parts):
        asked = set(content_words(question))
        best = max(range(len(parts)), key=lambda i: (len(asked & set(words(parts[i]))), -i))
    text = re.sub(r"\s+", " ", MARKUP.sub(" ", parts[best]).replace("|", " ")).strip()
    if len(text) <= MOST_QUOTE_CHARS:
        return text
    return text[: MOST_QUOTE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def supporting(passages: Sequence[Passage], text: str) -> int:
    """Number of the passage that holds most names of `text`, then most of its words; 1 at a tie.

    Names first: they keep their spelling when the answer is in another language than the passage.
    """
    names, said = names_in(text), set(content_words(text))
    held = [set(words(full_text(passage))) for passage in passages]
    shares = [(len(names & there), len(said & there)) for there in held]
    return shares.index(max(shares)) + 1 if shares else 1


def full_text(passage: Passage) -> str:
    """Everything of a passage an answer may rest on: title, heading and text."""
    return f"{passage.document.title} {passage.chunk.heading} {passage.chunk.text}"
