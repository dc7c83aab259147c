"""Whether one word, number or quotation of an answer stands in the evidence."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from bot.chat.guard.calendar import AMBIGUOUS, LOWER_CASE, calendar_key
from bot.chat.guard.clock import FULL_HOUR, HALF_DAYS, half_of, of_twelve
from bot.chat.guard.dates import ISO_DATE, SLASH_DATE, date_parts
from bot.chat.guard.evidence import DATE_NEAR, Evidence
from bot.chat.guard.numbers import (
    CHECKED_WORDS,
    MULTIPLIERS,
    NUMBER,
    NUMBER_WORDS,
    key,
    keys_of,
)  # fmt: skip
from bot.chat.guard.openers import ALWAYS, ORDINARY, is_ordinary, looks_ordinary
from bot.chat.guard.twins import SPELLINGS
from bot.chat.guard.units import UNITS
from bot.chat.guard.word_keys import within_name, word_keys
from bot.chat.names import TECHNOLOGIES
from corpus.text import aliases, fold, words

Kind = Literal["name", "technology", "number", "date", "quotation", "address", "nothing"]

# Known technologies that are words of a language without their capital letter.
BOTH = frozenset(
    "angular apple astro azure bootstrap bun capacitor claude dart ember excel expo express flask fortran "
    "gatsby gemini groovy hugo instagram ionic jest julia lambda llama lua mistral mongo notion "
    "oracle pandas "
    "pascal perl prolog python raspberry redux remix rust sap sass scala selenium sentry slack "
    "snowflake solid "
    "spring stripe swift telegram trello unity unreal windows zig qt elixir julia go vite".split()
)
LOWER_TECHNOLOGIES = TECHNOLOGIES - (
    BOTH - {"python", "pandas", "mongo", "lua", "vite", "redux", "sass"}
)
CHECKED_SMALL = LOWER_TECHNOLOGIES | LOWER_CASE  # facts without a capital letter
KEYS_OF_SMALL = [(word, word_keys(word)) for word in sorted(CHECKED_SMALL)]
NUMBER_PREFIXES = frozenset(word[:n] for word in CHECKED_WORDS for n in range(1, len(word) + 1))
ORDINAL = re.compile(r"(\d{1,9})\.?[ºª]")
POSSESSIVE = re.compile(r"['’]s$|(?<=s)['’]$")
PIECE = re.compile(r"[^\W_]+")
MIXED = re.compile(r"(\d+(?:[.,]\d+)*)([^\W\d_]+)")
ORDINAL_ENDINGS = frozenset("st nd rd th o a er ra do ro to º ª x".split())
ADDRESS = re.compile(r"@|://|/.{0,200}/|\.[a-z]{2,}(?:/|$)", re.I)
LINK = re.compile(r"@|://|^www\.", re.I)
ABBREVIATION = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
QUOTED_WORDS = 3  # fewer are a term or a title, checked word by word
SMALL = 10


class Judge:
    """Asks the evidence; every method answers for complete tokens."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        watched = [word for word, keys in KEYS_OF_SMALL if not evidence.holds(*keys)]
        self._prefixes = NUMBER_PREFIXES | {
            word[:n] for word in watched for n in range(1, len(word) + 1)
        }

    def may_become_fact(self, prefix: str) -> bool:
        """Whether a word of small letters that begins so is one that must be checked."""
        return fold(prefix) in self._prefixes

    def word(self, token: str, *, starts: bool) -> Kind | None:
        """The kind of fact that `token` is without support; None where it may be shown.

        `starts`: whether a sentence, a list item or a quotation begins with it.
        """
        token = POSSESSIVE.sub("", token)
        if token.isalpha():
            return self._simple(token, starts=starts)
        if LINK.search(token):
            given = self._evidence.holds_text(token, in_passages=True)
            return None if given or not words(token) else "address"
        if not words(token) or self._evidence.holds_text(token) or self._spoken(token):
            return None
        if token[-1] in "+#":  # C++ is not C
            return "technology"
        if token.lower().endswith(".js"):  # «React.js» is React
            return self.word(token[:-3], starts=starts)
        if number := ORDINAL.fullmatch(token) or NUMBER.fullmatch(token):
            return None if self.number(number[number.lastindex or 0]) else "number"
        if "." in token.strip("."):
            return self._dotted(token, starts=starts)
        return self._pieces(token, starts=starts)

    def only_looks_ordinary(self, token: str) -> bool:
        """Whether a first word passed for its ending alone: a capitalised word behind it makes a name."""
        folded = fold(token)
        return (
            token[:1].isupper()
            and token.isalpha()
            and not is_ordinary(folded)
            and not self._known(folded)
        )

    def number(
        self, text: str, unit: str | None = None, factor: int = 1, *, counting: bool = True
    ) -> bool:
        """Whether a number in figures or as a word stands in the evidence, with its unit.

        Where `counting`, one without a unit may also be part of a name, and up to ten it may count what
        the passages list.
        """
        folded = fold(text)
        if folded in NUMBER_WORDS:
            value = NUMBER_WORDS[folded]
            names: tuple[str, ...] = (key(Decimal(value) * factor),)
            parts: tuple[str, ...] = (f"p{value}",)
        else:
            names, parts = keys_of(text, factor), ()
        if unit is None:
            small = folded.isdecimal() and len(folded) < 3 and int(folded) <= SMALL
            count = int(folded) if small else NUMBER_WORDS.get(folded, 0)
            if counting and factor == 1 and count in self._evidence.counts:
                return True
            glued = [within_name(name) for name in names] if counting else []
            return self._evidence.holds(*names, *parts, *glued)
        if unit in HALF_DAYS:
            return any(unit in self._evidence.units(name) for name in names)
        if unit == "year" and self._evidence.holds(*parts):
            return True
        return any({unit, None} & self._evidence.units(name) for name in names)

    def quotation(self, text: str) -> bool:
        """Whether a quoted text is short enough to be a term, or stands in the evidence word by word."""
        return all(
            self._evidence.holds_words(part)
            for part in re.split(r"…|\.\.\.|\[\d+\]", text)
            if len(words(part)) >= QUOTED_WORDS
        )

    def _simple(self, token: str, *, starts: bool) -> Kind | None:
        folded = fold(token)
        capital = token[0].isupper()
        inner = any(char.isupper() for char in token[1:])
        if folded in CHECKED_WORDS:
            return None if self.number(folded) else "number"
        if not capital and not inner and folded not in CHECKED_SMALL:
            return None
        if folded in ALWAYS or self._known(folded) or self._spoken(token):
            return None
        if calendar_key(folded, capital=True) and not (starts and folded in AMBIGUOUS & ORDINARY):
            return "date"
        known = folded in TECHNOLOGIES
        if is_ordinary(folded) and (starts or not known):
            return None
        if not known and self._evidence.holds_related(folded):
            return None
        if starts and not inner and not known and looks_ordinary(token):
            return None
        return "technology" if known or inner else "name"

    def _known(self, folded: str) -> bool:
        return self._evidence.holds(*word_keys(folded))

    def _spoken(self, token: str) -> bool:
        """C++, Node.js and the like, and other spellings of one technology."""
        folded = fold(token)
        spoken = [folded, *aliases(token)]
        return any(self._evidence.holds(name) for name in spoken[1:]) or any(
            self._evidence.holds(f"={SPELLINGS[name]}") for name in spoken if name in SPELLINGS
        )

    def _dotted(self, token: str, *, starts: bool) -> Kind | None:
        if ABBREVIATION.fullmatch(token):
            return None if token.islower() or self._evidence.holds_words(token) else "name"
        if re.fullmatch(r"v?\d[\d.,]*", token):
            return "number"
        if ADDRESS.search(token):
            return "address"
        return self._pieces(token, starts=starts)

    def _pieces(self, token: str, *, starts: bool) -> Kind | None:
        """A compound: every part must be supported; `two-year` is a number with its unit."""
        if self._evidence.holds_words(token):
            return None
        if full := FULL_HOUR.fullmatch(token):
            hour = int(full[1])
            if half_of(hour) in self._evidence.units(f"n{of_twelve(hour)}"):
                return None
        if date := ISO_DATE.fullmatch(token) or SLASH_DATE.fullmatch(token):
            year, months, days = date_parts(date)
            named = [f"m{month}" for month in months]
            known = self._evidence.near([f"n{year}"], named, DATE_NEAR)
            if days and known:
                known = self._evidence.near([f"n{day}" for day in days], named, DATE_NEAR)
            return None if known else "date"
        parts = PIECE.findall(token) if "." not in token else re.split(r"[-/_&'’:]", token)
        if len(parts) > 1 and all(len(part) == 1 and part.isupper() for part in parts):
            return "technology"  # «I/O»: no letter of it says anything
        for at, part in enumerate(parts):
            following = fold(parts[at + 1]) if at + 1 < len(parts) else ""
            if kind := self._piece(part, following, starts=starts and not at):
                return kind
        return None

    def _piece(self, part: str, following: str, *, starts: bool) -> Kind | None:
        if NUMBER.fullmatch(part) or fold(part) in CHECKED_WORDS:
            value = NUMBER_WORDS.get(fold(part), 0)
            ones = NUMBER_WORDS.get(following, 0)
            if value in range(20, 91, 10) and 0 < ones < 10:
                return None if self._evidence.holds(f"n{value + ones}") else "number"
            supported = self.number(
                part, UNITS.get(following), MULTIPLIERS.get(following, 1)
            ) or self._evidence.holds(f"p{value}")
            return None if supported else "number"
        if mixed := MIXED.fullmatch(part):
            ending = fold(mixed[2])
            if ending in UNITS or ending in MULTIPLIERS or ending in ORDINAL_ENDINGS:
                unit, factor = UNITS.get(ending), MULTIPLIERS.get(ending, 1)
                if mixed[2] == "M":
                    unit, factor = None, 1_000_000
                return None if self.number(mixed[1], unit, factor) else "number"
        if part.isalpha():
            return self._simple(part, starts=starts)
        return None if self._evidence.holds_words(part) else "technology"
