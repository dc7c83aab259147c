"""Take out what an answer says a second time, and notice when it says nothing else any more.

A greedy model of 0.5B or 1.5B now and then walks in a circle: the same line of a list until its tokens
are used up. A penalty on repeated tokens would prevent it, but it falls just as well on the digits and
names that an answer has to copy (docs/decisions/0028). So the sampler is left alone, and the circle is
cut here.
"""

from __future__ import annotations

import re

from corpus.text import fold

SENTENCE_END = re.compile(r"(?<=[^\W\d][.!?…])(?=\s)|(?<=[\])»”\"'`*][.!?…])(?=\s)|(?<=\n)")
"""Not behind a digit: «2.» may begin an item."""
MARKER = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,4}[.)]?)?\s{0,8}")
DECORATION = re.compile(r"^\s{0,8}(?:[-*+•]|\d{1,4}[.)])(?=\s)|\[\d{1,4}\]|\[\d{0,4}$|[*_`\s]")
LEAST_CHARS = 12
"""Letters of a sentence that may not come twice: «Sí.» and «No, 2021.» may."""
MOST_REPEATED = 2
"""Sentences dropped one after the other; then the answer is over."""
LONGEST_UNIT = 60
LEAST_ROUNDS = 4
LEAST_CIRCLE = 48
"""Characters of a circle without an end of a sentence: `LEAST_ROUNDS` rounds and more."""


class Repetition:
    """Feed pieces of the model's text, get what may go on; chunks change nothing.

    Held back is a sentence or a line only while an earlier one began with the same words.
    """

    def __init__(self) -> None:
        self._earlier: set[str] = set()
        self._sentence = ""  # the one being written
        self._out = 0  # characters of it that went on
        self._dropped = 0
        self._tail = ""
        self.looping = False
        """Nothing new comes any more: the generation may be left."""

    def feed(self, text: str) -> str:
        """Text that may go on."""
        ready = ""
        for char in text:
            if self.looping:
                break
            self._sentence += char
            self._tail = (self._tail + char)[-LONGEST_UNIT * LEAST_ROUNDS :]
            if char.isspace():
                *ended, rest = SENTENCE_END.split(self._sentence)
                for sentence in ended:
                    ready += self._end(sentence)
                    self._out = 0
                self._sentence = rest
                self.looping = self.looping or _turns(self._tail)
            ready += self._begun()
        return ready

    def close(self) -> str:
        """The last sentence, unless it was said before."""
        return "" if self.looping else self._end(self._sentence)

    def _begun(self) -> str:
        """What of an unfinished sentence can't be an earlier one any more."""
        if not self._out and self._earlier:
            plain = _plain(self._sentence)
            may_repeat = any(each.startswith(plain) for each in self._earlier)
            if may_repeat or MARKER.fullmatch(self._sentence):
                return ""
        ready, self._out = self._sentence[self._out :], len(self._sentence)
        return ready

    def _end(self, sentence: str) -> str:
        plain = _plain(sentence)
        if not self._out and plain in self._earlier:
            self._dropped += 1
            self.looping = self._dropped >= MOST_REPEATED
            return ""
        if len(plain) >= LEAST_CHARS:
            self._earlier.add(plain)
            self._dropped = 0
        return sentence[self._out :]


def _turns(tail: str) -> bool:
    """Whether a text ends in a circle: «and so on and so on and so on»."""
    for unit in range(1, LONGEST_UNIT + 1):
        circle = tail[-max(unit * LEAST_ROUNDS, LEAST_CIRCLE) :]
        if len(circle) < max(unit * LEAST_ROUNDS, LEAST_CIRCLE):
            return False
        if circle[unit:] == circle[:-unit] and any(map(str.isalnum, circle)):
            return True
    return False


def _plain(sentence: str) -> str:
    """The same for a sentence with other citations, other emphasis or another place in a list."""
    return fold(DECORATION.sub("", sentence))
