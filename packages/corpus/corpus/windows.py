"""Cut a passage into windows of a sentence or two: the fine half of a chunk's dense score.

One vector for 256 tokens blurs a fact that stands in one sentence. So a chunk gets one vector of the
whole and one for each window of its text, each behind the breadcrumb; its cosine is the mean of the
first and the best of the others. docs/decisions/0003 says what that gains.
"""

from __future__ import annotations

import math
import re

WINDOW_CHARS = 260  # about 60 tokens of the e5 tokenizer: best of 60, 72, 90 and 128 on XQuAD
BLOCK_END = re.compile(r"\n\s*\n")
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")


def windows(text: str) -> list[str]:
    """Consecutive windows of about equal length, at most `WINDOW_CHARS` unless a sentence is longer.

    Nothing is lost but white space between sentences; a text that fits is one window; a blank text
    has none.
    """
    blocks = [_sentences(block) for block in BLOCK_END.split(text)]
    blocks = [block for block in blocks if block]
    if not blocks:
        return []
    total = sum(len(part) for block in blocks for part in block)
    target = total / math.ceil(total / WINDOW_CHARS)
    found: list[list[str]] = [[]]
    length = 0
    for block in blocks:
        # A new paragraph opens a new window, unless the one before is still short.
        if found[-1] and length >= target / 2:
            found.append([])
            length = 0
        for part in block:
            if found[-1] and (length + len(part) > WINDOW_CHARS or length >= target):
                found.append([])
                length = 0
            found[-1].append(part)
            length += len(part) + 1
    return [" ".join(parts) for parts in found]


def _sentences(block: str) -> list[str]:
    """Sentences and lines of a paragraph that hold more than marks."""
    return [part for part in SENTENCE_END.split(block.strip()) if part.strip(" \t|-:*#>`")]
