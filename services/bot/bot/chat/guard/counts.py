"""What a passage lists, as numbers an answer may count to: items, rows, series, sections."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIST_LINE = re.compile(r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+\S")
CLAUSE_END = re.compile(r"[;.\n]")
LONGEST_PART = 60  # characters between two commas of a series
MOST_PARTS = 10
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
    for clause in CLAUSE_END.split(passage):
        parts = clause.split(",")
        if 1 < len(parts) <= MOST_PARTS and all(len(part) <= LONGEST_PART for part in parts[1:]):
            yield from (len(parts), len(parts) + 1)  # «a, b, c» and «a, b and c»
    if sections := len(HEADING.findall(passage)):
        yield sections
