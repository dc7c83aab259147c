"""Bars as inline SVG; colours come from the page's style sheet, so they follow light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from msgspec import Struct

ROW = 30
LEFT = 250
WIDTH = 760
ROOM = WIDTH - LEFT - 110
PALETTE = 8
"""Classes `c0` to `c7` of the style sheet."""


class Bar(Struct, frozen=True, kw_only=True):
    """One row: how far the bar goes, 0-1, its words, and where a mark stands, if anywhere."""

    label: str
    share: float
    text: str
    mark: float | None = None
    """An earlier value on the same scale."""


def bars(title: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars, one a row, with a line where the mark is."""
    parts = []
    for number, row in enumerate(rows):
        y = 10 + number * ROW
        length = ROOM * min(max(row.share, 0.0), 1.0)
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(row.label)}</text>'
            f'<rect class="rail" x="{LEFT}" y="{y}" width="{ROOM}" height="20" rx="3"/>'
            f'<rect class="c0" x="{LEFT}" y="{y}" width="{length:.1f}" height="20" rx="3"/>'
            f'<text x="{LEFT + ROOM + 8}" y="{y + 15}">{escape(row.text)}</text>'
        )
        if row.mark is not None:
            x = LEFT + ROOM * min(max(row.mark, 0.0), 1.0)
            parts.append(f'<rect class="mark" x="{x - 1:.1f}" y="{y - 3}" width="2" height="26"/>')
    return _svg(title, parts, len(rows) * ROW + 20)


def stacks(title: str, rows: Mapping[str, Mapping[str, int]]) -> str:
    """One full-width bar a row, divided by how often each part occurs, with a legend."""
    names = list(dict.fromkeys(name for parts in rows.values() for name in parts))
    colour = {name: f"c{place % PALETTE}" for place, name in enumerate(names)}
    drawn = []
    for number, (label, parts) in enumerate(rows.items()):
        y, x, whole = 10 + number * ROW, float(LEFT), sum(parts.values())
        drawn.append(f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(label)}</text>')
        for name, count in parts.items():
            width = ROOM * count / whole
            drawn.append(
                f'<rect class="{colour[name]}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="20">'
                f"<title>{escape(f'{name}: {count}')}</title></rect>"
            )
            x += width
    legend = "".join(
        f'<li><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">'
        f'<rect class="{colour[name]}" width="12" height="12" rx="2"/></svg> {escape(name)}</li>'
        for name in names
    )
    return _svg(title, drawn, len(rows) * ROW + 20) + f'<ul class="legend">{legend}</ul>'


def _svg(title: str, parts: Sequence[str], height: int) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
