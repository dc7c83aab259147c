"""No text makes a pattern of ours run for ever: 10⁵ hostile characters pass each within the limit."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import deque
from collections.abc import Iterator

import pytest

import bot.chat
import bot.chat.guard
import corpus
from bot.chat.attributes import ATTRIBUTES
from bot.chat.names import names_in
from corpus.language import detect_language
from corpus.text import ALIASES
from tests.cpu_limit import at_most_cpu_seconds

CHARS = 100_000
LIMIT_SECONDS = 20.0  # of the CPU: the slowest takes 1.5, a quadratic one minutes
HOSTILE = (
    """a _ a_ - a- . a. / < <| <a « “ " ` ``` @ a@ [ ( | : 1 ¿ h https:// c+ # * á …""".split()
)
HOSTILE += [" ", "\n", "\t|", "1 ", "+1 ", ": ", "A ", "[ ", "que hay ", "cuanto ", "… ", "nan, "]


def compiled() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Every pattern that a module of the chat or the corpus holds."""
    for package in (bot.chat, bot.chat.guard, corpus):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                for number, item in enumerate(value if isinstance(value, tuple) else (value,)):
                    if isinstance(item, re.Pattern):
                        yield f"{found.name}.{name}.{number}", item
    for attribute in ATTRIBUTES:
        yield f"{attribute.name}.asked", attribute.asked
        yield f"{attribute.name}.given", attribute.given
    for number, (pattern, _) in enumerate(ALIASES):
        yield f"alias.{number}", pattern


# Only ever given the last few hundred characters of an answer, or a label of 160.
SEARCHED_IN_LITTLE = (
    "bot.chat.citations.OPEN",
    "bot.chat.citations.UNFINISHED",
    "bot.chat.citations.NUMBERS",
)
PATTERNS = {
    name: pattern for name, pattern in compiled() if not name.startswith(SEARCHED_IN_LITTLE)
}


def test_the_patterns_are_found() -> None:
    assert len(PATTERNS) > 30


@pytest.mark.parametrize("name", PATTERNS)
def test_hostile_text_takes_linear_time(name: str) -> None:
    """B12"""
    pattern = PATTERNS[name]
    with at_most_cpu_seconds(LIMIT_SECONDS):
        for part in HOSTILE:
            text = (part * CHARS)[:CHARS] + "x"
            deque(pattern.finditer(text if isinstance(pattern.pattern, str) else text.encode()), 0)


@pytest.mark.parametrize("part", ["A ", "a ", ' "', "\n", "<a", "1-"])
def test_what_loops_over_the_words_is_linear_too(part: str) -> None:
    """B12: names look back to the start of their sentence."""
    with at_most_cpu_seconds(LIMIT_SECONDS):
        text = (part * CHARS)[:CHARS]
        names_in(text)
        detect_language(text)
