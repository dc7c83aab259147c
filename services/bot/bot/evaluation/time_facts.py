"""Facts that are lengths of time: `{Jul 2024 – Jun 2026}` is given by every usual way to say 24 months.

An open range counts to the day of asking, so such a fact can't be written down as a number. Two ranges
with an `&` between them mean how long both went on at the same time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bot.evaluation.facts import folded, holds
from bot.evaluation.numbers import Duration, durations
from corpus.span_parser import find_spans
from corpus.spans import MONTHS_PER_YEAR, Length, length, overlap

COMPUTED = re.compile(r"\{([^{}]*)\}")
FEW_MONTHS = 3  # 51 months are «4 years»; 57 are «almost 5 years»
ALMOST = re.compile(
    r"\b(?:almost|nearly|about|around|close to|casi|cerca de|unos|alrededor de)\s+\Z"
)


def ranges(fact: str) -> list[str]:
    """The ranges in the braces of a fact, as they must stand in a document."""
    return [part.strip() for inner in COMPUTED.findall(fact) for part in inner.split("&")]


def given(answer: str, facts: Sequence[str], today: date) -> list[bool]:
    """Which of the facts an answer without citations holds; one alternative is enough.

    Raises:
        ValueError: what stands in braces is not one range of dates, or two.
    """
    text = folded(answer)
    return [any(_holds(text, term, today) for term in fact.split("|")) for fact in facts]


def measured(alternative: str, today: date) -> Length:
    """How long the range of an alternative such as `{2021 – present}` is, or both overlap.

    Raises:
        ValueError: it is not one range of dates, or two.
    """
    texts = ranges(alternative)
    spans = [found for text in texts for found in find_spans(text) if found.text == text]
    if len(spans) != len(texts) or not 1 <= len(spans) <= 2:
        raise ValueError(f"no range of dates: {alternative}")
    return length(spans[0], today) if len(spans) == 1 else overlap(spans[0], spans[1], today)


def _holds(text: str, term: str, today: date) -> bool:
    if "{" not in term:
        return holds(text, term)
    measure = measured(term, today)
    return any(_is(said, text[: said.start], measure) for said in durations(text))


def _is(said: Duration, before: str, measure: Length) -> bool:
    """Whether words such as `almost 3 years` tell this length: exact months, or years rounded down."""
    if not measure.is_exact:
        most = -(-measure.most // MONTHS_PER_YEAR)
        return measure.least // MONTHS_PER_YEAR <= said.months / MONTHS_PER_YEAR <= most
    above = measure.most - said.months
    if above == 0 or not said.whole_years:
        return above == 0
    return 0 < above <= FEW_MONTHS or (
        -FEW_MONTHS <= above < 0 and ALMOST.search(before) is not None
    )
