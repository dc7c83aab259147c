"""Where a word of an answer begins and ends, one character at a time."""

from __future__ import annotations

import re

CONNECTORS = frozenset(".,'’-/:&_@")
SENTENCE_END = re.compile(r"[.!?…]['\")»”*_\]\d\[]*\s|\n")
LINE_START = re.compile(r"\n[\s>*_#-]{0,24}\Z")
# Behind these a capital letter says nothing, either.
AFTER = re.compile(r"[.!?…:;¿¡|•–—]|[(«“\"`\[*]\s{0,24}\Z|\n|\s-\s")


def takes(char: str) -> bool:
    """Whether a word may begin with the character."""
    return char.isalnum() or char == "@"


def joins(token: str, tail: str, char: str) -> bool:
    """Whether `char` goes on with the word, `tail` being a connector in between."""
    last = token[-1]
    if not tail:
        return char.isalnum() or (char in "+#" and (last.isalpha() or last in "+#"))
    if tail == "://":
        return not char.isspace()
    if not char.isalnum() or len(tail) > 1:
        return False
    if tail in ",:":
        return last.isdecimal() and char.isdecimal()
    if tail in "'’":
        return last.isalpha() and char.isalpha()
    if tail == ".":  # «end.The next» is a slip of the pen, not a name
        return not (char.isupper() and not last.isupper())
    return True


def joins_later(token: str, tail: str, char: str) -> bool:
    """Whether `char` is a connector that the next character decides about."""
    if not tail:
        return char in CONNECTORS
    return token.isalpha() and (tail + char) in (":/", "://")


def starts_sentence(between: str, *, ends_only: bool = False) -> bool:
    """Whether what stands between two words lets a capital letter follow; or ends a sentence."""
    return bool((SENTENCE_END if ends_only else AFTER).search(between))


def starts_line(between: str) -> bool:
    """Whether only blanks and marks stand between the line's beginning and the next word."""
    return bool(LINE_START.search(between))
