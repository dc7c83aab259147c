"""Sections to passages: one each where it fits, else cut at the best seam there is.

Every heading keeps a passage of its own: merging small neighbours would take away their names, and a
job below Experience must be found as `Experience — Metrimex — Frontend Developer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from corpus.model import HEADING_JOINT, Chunk
from corpus.section_kinds import kind_of_section
from indexer.blocks import Block
from indexer.dating import spans_of
from indexer.sections import Section
from indexer.tokens import CountTokens

CHUNKER_VERSION = 4
"""Raise it whenever the same source may give other passages, pages, kinds of sections or dates: every
index is then built again."""

BLOCK_JOINT = "\n\n"
BLOCK_JOINT_TOKENS = 2
# Room for the model's own start and end marks and rounding at the seams.
RESERVED_TOKENS = 8
LEAST_LIMIT = 32
# No language has words this long: a run beyond is data or script without blanks, and may be cut.
MAX_WORD_CHARS = 200
SENTENCE = re.compile(r".+?(?:[.!?…][\"'»”’)\]*_`]*(?=\s)|[。！？]|\n(?=[-*>|])|\Z)\s*", re.DOTALL)
WORD = re.compile(rf"\S{{1,{MAX_WORD_CHARS}}}\s*")


class _Piece(msgspec.Struct, frozen=True):
    text: str
    tokens: int


def chunk_sections(
    sections: Sequence[Section],
    *,
    limit: int,
    window: int,
    crumb_title: str,
    count: CountTokens,
    names_kinds: bool = True,
) -> list[Chunk]:
    """Passages of one document in order, each at most `limit` tokens unless it is a single word.

    `window` is the longest input of the model, counted with the breadcrumb before the passage.
    `names_kinds` is False where a heading like `Stack` or `Projects` says nothing of a person.
    """
    chunks: list[Chunk] = []
    for section in sections:
        heading = HEADING_JOINT.join(section.path)
        crumb = HEADING_JOINT.join(part for part in (crumb_title, heading) if part)
        room = _room(limit, window, crumb, count)
        kind = kind_of_section(section.path, crumb_title) if names_kinds else None
        for number, text in enumerate(_section_texts(section.blocks, room, count)):
            chunks.append(
                Chunk(
                    heading=heading,
                    anchor=section.anchor,
                    text=text,
                    ordinal=len(chunks),
                    section=kind,
                    spans=spans_of(section.path, text, is_first=number == 0),
                )
            )
    return chunks


def _room(limit: int, window: int, crumb: str, count: CountTokens) -> int:
    """Tokens left for a passage whose breadcrumb goes into the same window."""
    spare = window - RESERVED_TOKENS - limit
    if len(crumb) <= spare:  # a token is at least one character
        return limit
    return max(min(limit, limit + spare - count(crumb)), LEAST_LIMIT)


def _section_texts(blocks: Sequence[Block], limit: int, count: CountTokens) -> Iterator[str]:
    whole = BLOCK_JOINT.join(block.text for block in blocks)
    if not whole.strip():
        return
    if len(whole) <= limit or count(whole) <= limit:
        yield whole.strip("\n")
        return
    pieces = [piece for block in blocks for piece in _pieces(block, limit, count)]
    yield from _packed(pieces, BLOCK_JOINT, BLOCK_JOINT_TOKENS, limit)


def _packed(pieces: Sequence[_Piece], joint: str, joint_tokens: int, limit: int) -> Iterator[str]:
    """Neighbouring pieces joined as long as they fit; the sum of counts is never too low."""
    group: list[str] = []
    tokens = 0
    for piece in pieces:
        if group and tokens + joint_tokens + piece.tokens > limit:
            yield joint.join(group)
            group, tokens = [], 0
        tokens += piece.tokens + (joint_tokens if group else 0)
        group.append(piece.text)
    if group:
        yield joint.join(group)


def _pieces(block: Block, limit: int, count: CountTokens) -> list[_Piece]:
    """The block itself where it fits, else its pieces at its coarsest seams."""
    tokens = count(block.text)
    if tokens <= limit:
        return [_Piece(block.text.strip("\n"), tokens)] if block.text.strip() else []
    if block.kind == "group":
        parts = [piece for part in block.parts for piece in _pieces(part, limit, count)]
        return [
            _Piece(text, count(text))
            for text in _packed(parts, block.joint, len(block.joint), limit)
        ]
    if block.kind == "lines":
        return _cut(block.units, block, limit, count)
    return _cut(_sentences(block.text), msgspec.structs.replace(block, joint=""), limit, count)


def _cut(units: Sequence[str], block: Block, limit: int, count: CountTokens) -> list[_Piece]:
    """Units packed into pieces, each counted once as a whole with the block's head and tail."""
    text = _framed(units, block)
    tokens = count(text)
    if tokens <= limit:
        return [_Piece(text, tokens)] if any(unit.strip() for unit in units) else []
    if len(units) == 1:
        finer = _finer(units[0])
        if len(finer) == 1:
            return [_Piece(text, tokens)]
        return _cut(finer, msgspec.structs.replace(block, joint=""), limit, count)
    frame = len(_framed((), block))
    per_char = tokens / max(len(text), 1)
    budget = max(limit / per_char - frame, 1.0)
    pieces: list[_Piece] = []
    for group in _groups(units, budget, len(block.joint)):
        pieces.extend(_cut(group, block, limit, count))
    return pieces


def _groups(units: Sequence[str], budget: float, joint: int) -> list[Sequence[str]]:
    """Consecutive units of about `budget` characters; at least two groups, so that cutting ends."""
    groups: list[list[str]] = [[]]
    size = 0
    for unit in units:
        if groups[-1] and size + joint + len(unit) > budget:
            groups.append([])
            size = 0
        groups[-1].append(unit)
        size += len(unit) + joint
    if len(groups) == 1:
        half = len(units) // 2
        return [units[:half], units[half:]]
    return list(groups)


def _framed(units: Sequence[str], block: Block) -> str:
    inner = block.joint.join(units)
    if not block.head and not block.tail:
        return inner.strip() if block.kind == "prose" else inner.strip("\n")
    return "\n".join(part for part in (block.head, inner, block.tail) if part)


def _finer(unit: str) -> Sequence[str]:
    """Sentences of one unit, or its words where it is a single sentence."""
    sentences = _sentences(unit)
    return sentences if len(sentences) > 1 else WORD.findall(unit)


def _sentences(text: str) -> Sequence[str]:
    """Sentences with the white space after them, so that joining gives the text back."""
    return [sentence for sentence in SENTENCE.findall(text) if sentence]
