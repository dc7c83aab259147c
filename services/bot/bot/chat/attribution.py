"""Give each `[n]` the passage that supports its sentence, or take it away.

Small models number at random: the right fact, credited to the first passage. A passage supports a
sentence when it holds at least half of its names and numbers or, where there are none, half of its other
words (a fifth in the other language). All are compared under keys that Spanish and English share
(bot.chat.guard.evidence), and weigh the more the fewer passages have them.

A sentence without names in one language over a passage in the other may share no word with it. There
the model's number stays: nothing speaks for it, and nothing against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat.guard.evidence import Evidence
from bot.chat.guard.numbers import NUMBER, NUMBER_WORDS, keys_of
from bot.chat.guard.openers import is_ordinary, looks_ordinary
from bot.chat.guard.word_keys import word_keys
from bot.chat.names import names_in
from corpus.language import detect_language
from corpus.text import STOP_WORDS, content_words, fold

MARKS = re.compile(r"[ \t]{0,4}(?:\[\d{1,4}\])+")
SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"')»”*_]*\s+|\n")
FIGURES = re.compile(r"(?<!\w)\d+(?:[.,]\d+)*")
FIRST_WORD = re.compile(r"[^\w\n]{0,20}([A-ZÁÉÍÓÚÑÜ][^\W\d_]+)")
MOST_SENTENCE_CHARS = 600  # names further back belong to something else
NAME_WEIGHT = 3.0
KEEPS = 0.6  # of the best passage's weight: the cited one need not be the very best
ENOUGH = 0.5  # share of the names, or of the words, that is support
ENOUGH_FOREIGN = 0.2  # of the words in another language: few of them are alike
ENOUGH_WORDS = 2  # from which on a clause is checked by itself


class Attribution:
    """Feed settled pieces of an answer (whole marks only), get them with the numbers put right."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._passages = [Evidence([passage]) for passage in passages]
        self._languages = [detect_language(passage) for passage in passages]
        self._sentence = ""
        self._clause = ""
        self._used: dict[int, None] = {}

    @property
    def used(self) -> tuple[int, ...]:
        """Numbers that went through, in the order of their first use."""
        return tuple(self._used)

    def use(self, number: int) -> None:
        """Count a number that is shown without `settle`, such as a quotation's."""
        self._used[number] = None

    def best(self, text: str) -> int | None:
        """Number of the passage that supports a text best; None where none does."""
        weights = self._weights(*_features(text))
        return weights.index(max(weights)) + 1 if any(weights) else None

    def settle(self, text: str) -> str:
        """`text` with each mark on a passage that supports its sentence; others are dropped.

        The blanks before a dropped mark go with it when they are in the same piece.
        """
        pieces: list[str] = []
        position = 0
        for match in MARKS.finditer(text):
            self._read(text[position : match.start()])
            pieces += (text[position : match.start()], self._marks(match[0]))
            position = match.end()
        self._read(text[position:])
        return "".join([*pieces, text[position:]])

    def _read(self, text: str) -> None:
        """Remember the sentence being written; one that has ended counts until the next begins."""
        whole = self._sentence + text
        starts = [
            match.end() for match in SENTENCE_END.finditer(whole) if whole[match.end() :].strip()
        ]
        self._sentence = whole[starts[-1] if starts else 0 :][-MOST_SENTENCE_CHARS:]
        self._clause = self._sentence if starts else (self._clause + text)[-MOST_SENTENCE_CHARS:]

    def _marks(self, marks: str) -> str:
        if not self._passages:
            return marks
        blanks = marks[: len(marks) - len(marks.lstrip(" \t"))]
        cited = [int(number) for number in re.findall(r"\d+", marks)]
        numbers = self._supporting(cited)
        self._clause = ""
        for number in numbers:
            self.use(number)
        return blanks + "".join(f"[{number}]" for number in numbers) if numbers else ""

    def _supporting(self, cited: Sequence[int]) -> list[int]:
        """The cited numbers that are right, else the best one, else none."""
        names, said = _features(self._clause)
        if not names and len(said) < ENOUGH_WORDS:
            names, said = _features(self._sentence)
        if not names and not said:  # a mark before its sentence: nothing to compare
            return list(dict.fromkeys(cited))
        weights = self._weights(names, said)
        best = max(weights)
        if best:
            kept = [n for n in cited if n <= len(weights) and weights[n - 1] >= KEEPS * best]
            return list(dict.fromkeys(kept)) or [weights.index(best) + 1]
        if names:
            return []
        language = detect_language(self._sentence)
        foreign = [
            n for n in cited if n <= len(weights) and self._languages[n - 1] not in (language, None)
        ]
        return list(dict.fromkeys(foreign)) if language else []

    def _weights(self, names: Sequence[str], said: Sequence[str]) -> list[float]:
        """How well each passage supports the names and words; 0 where it does not."""
        weights = [0.0] * len(self._passages)
        held_names = [[_holds(passage, name) for passage in self._passages] for name in names]
        held_words = [[_holds(passage, word) for passage in self._passages] for word in said]
        language = detect_language(self._sentence)
        for at in range(len(weights)):
            of_names = sum(row[at] for row in held_names)
            of_words = sum(row[at] for row in held_words)
            foreign = language and self._languages[at] not in (language, None)
            share = ENOUGH_FOREIGN if foreign else ENOUGH
            enough = bool(names) and of_names >= ENOUGH * len(names)
            if enough or (not names and of_words and of_words >= share * len(said)):
                weights[at] = sum(NAME_WEIGHT / sum(row) for row in held_names if row[at])
                weights[at] += sum(1 / sum(row) for row in held_words if row[at])
        return weights


def _features(text: str) -> tuple[list[str], list[str]]:
    """Names and numbers of a text, and its other content words, each once."""
    figures = FIGURES.findall(text)
    first = FIRST_WORD.match(text)
    begins = fold(first[1]) if first else ""
    name_first = first and not is_ordinary(begins) and not looks_ordinary(first[1])
    parts = {part for figure in figures for part in re.split("[.,]", figure)}
    names = sorted(
        {*(names_in(text) - parts - STOP_WORDS), *figures, *([begins] if name_first else [])}
    )
    return names, [word for word in content_words(text) if word not in names and word not in parts]


def _holds(passage: Evidence, word: str) -> bool:
    if NUMBER.fullmatch(word):
        return passage.holds(*keys_of(word))
    if word in NUMBER_WORDS and passage.holds(f"n{NUMBER_WORDS[word]}"):
        return True
    return passage.holds(*word_keys(word, capital=False)) or passage.holds_related(word)
