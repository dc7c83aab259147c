"""Which numbers may answer a «how many?»: those that the evidence gives for the things asked for.

«2» stands on every page; for «how many operators use it?» it answers only where a sentence has both. The
things are compared by their stems, and across languages by their translations (corpus.word_forms).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import Struct

from bot.chat.best_sentences import sentences_of
from bot.chat.guard.counts import counts
from bot.chat.guard.numbers import NUMBER_WORDS, key, keys_of
from bot.chat.guard.places import Places
from bot.chat.guard.units import UNITS
from corpus.model import Language
from corpus.reader import Passage
from corpus.text import content_words, fold, words
from corpus.word_forms import has_translation, stem, stems_in

ASKED = re.compile(r"\b(?:how many|cuant(?:[oa]s|a))\s{1,9}(\w+(?:\s{1,9}\w+)?)")

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
PEOPLE = frozenset("people persons persona personas gente".split())
"""Users, readers, visitors and members are people: a sentence that counts them need not say so."""
LEAST_LISTED = 3  # a comma in a sentence makes two of anything


class Counted(Struct, frozen=True, kw_only=True):
    """The things a question wants counted, and the numbers the passages give for them."""

    things: frozenset[str]
    """Stems in the language of the answer."""
    numbers: frozenset[str]
    """As keys of bot.chat.guard.numbers."""
    language: Language

    def allows(self, number: str, factor: int, behind: str, *, first: bool) -> bool:
        """Whether an answer may say a number with this word `behind` it.

        Checked is the one that answers: `first` in the answer, or before the things themselves.
        """
        return (not first and stem(behind, self.language) not in self.things) or self.gives(
            number, factor
        )

    def gives(self, number: str, factor: int) -> bool:
        """Whether the passages give this number for the things."""
        folded = fold(number)
        if folded in NUMBER_WORDS:
            keys: tuple[str, ...] = (key(Decimal(NUMBER_WORDS[folded]) * factor),)
        else:
            keys = keys_of(number, factor)
        return not self.numbers.isdisjoint(keys)


def counted(question: str, passages: Sequence[Passage], language: Language) -> Counted | None:
    """None where the question counts nothing, or things that a passage may call what nobody knows here.

    Args:
        language: of the question.
    """
    match = ASKED.search(fold(question))
    things = content_words(match[1]) if match else []
    if not things or not UNITS.keys().isdisjoint(things) or not PEOPLE.isdisjoint(things):
        return None
    if any(each.document.lang != language for each in passages) and not all(
        has_translation(thing, language) for thing in things[:1]
    ):
        return None
    years = frozenset(YEAR.findall(question))
    return Counted(
        language=language,
        things=frozenset(stem(thing, language) for thing in things),
        numbers=frozenset(
            number for each in passages for number in _numbers(each, things, language, years)
        ),
    )


def _numbers(
    passage: Passage, things: Sequence[str], language: Language, years: frozenset[str]
) -> Iterator[str]:
    """Numbers of the sentences that name the things, all where the heading does; and how many are listed.

    Sentences about other years than those asked for do not count.
    """
    spoken = passage.document.lang
    stems = frozenset().union(*(stems_in(thing, spoken, language) for thing in things))

    def names_them(text: str) -> bool:
        return not stems.isdisjoint(stem(word, spoken) for word in words(text))

    text, heading = passage.chunk.text, passage.chunk.heading or ""
    everywhere = names_them(heading)
    if everywhere:
        yield from (f"n{length}" for length in counts(text))
    for sentence in sentences_of(text):
        if everywhere or names_them(sentence):
            if years and (spoken_of := set(YEAR.findall(sentence))) and not years & spoken_of:
                continue
            yield from (f"n{length}" for length in counts(sentence) if length >= LEAST_LISTED)
            places = Places()
            places.read(0, sentence)
            yield from (name for name in places.places if name[0] == "n" and name[1:2].isdigit())
