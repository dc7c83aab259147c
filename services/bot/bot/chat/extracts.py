"""An answer without a model: the found passages in their own words, said to be just that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from bot.chat.best_sentences import best_sentences
from bot.chat.phrases import EXTRACTS
from corpus.model import Language, breadcrumb
from corpus.reader import Passage

Reason = Literal["busy", "down"]
"""Why no model answers: its line is too long, or it does not work."""
MOST_QUOTES = 3
QUOTE_CHARS = 240
# What Markdown would read as a mark; a bracket would make a citation or a link of the site's words.
ACTIVE = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)")
# At the start of a line: a list, a heading, a quote inside the quote, a rule.
OPENING = re.compile(r"(?:[-+#=]|\d{1,9}(?=[.)]))")


def extracts(
    numbered: Sequence[tuple[int, Passage]],
    question: str,
    language: Language,
    reason: Reason,
    window: Callable[[Passage], int | None] = lambda _: None,
) -> str:
    """One sentence that says what this is, then the best three passages as quotes, in Markdown.

    Args:
        numbered: passages under the numbers the visitor sees them by, best first.
        window: number of a passage's window nearest to the question, where it is known.
    """
    quotes: list[str] = []
    for n, passage in numbered:
        said = best_sentences(passage, question, QUOTE_CHARS, window(passage))
        if said and len(quotes) < MOST_QUOTES:
            source = breadcrumb(passage.document.title, passage.chunk.heading)
            quotes.append(f"> {escape(said)} [{n}]\n>\n> — {escape(_one_line(source))}")
    return "\n\n".join([EXTRACTS[reason][language], *quotes])


def escape(text: str) -> str:
    """One line that Markdown shows as it is."""
    text = ACTIVE.sub(r"\\\g<0>", text)
    if match := OPENING.match(text):
        # Of a numbered list it is the point behind the number that makes the list.
        at = match.end() if match[0][0].isdigit() else 0
        text = f"{text[:at]}\\{text[at:]}"
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())
