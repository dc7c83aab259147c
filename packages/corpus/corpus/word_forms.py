"""What else a word of a question may be called on a page: its other forms, and its translations.

Keywords match letter by letter: «workshops» is not `workshop`, and a Spanish question shares no word at all
with an English page. So words are compared by their stems (Snowball, snowballstem.org, after a plural that
it leaves on some Spanish nouns is taken off: `taller` and `talleres`), and a list of common words of both
languages (data/words_en_es.tsv) says which stems of the other language mean the same.

All words here are folded (`corpus.text.fold`), as FTS5 keeps them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

import snowballstemmer

from corpus.model import Language
from corpus.text import fold

STEMMERS = {"en": snowballstemmer.stemmer("english"), "es": snowballstemmer.stemmer("spanish")}
OTHER: Mapping[Language, Language] = {"en": "es", "es": "en"}
SHORTEST_PLURAL = 4  # «mes» and «gas» are no plurals
PLURAL_ES = re.compile(r"(?<=[bcdfghjlmnprtvyz])es$|(?<=[aeiou])s$")
PLURAL_OF_Z = re.compile(r"ces$")


@lru_cache(maxsize=50_000)
def stem(word: str, language: Language) -> str:
    """The part of a folded word that its forms in `language` share."""
    if language == "es" and len(word) >= SHORTEST_PLURAL:
        word = PLURAL_ES.sub("", PLURAL_OF_Z.sub("z", word))
    stemmed: str = STEMMERS[language].stemWord(word)
    return stemmed


def stems_in(word: str, language: Language, asked_in: Language | None = None) -> frozenset[str]:
    """The stems that a text in `language` may have for a folded word of a question in `asked_in`.

    In the question's own language that is its stem, in the other those of its translations, and none where
    the list has none. Where the question's language is not known, both.
    """
    own = frozenset({stem(word, language)})
    if asked_in == language:
        return own
    translated = _translations()[OTHER[language]].get(stem(word, OTHER[language]), frozenset())
    return own | translated if asked_in is None else translated


def has_translation(word: str, language: Language) -> bool:
    """Whether the list has a word of `language` in one of its forms."""
    return stem(word, language) in _translations()[language]


@cache
def _translations() -> dict[Language, dict[str, frozenset[str]]]:
    """By language, the stems of the other one for each stem."""
    found: dict[Language, defaultdict[str, set[str]]] = {
        "en": defaultdict(set),
        "es": defaultdict(set),
    }
    for line in files("corpus").joinpath("data/words_en_es.tsv").read_text("utf-8").splitlines():
        english, spanish = (
            {stem(fold(word), language) for word in side.split("|")}
            for side, language in zip(line.split("\t"), ("en", "es"), strict=True)
        )
        for each in english:
            found["en"][each] |= spanish
        for each in spanish:
            found["es"][each] |= english
    return {
        language: {each: frozenset(stems) for each, stems in pairs.items()}
        for language, pairs in found.items()
    }
