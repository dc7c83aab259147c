"""Dates in figures: `2024-07-01`, `07/2024`, `1.7.2024`."""

from __future__ import annotations

import re

ISO_DATE = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?![\d-])")
SLASH_DATE = re.compile(
    r"(?<![\d/])(?:(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.]|(?P<only>\d{1,2})/)(?P<year>\d{4})(?![\d/])"
)


def date_parts(match: re.Match[str]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Year, possible months and possible days of a date in figures: `01/07/2024` may be either."""
    parts = match.groupdict()
    numbers = [int(parts[name]) for name in ("month", "day", "only") if parts.get(name)]
    months = tuple(n for n in numbers if 1 <= n <= 12)
    if match.re is ISO_DATE:
        months, numbers = months[:1], numbers[1:]
    elif len(numbers) == 1:  # 07/2024
        numbers = []
    return int(parts["year"]), months, tuple(numbers)
