"""Versions and years a question is about: a page that names others does not answer it.

«When does tidecalc 3.0 come out?» finds the page that tells of 2.0, and «your talk of 2025» those of 2023
and 2024, as well as if they were asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.text import fold

NO_NAME = (
    "de|del|of|in|en|a|al|to|than|que|los|las|the|about|un|una|y|and|or|o|for|es|is|hay|only|solo"
)
UNIT = (
    r"%|cm|mm|km|m|kg|kb|mb|gb|ms|s|seg\w*|sec\w*|mil\w*|h|horas|hours|metros|met\w+|veces|times|x"
)
VERSION = re.compile(
    r"\b(?:version|v)\s?(\d+(?:\.\d+)*)\b"
    rf"|\b(?!(?:{NO_NAME})\s)[a-z][\w-]* (\d+\.\d+)(?![\d.]|\s?(?:{UNIT})(?!\w))"
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
SPAN = re.compile(
    r"\b((?:19|20)\d\d)\s?[–—-]\s?(?:\w{3,10}\.? )?((?:19|20)\d\d|present|actualidad|hoy|now)\b"
)
SINCE = re.compile(r"\b(?:since|desde) (?:\w+ )?((?:19|20)\d\d)\b")
NO_END = 9999


def lacks_version(question: str, passages: Sequence[str]) -> bool:
    """Whether the question asks about a version that no passage names: «tidecalc 3.0», «version 4»."""
    match = VERSION.search(fold(question))
    if match is None:
        return False
    asked = match[1] or match[2]
    behind = r"(?!\d)" if "." in asked else r"(?!\d|[.)]\s)"  # «4.» is an item of a list
    named = re.compile(rf"(?<![\d.]){re.escape(asked)}{behind}")
    return not any(named.search(passage) for passage in passages)


def lacks_year(question: str, passages: Sequence[str]) -> bool:
    """Whether the question names years of which no passage names one, nor a span or a beginning before it."""
    asked = {int(year) for year in YEAR.findall(question)}
    if not asked:
        return False
    folded = [fold(passage) for passage in passages]
    spans = [
        (int(a), int(b) if b.isdecimal() else NO_END)
        for text in folded
        for a, b in SPAN.findall(text)
    ]
    spans += [(int(year), NO_END) for text in folded for year in SINCE.findall(text)]
    named = {int(year) for text in folded for year in YEAR.findall(text)}
    return not any(year in named or any(a <= year <= b for a, b in spans) for year in asked)
