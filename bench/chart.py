"""A bar chart as SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

ROW = 34
LEFT = 250
WIDTH = 760
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#333}rect{fill:#2563a8}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}rect{fill:#6aa5e8}}"
)


def bars(rows: Sequence[tuple[str, float]], title: str) -> str:
    """One horizontal bar a row, with its value behind it."""
    longest = max(value for _, value in rows)
    room = WIDTH - LEFT - 70
    height = ROW * len(rows) + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<text x="10" y="24" font-weight="bold">{escape(title)}</text>',
    ]
    for n, (label, value) in enumerate(rows):
        y = 40 + n * ROW
        length = max(room * value / longest, 1)
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 19}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{LEFT}" y="{y + 4}" width="{length:.0f}" height="22" rx="3"/>'
            f'<text x="{LEFT + length + 8:.0f}" y="{y + 19}">{value:.2f} s</text>'
        )
    return "\n".join([*parts, "</svg>\n"])
