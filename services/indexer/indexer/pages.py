"""Passages to pages: runs of neighbours that the model reads together.

A page keeps the context of a fact together and is read by the model once for every question about
it. The cut is the best of all by three rules, the first one first:

1. few pages; a section cut in two counts as one page more
2. cuts between sections, at the outermost headings there are
3. pages of even size
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from corpus.model import HEADING_JOINT, Chunk
from corpus.passage import page_text
from indexer.tokens import CountTokens

JOINT_TOKENS = 2  # an empty line; one token in the tokenizers known, two to be safe
WITHIN_SECTION = 6  # deeper than any heading of Markdown

_Cost = tuple[int, int, int]


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """The passages of one document with their page, and the tokens of each page."""

    chunks: tuple[Chunk, ...]
    tokens: tuple[int, ...]


def form_pages(title: str, chunks: Sequence[Chunk], *, limit: int, count: CountTokens) -> Pages:
    """Pages of one document, each of at most `limit` tokens unless it is a single passage."""
    if not chunks:
        return Pages(chunks=(), tokens=())
    room = limit - (count(title) + JOINT_TOKENS if title else 0)
    sizes = [count(page_text("", [chunk])) + JOINT_TOKENS for chunk in chunks]
    depths = [0, *(_depth(left, right) for left, right in itertools.pairwise(chunks))]
    borders = [*_page_starts(sizes, depths, room), len(chunks)]
    paged: list[Chunk] = []
    tokens: list[int] = []
    for page, (start, end) in enumerate(itertools.pairwise(borders)):
        paged += [msgspec.structs.replace(chunk, page=page) for chunk in chunks[start:end]]
        tokens.append(count(page_text(title, chunks[start:end])))
    return Pages(chunks=tuple(paged), tokens=tuple(tokens))


def _depth(left: Chunk, right: Chunk) -> int:
    """Headings that stay open between two neighbours: 0 where the outermost one changes."""
    if (left.heading, left.anchor) == (right.heading, right.anchor):
        return WITHIN_SECTION
    before, after = left.heading.split(HEADING_JOINT), right.heading.split(HEADING_JOINT)
    shared = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        shared += 1
    # Two sections of one name after each other: the last heading is opened anew
    return min(shared, len(after) - 1, WITHIN_SECTION - 1)


def _page_starts(sizes: Sequence[int], depths: Sequence[int], room: int) -> list[int]:
    """Where pages begin in the cheapest cut, by dynamic programming over the ends of pages."""
    best: list[_Cost] = [(0, 0, 0)]
    came_from = [0]
    for end in range(1, len(sizes) + 1):
        cheapest: tuple[_Cost, int] | None = None
        size = 0
        for start in range(end - 1, -1, -1):
            size += sizes[start]
            if size > room and start < end - 1:
                break
            pages, depth, squares = best[start]
            cut = depths[start] if start else 0
            cost = (pages + 1 + (cut == WITHIN_SECTION), depth + cut, squares + size * size)
            if cheapest is None or cost < cheapest[0]:
                cheapest = (cost, start)
        assert cheapest is not None
        best.append(cheapest[0])
        came_from.append(cheapest[1])
    starts: list[int] = []
    end = len(sizes)
    while end:
        end = came_from[end]
        starts.append(end)
    return starts[::-1]
