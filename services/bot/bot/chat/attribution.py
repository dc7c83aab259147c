"""Give each `[n]` the passage that holds the names and numbers of its sentence.

Small models number at random: the right fact, credited to the first passage. Names and numbers keep
their spelling across languages, so they tell which passage a sentence comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat.names import names_in
from corpus.text import words

MARKS = re.compile(r"(?:\[\d{1,4}\])+")
SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"')»”*_]*\s+|\n")
MOST_SENTENCE_CHARS = 600  # names further back belong to something else


class Attribution:
    """Feed settled pieces of an answer (whole marks only), get them with the numbers put right."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._held = [frozenset(words(passage)) for passage in passages]
        self._sentence = ""

    def settle(self, text: str) -> str:
        """`text` with each mark that its passage does not support moved to one that does.

        A mark stays where the cited passage holds any name of the sentence, or no passage does.
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

    def _marks(self, marks: str) -> str:
        facts = names_in(self._sentence)
        support = [len(facts & held) for held in self._held]
        best = max(support, default=0)
        numbers = []
        for number in map(int, re.findall(r"\d+", marks)):
            supported = number <= len(support) and support[number - 1] > 0
            numbers.append(number if supported or not best else support.index(best) + 1)
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers))
