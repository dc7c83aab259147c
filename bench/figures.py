"""Small statistics the benchmarks share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RANKS = (50, 95)


def percentiles(values: Sequence[float], digits: int | None = 2) -> dict[str, float]:
    """`p50` and `p95`, rounded to so many digits, None for whole numbers; NaN where there is no value."""
    return {
        f"p{rank}": round(float(np.percentile(values, rank)), digits) if values else float("nan")
        for rank in RANKS
    }


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table with aligned columns."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
