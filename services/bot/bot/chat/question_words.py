"""The words of a question and which passages hold them: in any form, and across languages by translation.

In an index of both languages a word counts less than in one of a single language, where every passage
could hold it: a passage in the other language can hold its translation only, and only if the list of
translations (corpus.word_forms) has one. Names are the same everywhere, and count whole.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from bot.chat.names import names_in
from corpus.model import LANGUAGES, Language
from corpus.reader import Index
from corpus.text import content_words
from corpus.word_forms import OTHER, has_translation

FOREIGN_WORD_WEIGHT = 0.3  # an ordinary word shared by two languages is mostly an accident
BILINGUAL_WORD_WEIGHT = 0.25  # for a word without known translation in an index of both languages
TRANSLATED_WORD_WEIGHT = 0.4  # for one whose translation passages in the other language may have

FloatArray = npt.NDArray[np.float64]


class Lexicon(Struct, frozen=True, kw_only=True):
    """The question's content words with their idf and the rows that hold each."""

    words: tuple[str, ...]
    """And their other forms in its language, as far as the index has them."""
    translations: tuple[str, ...]
    """As far as the index has them; a ranking of their own, since a word may have many."""
    coverage: FloatArray
    unknown_share: float
    unknown_names: int
    names: frozenset[str]
    """Names in the question that some passage holds."""


def read_words(index: Index, question: str, language: Language | None) -> Lexicon:
    """The words of a question, each looked up under all its forms and translations.

    Args:
        language: of the question, where it is known.
    """
    found = content_words(question)
    names = names_in(question)
    native = index.in_language(language) if language else np.ones(len(index), np.bool_)
    bilingual = bool(native.any()) and not native.all()
    coverage = np.zeros(len(index))
    mass = unknown_mass = 0.0
    unknown = 0
    known: set[str] = set()
    others: list[str] = []
    translations: list[str] = []
    for word in found:
        weights, own, translated = (
            _name(index, word)
            if word in names
            else _ordinary(index, word, language, native, bilingual)
        )
        holding = int(np.count_nonzero(weights))
        idf = math.log(1 + (len(index) - holding + 0.5) / (holding + 0.5))
        mass += idf
        coverage += idf * weights
        unknown_mass += 0 if holding else idf
        others += own
        translations += translated
        if word in names:
            unknown += not holding
            known |= {word} if holding else set()
    if mass:
        coverage /= mass
    return Lexicon(
        words=tuple(dict.fromkeys([*found, *others])),
        translations=tuple(dict.fromkeys(translations)),
        coverage=coverage,
        unknown_share=unknown_mass / mass if mass and native.any() else 0.0,
        unknown_names=unknown,
        names=frozenset(known),
    )


def _name(index: Index, word: str) -> tuple[FloatArray, list[str], list[str]]:
    """A name is the same in every language and has no other forms."""
    weights = np.zeros(len(index))
    weights[index.holding(word)] = 1.0
    return weights, [], []


def _ordinary(
    index: Index,
    word: str,
    language: Language | None,
    native: npt.NDArray[np.bool_],
    bilingual: bool,
) -> tuple[FloatArray, list[str], list[str]]:
    """What a word counts in each passage, 0–1, and the forms and translations of it that the index has."""
    weights = np.zeros(len(index))
    if language is None:
        forms = [form for each in LANGUAGES for form in index.forms(word, each)]
        weights[index.holding(word, *forms)] = 1.0
        return weights, forms, []
    own = index.forms(word, language, language)
    translated = index.forms(word, OTHER[language], language)
    both = has_translation(word, language)
    ordinary = (TRANSLATED_WORD_WEIGHT if both else BILINGUAL_WORD_WEIGHT) if bilingual else 1.0
    exact = index.holding(word)
    weights[exact] = ordinary * np.where(native[exact], 1.0, FOREIGN_WORD_WEIGHT)
    rows = index.holding(*own)
    weights[rows[native[rows]]] = ordinary
    rows = index.holding(*translated)
    weights[rows[~native[rows]]] = ordinary
    return weights, own, translated
