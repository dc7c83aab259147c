"""The guard: an answer's facts reach the visitor only when the evidence holds them.

Facts are what a reader could look up: numbers, dates, names, known technologies, e-mails, addresses and
quotations. Each is held back while it is being written, compared with the passages, the question, the
conversation and what the caller allows, and shown or not. The words between flow on at once. At the
first unsupported fact the answer stops; what is shown stays shown.

Held back, besides a fact itself: the blanks and opening marks before a word; one letter of a word; a
capitalised word until it ends, but for the commonest first words of an answer; a number until the word
behind it is known for a unit or not, and to its end where things are counted; a first word that only
looks ordinary until the next begins («Fernando» in «Fernando Alonso»); a quotation until it closes. All of
it is bounded, and it works one character at a time: chunks change nothing.

Counts. Where the question asks how many there are of something, a number that begins the answer or stands
before that something must stand in a sentence about it (bot.chat.guard.counted). Numbers up to ten
without a unit may also count what is listed: as many items, rows, sections or comma-separated parts as a
passage has, or as many as there are pages. That does not go for a number that is the whole answer
(«3 [1].»): no list and no part of a name («GPL-3.0») supports it. A time («9 AM») needs one (`9:00`,
`las nueve de la mañana`). `one` says nothing, so it is never checked.

A citation in the place of a fact («used in the ports of [1]») stops the answer, too.

E-mails and links are for the passages to give: what a visitor writes into a question is not repeated.

Names of several words. Every part must stand in the evidence, and two neighbours, where passages hold
both, within twelve words of each other in one of them. The same goes for day, month and year.

What it does not promise. It does not understand: a negation («does not use Go»), a swapped role («A paid
B»), the right number with the wrong noun, an invented adjective and any lower-case claim pass. What the
visitor's question names may be repeated, true or not. A lower-case part of an address, or the first
letters of a word with a capital inside, may be shown before the rest is stopped. At the beginning of a
sentence a name of one word with an ordinary ending may pass. Units are compared where the evidence
gives one. It makes invention visible less often; it does not make the rest true.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bot.chat.guard.calendar import calendar_key
from bot.chat.guard.clock import HALF_DAYS
from bot.chat.guard.counted import Counted
from bot.chat.guard.evidence import Evidence
from bot.chat.guard.judge import Judge, Kind
from bot.chat.guard.linked import LinkedFacts
from bot.chat.guard.numbers import CHECKED_WORDS, MULTIPLIERS, NUMBER, keys_of
from bot.chat.guard.openers import FIRST_WORDS, is_ordinary
from bot.chat.guard.tokens import (
    SENTENCE_END,
    joins,
    joins_later,
    starts_line,
    starts_sentence,
    takes,
)
from bot.chat.guard.units import UNITS
from bot.chat.guard.word_keys import word_keys
from corpus.text import fold

QUOTES = {"«": "»", "“": "”", '"': '"', "`": "`"}
LONGEST_QUOTATION = 300  # characters held back at most
LONGEST_TOKEN = 200
MOST_BETWEEN = 24  # characters behind the last word that tell what begins now
MOST_SENTENCE = 600
OPENING = frozenset("([*¿¡—")  # what an ASCII quotation mark that opens may follow, besides blanks
CLOSING = frozenset(".,;:!?)]}»”…")
UNIT_SIGNS = frozenset("%€$£")
BEHIND_A_NUMBER = frozenset(
    word[:n] for word in (*UNITS, *MULTIPLIERS) for n in range(1, len(word) + 1)
)
LARGEST_MARKER = 50
# Behind these something has to come: «used in the ports of [1]» says nothing.
UNFINISHED = frozenset(
    "de del la el los las un una por para con es son fue que y e o "
    "of the a an by for from to is are was were including includes and or than".split()
)
ANY_FIRST_WORD = FIRST_WORDS["es"] | FIRST_WORDS["en"]


class Stop(Struct, frozen=True, kw_only=True):
    """The first unsupported fact."""

    kind: Kind
    text: str
    sentence: str
    """What of its sentence has been shown; empty where it was not begun."""


class Guard:
    """Feed pieces of an answer, get those that may be shown; nothing more after `stopped`."""

    def __init__(
        self,
        evidence: Sequence[str],
        question: str,
        history: Sequence[str] = (),
        allowed: Sequence[str] = (),
        documents: int = 1,
        counted: Counted | None = None,
    ) -> None:
        """`history`: what was said before; `allowed`: names of the site, titles, today's date…

        `documents`: how many pages the evidence is from. `counted`: what the question wants counted.
        """
        held = Evidence(evidence, [question, *history, *allowed], documents)
        self._judge = Judge(held)
        self._linked = LinkedFacts(held)
        self._counted = counted
        self.stopped: Stop | None = None
        self.steps = 0
        """Characters looked at; quotations of a few words count twice."""
        self._ready = ""  # checked, but the next word may yet speak against it
        self._doubtful = False  # whether `_ready` is a first word that only looks ordinary
        self._number: str | None = None  # a number at the end of `_ready`, its unit not known yet
        self._lead = ""  # blanks and opening marks before the next word
        self._between = "\n"  # what stands behind the last word, shown or not
        self._token = ""
        self._last = ""  # the word before
        self._tail = ""  # a connector behind the token: part of it if a letter follows
        self._out = 0  # characters of the token shown already
        self._quote = ""  # the opening mark of a quotation, and what follows
        self._sentence = ""

    def feed(self, text: str) -> str:
        """Text that may be shown now."""
        shown: list[str] = []
        for char in text:
            if self.stopped:
                break
            self._step(char, shown)
        return "".join(shown)

    def close(self) -> str:
        """What was held when the answer ended, if it may be shown."""
        shown: list[str] = []
        if not self.stopped and self._quote:
            self._plain(shown)
        if not self.stopped and self._token:
            self._finish("", shown)
            tail, self._tail = self._tail, ""
            for waiting in "" if self.stopped else tail:
                self._outside(waiting, shown, quoting=False)
        if not self.stopped:
            self._settle(None, 1, shown, counting=not self._is_first())
        if not self.stopped:
            self._show(self._ready + self._lead, shown)
            self._ready = self._lead = ""
        return "".join(shown)

    def _step(self, char: str, shown: list[str], *, quoting: bool = True) -> None:
        self.steps += 1
        if self._quote:
            self._quoted(char, shown)
        elif not self._token:
            self._outside(char, shown, quoting=quoting)
        elif len(self._token) < LONGEST_TOKEN and joins(self._token, self._tail, char):
            self._token += self._tail + char
            self._tail = ""
            self._early(shown)
        elif joins_later(self._token, self._tail, char):
            self._tail += char
        else:
            self._finish(char, shown)
            tail, self._tail = self._tail, ""
            for waiting in tail + char:
                if not self.stopped:
                    self._outside(waiting, shown, quoting=quoting)

    def _outside(self, char: str, shown: list[str], *, quoting: bool) -> None:
        """A character behind one word and before the next."""
        if takes(char):
            self._token, self._out = char, 0
            self._early(shown)
            return
        if self._number is not None and (self._lead or char not in " \u00a0\u202f"):
            unit = UNITS[char] if char in UNIT_SIGNS else None
            self._settle(unit, 1, shown, counting=char == ":" or not self._is_first())
            if self.stopped:
                return
        before = self._between[-1:]
        self._between = (self._between + char)[-MOST_BETWEEN:]
        self._lead += char
        if self._doubtful and not char.isspace():
            self._doubtful = False
        if quoting and char in QUOTES and (char in "«“" or before.isspace() or before in OPENING):
            self._quote = char
            self._lead = self._lead[:-1]
            return
        if self._number is None and not self._doubtful and not self._lead.strip("".join(CLOSING)):
            self._show(self._ready + self._lead, shown)
            self._ready = self._lead = ""

    def _early(self, shown: list[str]) -> None:
        """Show what of an unfinished word can't become a fact any more."""
        token = self._token
        if self._number is not None:
            if self._counted is not None or fold(token) in BEHIND_A_NUMBER:
                return  # what is counted, or the unit, is not complete yet
            self._settle(None, 1, shown)
            if self.stopped:
                return
        if self._doubtful:
            if token[0].isupper():
                return
            self._doubtful = False
        if len(token) < 2 and not self._out:
            return
        first = self._sentence == token[: self._out] and token in ANY_FIRST_WORD
        if first or (
            token.isalpha() and token.islower() and not self._judge.may_become_fact(token)
        ):
            self._show(
                self._ready + (self._lead if not self._out else "") + token[self._out :], shown
            )
            self._ready, self._out = "", len(token)

    def _finish(self, char: str, shown: list[str]) -> None:
        """The word is complete, `char` stands behind it: show it or stop."""
        token, folded = self._token, fold(self._token)
        if self._number is not None:
            factor = MULTIPLIERS.get(folded, 1)
            self._settle(UNITS.get(folded), factor, shown, behind=folded)
            if self.stopped:
                return
            if folded in HALF_DAYS:
                self._pass(shown)
                return
        starts = starts_sentence(self._between)
        if self._marker(char):
            if self._lead.endswith("[") and self._last in UNFINISHED:
                self._stop("nothing", self._last)
                return
            self._pass(shown)
            return
        if NUMBER.fullmatch(token) or folded in CHECKED_WORDS:
            self._ready += (self._lead if not self._out else "") + token[self._out :]
            self._number = token
            self._linked.number_waits(self._between)
            self._after(())
            return
        if kind := self._judge.word(token, starts=starts):
            self._stop(kind, f"{self._ready if self._doubtful else ''} {token}".strip())
            return
        keys: tuple[str, ...] = ()
        if token[0].isupper() or folded in CHECKED_WORDS or calendar_key(folded, capital=False):
            if not is_ordinary(folded) or calendar_key(folded, capital=True):
                keys = word_keys(folded)
            if keys and self._linked.word_torn(folded, keys, self._between):
                self._stop("date" if calendar_key(folded, capital=True) else "name", token)
                return
        if starts and self._judge.only_looks_ordinary(token):
            self._ready += self._lead + token[self._out :]
            self._doubtful = True
            self._after(keys)
            return
        self._pass(shown, keys)

    def _pass(self, shown: list[str], keys: tuple[str, ...] = ()) -> None:
        lead = self._lead if not self._out else ""
        self._doubtful = False
        self._show(self._ready + lead + self._token[self._out :], shown)
        self._ready = ""
        self._after(keys)

    def _after(self, keys: tuple[str, ...]) -> None:
        """The token is dealt with; what follows is read against it."""
        if keys:
            self._linked.note(keys)
        else:
            self._linked.pass_over(self._between + self._token)
        self._last = fold(self._token)
        self._token = self._lead = self._between = ""
        self._out = 0

    def _is_first(self) -> bool:
        """Whether nothing was said before what waits."""
        return not self._sentence.strip()

    def _settle(
        self,
        unit: str | None,
        factor: int,
        shown: list[str],
        *,
        counting: bool = True,
        behind: str = "",
    ) -> None:
        """Decide on the number that waited for its unit; `behind` it the word that is complete."""
        number, self._number = self._number, None
        if number is None:
            return
        if not self._is_supported(number, unit, factor, counting=counting, behind=behind):
            self._stop("number", number)
            return
        keys = keys_of(number) if number[0].isdecimal() else ()
        if keys and unit is None and self._linked.number_torn(keys):
            self._stop("date", number)
            return
        if keys and unit is not None and self._linked.length_torn(keys, unit):
            self._stop("number", number)
            return
        if keys:
            self._linked.note(keys)
        self._show(self._ready, shown)
        self._ready = ""

    def _is_supported(
        self, number: str, unit: str | None, factor: int, *, counting: bool, behind: str
    ) -> bool:
        if self._counted is not None:
            if not self._counted.allows(number, factor, behind, first=self._is_first()):
                return False
            if unit is None and self._counted.gives(number, factor):
                return True  # «5 [1]» of five languages that are listed
        return self._judge.number(number, unit, factor, counting=counting)

    def _marker(self, char: str) -> bool:
        """`[2]` and, at the beginning of a line, `1.` and `1)` are no facts."""
        if not self._token.isdecimal():
            return False
        if self._lead.endswith("[") and char == "]" and not self._tail:
            return True
        marks = self._tail or char
        return (
            marks in (".", ")")
            and starts_line(self._between)
            and int(self._token[:4]) <= LARGEST_MARKER
        )

    def _quoted(self, char: str, shown: list[str]) -> None:
        """Inside a quotation: hold until it closes, then compare the whole."""
        self._quote += char
        if char == "\n":
            self._plain(shown)
        elif char == QUOTES[self._quote[0]] or len(self._quote) >= LONGEST_QUOTATION:
            closed = char == QUOTES[self._quote[0]]
            text = self._quote[1:-1] if closed else self._quote[1:].rpartition(" ")[0]
            if self._judge.quotation(text):
                self._plain(shown)
            else:
                self._stop("quotation", text)

    def _plain(self, shown: list[str]) -> None:
        """Read what was held as a quotation once more, as words."""
        held, self._quote = self._quote, ""
        for char in held:
            if not self.stopped:
                self._step(char, shown, quoting=False)

    def _stop(self, kind: Kind, text: str) -> None:
        begun = self._out or not starts_sentence(self._between, ends_only=True)
        sentence = SENTENCE_END.split(self._sentence)[-1] if begun else ""
        self.stopped = Stop(kind=kind, text=text, sentence=sentence)

    def _show(self, text: str, shown: list[str]) -> None:
        if text:
            shown.append(text)
            self._sentence = (self._sentence + text)[-MOST_SENTENCE:]
