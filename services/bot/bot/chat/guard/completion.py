"""How an answer that the guard stopped is completed: with the words of the source, marked as such."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat.phrases import CLOSEST, SOURCE_SAYS, UNSURE
from corpus.model import Language

MARKS: dict[Language, tuple[str, str]] = {"es": ("«", "»"), "en": ("“", "”")}
CITATIONS = re.compile(r"\s{0,4}\[\d{1,4}\]")
QUOTATION_MARKS = re.compile('[«»“”"]')


def completion(
    shown: str,
    sentence: str,
    quotes: Sequence[tuple[int, str]],
    language: Language,
    *,
    unanswered: bool = False,
) -> str:
    """What to send after `shown`; empty when there is nothing to quote and no sentence to close.

    `sentence`: the part of `shown` that belongs to the sentence the guard stopped in; `quotes`: numbers
    and sentences of passages, the best first; `unanswered`: what was shown says nothing yet, so that the
    quotation is the closest there is to an answer. A quoted text keeps its language and loses its own
    citations and quotation marks, so that nothing in it can close the quotation early.
    """
    closing = "" if not sentence.strip() else "…" if shown.endswith((" ", "\n")) else " …"
    quoted = " ".join(filter(None, (quotation(n, quote, language) for n, quote in quotes)))
    if not quoted:
        return closing
    break_before = "\n\n" if shown.strip() else ""
    if unanswered:
        unsure = f"{UNSURE[language]} {CLOSEST[language].format(quote=quoted)}"
        return f"{closing}{break_before}{unsure}"
    return f"{closing}{break_before}{SOURCE_SAYS[language].format(quotes=quoted)}"


def quotation(number: int, quote: str, language: Language) -> str:
    """A text of a passage between the language's marks, with its number; empty where nothing is left."""
    text = " ".join(QUOTATION_MARKS.sub("'", CITATIONS.sub("", quote)).split())
    opening, end = MARKS[language]
    return f"{opening}{text}{end} [{number}]" if text else ""
