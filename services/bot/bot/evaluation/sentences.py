"""An answer cut into sentences, each with the citations that belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from bot.evaluation.answers import MARK

ESCAPED = re.compile(r"\\([\\`*\[\]<>|~_+#=.)-])")
MARKUP = re.compile(
    r"^\s{0,3}(?:>\s?)+|^\s{0,6}(?:[-*+]|\d{1,2}[.)])\s+|^\s{0,3}#{1,6}\s+|\*\*|__", re.M
)
# A full stop ends a sentence where a space and no small letter follow; the citations behind it are its own.
END = re.compile(
    r"(?<=[.!?…])[\"»”)]*(?:\s*\[\d{1,4}\])*(?=\s+[^\sa-zà-ÿ])|(?:\s*\[\d{1,4}\])+(?=\s+[A-ZÀ-Þ¿¡«“])|\n"
)
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|p\. ?ej|etc|vs|Sr|Sra|Dr|Dra|Mr|Mrs|Ms|St|núm|no|approx|aprox)\.)\Z", re.I
)


class Sentence(Struct, frozen=True, kw_only=True):
    """Plain text without Markdown and citations."""

    text: str
    cited: tuple[int, ...]
    item: bool = False
    """It is an item of a list."""


def plain(answer: str) -> str:
    """The answer without the backslashes of its Markdown."""
    return ESCAPED.sub(r"\1", answer)


def sentences(answer: str) -> Iterator[Sentence]:
    """The sentences in order; empty ones and lone citations are joined to the one before."""
    kept: list[Sentence] = []
    for piece in _pieces(plain(answer)):
        text = " ".join(MARK.sub("", MARKUP.sub("", piece)).split())
        cited = tuple(dict.fromkeys(int(n) for n in MARK.findall(piece)))
        if re.search(r"\w", text):
            item = re.match(r"\s*(?:[-*+]|\d{1,2}[.)])\s", piece) is not None
            kept.append(Sentence(text=text, cited=cited, item=item))
        elif cited and kept:
            last = kept.pop()
            kept.append(
                Sentence(
                    text=last.text,
                    cited=tuple(dict.fromkeys((*last.cited, *cited))),
                    item=last.item,
                )
            )
    yield from kept


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in END.finditer(text):
        piece = text[start : match.end()]
        if match[0] != "\n" and (_is_quoting(piece) or ABBREVIATION.search(piece.rstrip())):
            continue
        if piece.strip():
            yield piece
        start = match.end()
    if text[start:].strip():
        yield text[start:]


def _is_quoting(piece: str) -> bool:
    """A quotation is open at its end; the full stops in it are somebody else's."""
    return any(piece.count(opening) > piece.count(closing) for opening, closing in ("«»", "“”"))
