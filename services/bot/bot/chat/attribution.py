"""Give each `[n]` the passage that supports its sentence, or take it away.

Small models number at random: the right fact, credited to the first passage. A passage supports a
sentence when it holds at least half of its names and numbers or, where there are none, half of its other
words (a fifth in the other language). All are compared under keys that Spanish and English share
(bot.chat.guard.evidence), and weigh the more the fewer passages have them. What the passage lacks of a
sentence's names and numbers brings the passages that hold it along: «Ana wrote it in 2019 [1][4]».

A sentence without names in one language over a passage in the other may share no word with it. There
the model's number stays: nothing speaks for it, and nothing against it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from bot.chat.context import Note
from bot.chat.guard.evidence import Evidence
from bot.chat.guard.numbers import NUMBER, NUMBER_WORDS, keys_of
from bot.chat.guard.openers import is_ordinary, looks_ordinary
from bot.chat.guard.word_keys import word_keys
from bot.chat.names import names_in
from corpus.language import detect_language
from corpus.text import STOP_WORDS, content_words, fold

MARKS = re.compile(r"[ \t]{0,4}(?:\[\d{1,4}\])+")
SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"')»”*_]*\s+|\n")
FIGURES = re.compile(r"(?<!\w)(?<![^\W\d_]-)(?<!\d[.,])\d+(?:[.,]\d+)*")  # not that of «GPL-3.0»
FIRST_WORD = re.compile(r"[^\w\n]{0,20}([A-ZÁÉÍÓÚÑÜ][^\W\d_]+)")
MOST_SENTENCE_CHARS = 600  # names further back belong to something else
NAME_WEIGHT = 3.0
KEEPS = 0.6  # of the best passage's weight: the cited one need not be the very best
ENOUGH = 0.5  # share of the names, or of the words, that is support
ENOUGH_FOREIGN = 0.2  # of the words in another language: few of them are alike
ENOUGH_WORDS = 2  # from which on a clause is checked by itself
MOST_TOGETHER = 3  # passages that one sentence rests on


class Attribution:
    """Feed settled pieces of an answer (whole marks only), get them with the numbers put right."""

    def __init__(
        self, passages: Sequence[str], asked: Sequence[str] = (), notes: Sequence[Note] = ()
    ) -> None:
        """Prepare.

        Args:
            asked: what may be said without a passage, such as the question: no citation is for that.
            notes: what several passages say together; a sentence that rests on one names them all.
        """
        self._asked = Evidence(asked)
        told = [note for note in notes if note.numbers]
        texts = [*passages, *(MARKS.sub("", note.text) for note in told)]
        self._passages = len(passages)
        self._texts = [Evidence([text]) for text in texts]
        self._languages = [detect_language(text) for text in texts]
        self._numbers = [(n,) for n in range(1, len(passages) + 1)] + [n.numbers for n in told]
        """Of each, the passages to name."""
        self._sentence = ""
        self._clause = ""

    def unmarked(self) -> list[int]:
        """Numbers of the passages that support the last sentence, which no mark follows yet."""
        return self._supporting(())

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
        return blanks + "".join(f"[{number}]" for number in numbers) if numbers else ""

    def _supporting(self, cited: Sequence[int]) -> list[int]:
        """The cited numbers that are right, else the best one, else none."""
        names, said = _features(self._clause)
        if not names and len(said) < ENOUGH_WORDS:
            names, said = _features(self._sentence)
        if not names and not said:  # a mark before its sentence: nothing to compare
            return list(dict.fromkeys(cited))
        places = [n - 1 for n in dict.fromkeys(cited) if n <= len(self._texts)]
        weights = self._weights(names, said)
        best = weights.index(max(weights))
        if weights[best]:
            kept = [at for at in places if weights[at] >= KEEPS * weights[best]]
            # A length that was worked out stands in no passage; one with the same number says another thing.
            worked_out = best >= self._passages
            return self._together([best] if worked_out or not kept else kept, names)
        if names:
            return []
        language = detect_language(self._sentence)
        foreign = [at + 1 for at in places if self._languages[at] not in (language, None)]
        return foreign if language else []

    def _together(self, chosen: list[int], names: Sequence[str]) -> list[int]:
        """Numbers of the chosen texts and of those that hold what they lack, most of it first."""
        lacking = self._telling(names)
        for at in chosen:
            lacking = [name for name in lacking if not _holds(self._texts[at], name)]
        while len(chosen) < MOST_TOGETHER:
            holding = [sum(_holds(text, name) for name in lacking) for text in self._texts]
            if not any(holding):
                break
            best = holding.index(max(holding))
            lacking = [name for name in lacking if not _holds(self._texts[best], name)]
            chosen = [*chosen, best]
        return list(dict.fromkeys(n for at in chosen for n in self._numbers[at]))

    def _telling(self, names: Sequence[str]) -> list[str]:
        """Those that the visitor did not bring: a passage that only has the others supports nothing."""
        return [name for name in names if not _holds(self._asked, name)]

    def _weights(self, names: Sequence[str], said: Sequence[str]) -> list[float]:
        """How well each text supports the names and words; 0 where it does not."""
        needed = self._telling(names) or names
        language = detect_language(self._sentence)
        held = [
            {word for word in (*names, *said) if _holds(passage, word)} for passage in self._texts
        ]
        rarity = Counter(word for words in held for word in words)
        weights = []
        for there, spoken in zip(held, self._languages, strict=True):
            foreign = language and spoken not in (language, None)
            share = ENOUGH_FOREIGN if foreign else ENOUGH
            wanted, least = (needed, ENOUGH) if names else (said, share)
            found = sum(word in there for word in wanted)
            enough = found and found >= least * len(wanted)
            weights.append(
                sum((NAME_WEIGHT if word in names else 1.0) / rarity[word] for word in there)
                if enough
                else 0.0
            )
        return weights


def _features(text: str) -> tuple[list[str], list[str]]:
    """Names and numbers of a text, and its other content words, each once."""
    figures = FIGURES.findall(text)
    first = FIRST_WORD.match(text)
    begins = fold(first[1]) if first else ""
    name_first = first and not is_ordinary(begins) and not looks_ordinary(first[1])
    named = {name for name in names_in(text) if not name.isdecimal()}
    names = sorted({*(named - STOP_WORDS), *figures, *([begins] if name_first else [])})
    return names, [
        word for word in content_words(text) if word not in names and not word.isdecimal()
    ]


def _holds(passage: Evidence, word: str) -> bool:
    if NUMBER.fullmatch(word):
        return passage.holds(*keys_of(word))
    if word in NUMBER_WORDS and passage.holds(f"n{NUMBER_WORDS[word]}"):
        return True
    keys = word_keys(word, capital=False)
    return passage.holds(*keys) or passage.holds_related(word) or passage.holds_words(word)
