"""Keys of one word or number: what it is compared by, whatever its language and spelling."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from bot.chat.guard.calendar import calendar_key
from bot.chat.guard.twins import SPELLINGS, TWINS, singular


@lru_cache(maxsize=20_000)
def word_keys(word: str, *, capital: bool = True) -> tuple[str, ...]:
    """Keys of one folded word: itself, its singular, its twin, its spelling, its month."""
    keys = [word, f"~{singular(word)}"]
    if word in TWINS:
        keys.append(TWINS[word])
    if word in SPELLINGS:
        keys.append(f"={SPELLINGS[word]}")
    if date := calendar_key(word, capital=capital):
        keys.append(date)
    return tuple(keys)


def within_name(number: str) -> str:
    """The key of a number that is part of a name: the 3 of GPL-3.0 counts nothing."""
    return f"g{number[1:]}"


def parts(name: str) -> Iterator[str]:
    """`n35` is written «treinta y cinco», too: its parts, as parts."""
    value = name[1:]
    if value.isdecimal() and 20 < int(value[:9]) < 100 and len(value) == 2:
        yield f"p{int(value) // 10 * 10}"
        yield f"p{int(value) % 10}"
