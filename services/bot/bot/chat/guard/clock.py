"""Times of day as texts write them: `9 am`, `9:00`, `21:00`, `9 in the evening`, `las nueve de la noche`."""

from __future__ import annotations

import re
from collections.abc import Sequence

HALF_DAYS = frozenset(("am", "pm"))
"""Units of an hour: «9 AM» is a time, which a bare 9 does not support."""
HALF_WORDS = dict.fromkeys("am manana madrugada morning".split(), "am") | dict.fromkeys(
    "pm tarde noche afternoon evening night".split(), "pm"
)
WORDS_BEHIND = 4  # «9:00 in the morning»
LAST_HOUR = 23
FULL_HOUR = re.compile(r"(\d{1,2}):00")


def half_day(hour: int, behind: Sequence[str], between: str) -> str | None:
    """Half of the day that an hour is in; None where nothing says that it is an hour.

    Args:
        behind: folded words and numbers that follow it.
        between: what stands between it and the first of them.
    """
    if hour > LAST_HOUR:
        return None
    clock = between == ":" and len(behind) > 0 and len(behind[0]) == 2 and behind[0].isdecimal()
    if hour <= 12:
        following = list(behind[clock:])
        if following[:2] in (["a", "m"], ["p", "m"]):
            return f"{following[0]}m"
        numbers = (n for n, word in enumerate(following) if word[0].isdecimal())
        named = (HALF_WORDS[w] for w in following[: next(numbers, WORDS_BEHIND)] if w in HALF_WORDS)
        if half := next(named, None):
            return half
    return half_of(hour) if clock else None


def half_of(hour: int) -> str:
    """Half of the day of an hour on a face of twenty-four."""
    return "pm" if hour >= 12 else "am"


def of_twelve(hour: int) -> int:
    """The hour on a face of twelve."""
    return (hour - 1) % 12 + 1
