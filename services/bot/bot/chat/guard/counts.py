"""What a passage lists, as numbers an answer may count to: items, rows, series, sections."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIST_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+\S")
SERIES = re.compile(r"[^,;.\n]{1,60}(?:,[^,;.\n]{1,60}){1,9}")
HEADING = re.compile(r"^[ \t]*#{2,6}[ \t]", re.M)


def counts(passage: str) -> Iterator[int]:
    """Lengths of the passage's lists, tables, series and sections, up to ten."""
    items = rows = 0
    for line in [*passage.split("\n"), ""]:
        if LIST_LINE.match(line):
            items += 1
        elif not line.startswith("  "):  # an indented line goes on with its item
            if items:
                yield items
            items = 0
        if line.strip()[:1] == "|":
            rows += any(char.isalnum() for char in line)
        else:
            if rows > 1:
                yield rows - 1  # the first is the heading
            rows = 0
    for match in SERIES.finditer(passage):
        commas = match[0].count(",")
        yield from (commas + 1, commas + 2)  # «a, b, c» and «a, b and c»
    if sections := len(HEADING.findall(passage)):
        yield sections
