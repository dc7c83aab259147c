"""How an answer says no: words of both languages, judged on the shown text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.evaluation.facts import folded, holds
from bot.evaluation.sentences import sentences
from corpus.language import detect_language
from corpus.model import Language

APOLOGY = re.compile(r"(?:i'?m|i am)? ?(?:very )?sorry\b|lo siento\b|lo lamento\b|disculpa")
# «the passages do not say …», «no se menciona …»: a negation and, not far behind, a verb of telling.
KNOWS_NOT = re.compile(
    r"(?:\bnot?\b|n't\b|\bnothing\b|\bnor\b|\bni\b|\bnada\b|\btampoco\b|\bsin\b|\bwithout\b)[^.]{0,60}?"
    r"\b(?:mention|sa(?:y|id)|stat|specif|tell|told|list|provid|includ|hold|contain|know|give|indicat|answer|"
    r"find|found|inform|"
    r"mencion|dice|dicen|indic|especific|consta|figura|aparece|inclu|responde|se sabe|conoc|encuentr|dato)"
    r"|\bunknown\b|\bdesconoc"
)
DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|nor|neither|without|cannot|sin|ni|nunca|jamas|ningun\w*|tampoco|nada)\b"
    r"|n['’]t\b|\bunknown\b|\bdesconoc"
)
QUOTED_LINE = re.compile(r"^\s*>.*$", re.M)
LONG_NAME = re.compile(
    r"\b[A-ZÁÉÍÓÚÜÑ]\w{0,40}"
    r"(?:[ -](?:(?:de|del|la|las|los|el|of|the|y|and) ){0,3}[A-ZÁÉÍÓÚÜÑ]\w{0,40}){1,8}"
)
"""«Instituto Hidrográfico del Norte»: what something is called in any language."""


def declines(answer: str) -> bool:
    """Whether the first sentence says that the content does not hold the answer."""
    first = next(iter(sentences(answer)), None)
    if first is None:
        return False
    text = folded(first.text).replace("’", "'")
    return APOLOGY.match(text) is not None or KNOWS_NOT.search(text) is not None


def denies(answer: str, terms: Sequence[str]) -> bool:
    """Whether the answer names one of the terms at least, and only in sentences that say no."""
    naming = _naming(answer, terms)
    return bool(naming) and all(DENIAL.search(sentence) for sentence in naming)


def asserts(answer: str, terms: Sequence[str]) -> bool:
    """Whether a sentence names one of the terms without saying no."""
    return any(not DENIAL.search(sentence) for sentence in _naming(answer, terms))


def admits(answer: str, terms: Sequence[str]) -> bool:
    """Whether some sentence says that something, or one of the terms, is not known here."""
    said = [folded(sentence.text).replace("’", "'") for sentence in sentences(answer)]
    return any(KNOWS_NOT.search(text) for text in said) or denies(answer, terms)


def language_of(answer: str, route: str) -> Language | None:
    """The language of an answer's own prose; None when it gives no sign.

    Quotations and names of several words keep the language of the page, and so do the titles a list or
    a refusal ends with: of those the first sentence counts.
    """
    prose = LONG_NAME.sub(" ", QUOTED_LINE.sub(" ", answer))
    if route in ("refusal", "catalogue"):
        first = next(iter(sentences(prose)), None)
        prose = first.text if first else ""
    return detect_language(prose)


def _naming(answer: str, terms: Sequence[str]) -> list[str]:
    said = [folded(sentence.text) for sentence in sentences(answer)]
    return [
        text
        for text in said
        if any(holds(text, alternative) for term in terms for alternative in term.split("|"))
    ]
