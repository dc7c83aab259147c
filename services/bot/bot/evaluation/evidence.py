"""What some texts say, in the forms an answer's claims are compared in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property

from msgspec import Struct

from bot.evaluation.addresses import URL, address
from bot.evaluation.claims import Claim
from bot.evaluation.dates import Day, holds_date, told_dates, weekdays
from bot.evaluation.facts import folded, holds
from bot.evaluation.names import holds_name
from bot.evaluation.numbers import Duration, clock_times, durations, numbers, spelt
from corpus.spans import Length, Span, length, overlap, total

MARKUP = re.compile(r"[*`|>#\\]|(?<!\w)_+|_+(?!\w)")
LIST_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,2}[.)])[ \t]+\S")
SERIAL_COMMA = re.compile(r",\s+(?:and|or|y|o)\s")
JOINT = re.compile(r",\s|\s(?:and|y|e|&|or|o|u)\s")
HALF_YEAR = 6
MOST_COUNTED = 20
MOST_PAIRED = 30


class Text(Struct, frozen=True, kw_only=True):
    """A piece of evidence with the ranges of dates in it."""

    text: str
    spans: tuple[Span, ...] = ()


class Evidence:
    """Texts an answer may rest on."""

    def __init__(self, texts: Sequence[Text], today: date, *, counting: bool = False) -> None:
        """Read the texts.

        Args:
            today: the day to which open ranges go on.
            counting: "how many" was asked, so a number may be the length of a list.
        """
        self._texts = tuple(dict.fromkeys(texts))
        self._today = today
        self._counting = counting
        self.raw = "\n".join(text.text for text in self._texts)
        self.folded = folded(MARKUP.sub(" ", self.raw))
        self.words = frozenset(re.findall(r"[^\W_]+", self.folded))

    @property
    def dated(self) -> bool:
        """Whether there are ranges of dates."""
        return any(text.spans for text in self._texts)

    def joined(self, others: Iterable[Evidence]) -> Evidence:
        """This and others as one, so that their ranges of dates can be added up and compared."""
        texts = [text for each in (self, *others) for text in each._texts]
        return Evidence(texts, self._today, counting=self._counting)

    def holds(self, claim: Claim) -> bool:
        """Whether the texts say it, or it follows from their ranges of dates or lists."""
        match claim.kind:
            case "number":
                return not self._numbers.isdisjoint(claim.value)
            case "time":
                return claim.value in self._times
            case "length":
                return self._holds_length(claim.value)
            case "date":
                return holds_date(self._days, claim.value)
            case "month":
                return holds_date(self._days, [Day(month=claim.value)])
            case "weekday":
                return claim.value in self._weekdays
            case "email":
                return holds(self.folded, claim.value)
            case "url":
                return claim.value in self._addresses or f"{claim.value}/" in self.raw.lower()
            case "quotation":
                return self._holds_quotation(claim.value)
            case "name":
                return holds_name(self.folded, self.words, claim.value)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        found = {value for _, values, _, _ in numbers(self.raw) for value in values}
        found |= {str(value) for _, value in spelt(self.raw)}
        if self._counting:
            counted = itertools.chain.from_iterable(_counts(text.text) for text in self._texts)
            found |= {str(number) for number in counted if 2 <= number <= MOST_COUNTED}
        # «a las nueve de la noche» for 21:00
        found |= {str((int(clock[:2]) + 11) % 12 + 1) for clock in self._times}
        return frozenset(found)

    @cached_property
    def _times(self) -> frozenset[str]:
        return frozenset(value for _, value, _, _ in clock_times(self.raw))

    @cached_property
    def _days(self) -> frozenset[Day]:
        return frozenset(told_dates(self.raw))

    @cached_property
    def _weekdays(self) -> frozenset[int]:
        return frozenset(number for _, number in weekdays(self.raw))

    @cached_property
    def _addresses(self) -> frozenset[str]:
        return frozenset(address(match[0]) for match in URL.finditer(self.raw))

    @cached_property
    def _written(self) -> frozenset[int]:
        return frozenset(duration.months for duration in durations(self.raw))

    @cached_property
    def _lengths(self) -> tuple[Length, ...]:
        spans = list(dict.fromkeys(span for text in self._texts for span in text.spans))
        groups = [[span for span in text.spans if span.entry] for text in self._texts]
        return (
            *(length(span, self._today) for span in spans),
            *(total(group, self._today) for group in [spans, *groups] if len(group) > 1),
            *(
                overlap(one, other, self._today)
                for one, other in itertools.combinations(spans[:MOST_PAIRED], 2)
            ),
        )

    def _holds_length(self, said: Duration) -> bool:
        if said.months in self._written:
            return True
        room = HALF_YEAR if said.whole_years else 0
        return any(
            known.least - room <= said.months <= known.most + room
            for known in self._lengths
            if known.most > 0
        )

    def _holds_quotation(self, quoted: str) -> bool:
        parts = [_words_of(part) for part in re.split(r"…|\.\.\.|\[…\]", quoted)]
        return all(f" {part} " in self._running for part in parts if part)

    @cached_property
    def _running(self) -> str:
        return f" {_words_of(self.raw)} "


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", folded(text)))


def _counts(text: str) -> Iterator[int]:
    """Items of each list that stands together, and rows of each table without its heading."""
    items: dict[int, int] = {}
    rows = 0
    for line in [*text.split("\n"), ""]:
        if match := LIST_ITEM.match(line):
            items[len(match[1])] = items.get(len(match[1]), 0) + 1
        elif not line.startswith("  "):  # an indented line goes on with its item
            yield from items.values()
            items = {}
        if line.lstrip().startswith("|"):
            rows += any(char.isalnum() for char in line)
        else:
            if rows > 1:
                yield rows - 1
            rows = 0


def enumerated(sentence: str) -> int:
    """How many things a sentence lists, behind its colon where it has one; 1 for no series."""
    after = SERIAL_COMMA.sub(", ", sentence.split(":", 1)[-1])
    return len(JOINT.findall(after)) + 1
