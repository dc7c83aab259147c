"""Which range of dates belongs to what: the heading's, the first line's, a list item's, running text's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from corpus.section_kinds import kind_of_heading
from corpus.span_parser import Found, find_spans
from corpus.spans import Span

MOST_ENTRY_CHARS = 80
ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|\|)\s+")
EDGES = " \t|.,;:()[]–—-*_·"
MARKS = re.compile(r"[*_`]+|^\s*(?:[-*+•]|\d+[.)]|\|)\s+|\s*\|\s*$")
LEFT_EMPTY = re.compile(r"\s*(?:\(\s*\)|\[\s*\])|\s+(?=[,:;.])")
SPACES = re.compile(r"\s*\|\s*|\s{2,}")


def spans_of(path: Sequence[str], text: str, *, is_first: bool = True) -> tuple[Span, ...]:
    """Ranges of one passage: those of its own heading, then those of its text.

    The heading's dates the section; without one the range in the first line does. Below a heading
    that announces a kind (Experience) each list item and table row is an entry of its own.

    Args:
        path: headings from the outermost down to the passage's own.
        is_first: False for a later passage of the same section, whose heading counted already.
    """
    title = path[-1] if path else ""
    own = find_spans(title)
    name = _without(title, own) or title
    is_list = not path or kind_of_heading(title) is not None
    found = [_named(span, "" if is_list else name) for span in own] if is_first else []
    is_dated = bool(own) or not is_first
    for line, spans, is_first_line in _lines(text):
        entry = ""
        if is_list and ITEM.match(line):
            entry = _without(line, spans)
        elif is_first_line and not is_list and not is_dated:
            entry = name
        found += [_named(span, entry if number == 0 else "") for number, span in enumerate(spans)]
    return tuple(dict.fromkeys(found))


def _lines(text: str) -> Iterator[tuple[str, list[Found], bool]]:
    """Lines that hold ranges, with the ranges, and whether they are the first line of the text."""
    spans = find_spans(text)
    first = len(text) - len(text.lstrip())
    start = 0
    for line in text.splitlines(keepends=True):
        own = [
            msgspec.structs.replace(span, first=span.first - start, last=span.last - start)
            for span in spans
            if start <= span.first < start + len(line)
        ]
        if own:
            yield line, own, start <= first < start + len(line)
        start += len(line)


def _named(span: Found, entry: str) -> Span:
    return Span(text=span.text, start=span.start, end=span.end, entry=entry)


def _without(line: str, spans: Sequence[Found]) -> str:
    """The words of a heading, list item or table row beside its dates."""
    for span in reversed(spans):
        line = f"{line[: span.first]} {line[span.last :]}"
    name = MARKS.sub("", line.strip()).strip(EDGES)
    name = SPACES.sub(" ", LEFT_EMPTY.sub("", name)).strip(EDGES)
    if len(name) <= MOST_ENTRY_CHARS:
        return name
    return name[:MOST_ENTRY_CHARS].rsplit(" ", 1)[0] + "…"
