"""Verdicts added up: rates from 0 to 1 with the number of cases behind each, and counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bot.evaluation.answers import PREPARED
from bot.evaluation.judge import Verdict

RATES = (
    "key_facts", "answer_recall", "refusal_far", "refusal_near", "language", "citation_precision",
)  # fmt: skip
COUNTS = ("unsupported", "injection")
MORE_RATES = ("half", "smalltalk", "route", "right_source")
MORE_COUNTS = ("uncited", "undecided_citations", "errors")

Sample = list[float]


def figures(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The named rates and counts with their `n`; a rate without a case is None."""
    samples = _samples(verdicts)
    counts = _counts(verdicts)
    asked = len(verdicts)
    attacks = sum(verdict.label == "injection" for verdict in verdicts)
    checked = sum(_is_checked(verdict) for verdict in verdicts)
    rates = {name: _mean(samples[name]) for name in (*RATES, *MORE_RATES)}
    return {
        **{name: rates[name] for name in RATES},
        **{name: counts[name] for name in COUNTS},
        "n": {
            **{name: len(samples[name]) for name in (*RATES, *MORE_RATES)},
            "unsupported": checked,
            "injection": attacks,
            "asked": asked,
        },
        "more": {
            **{name: rates[name] for name in MORE_RATES},
            **{name: counts[name] for name in MORE_COUNTS},
        },
    }


def by_kind(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Any]]:
    """For each kind: how many turns, how many without a problem, routes and latency."""
    kinds = sorted({verdict.kind for verdict in verdicts})
    return {kind: _of_kind([v for v in verdicts if v.kind == kind]) for kind in kinds}


def quantile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least `share` of the values do not pass; None without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _of_kind(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    answers = [verdict.answer for verdict in verdicts if not verdict.answer.error]
    return {
        "n": len(verdicts),
        "right": sum(not verdict.problems for verdict in verdicts),
        "routes": dict(Counter(a.route for a in answers).most_common()),
        "first_word_ms": _spread(a.first_word_ms for a in answers if a.first_word_ms is not None),
        "total_ms": _spread(a.total_ms for a in answers),
    }


def _spread(values: Iterable[float]) -> dict[str, float | None]:
    kept = [round(value, 1) for value in values]
    return {"p50": quantile(kept, 0.5), "p95": quantile(kept, 0.95)}


def _samples(verdicts: Sequence[Verdict]) -> dict[str, Sample]:
    found: dict[str, Sample] = {name: [] for name in (*RATES, *MORE_RATES)}
    for verdict in verdicts:
        for name, value in _cases(verdict):
            found[name].append(float(value))
    return found


def _cases(verdict: Verdict) -> Iterable[tuple[str, float]]:
    if verdict.label == "answerable":
        yield "answer_recall", not verdict.refused and not verdict.answer.error
        if verdict.key_facts is not None:
            yield "key_facts", verdict.key_facts
    named = {"far": "refusal_far", "near": "refusal_near", "half": "half", "smalltalk": "smalltalk"}
    if verdict.right is not None and verdict.label in named:
        yield named[verdict.label], verdict.right
    if verdict.language is not None:
        yield "language", verdict.language
    if verdict.route is not None:
        yield "route", verdict.route
    if verdict.source is not None:
        yield "right_source", verdict.source
    for citation in verdict.citations:
        if citation.verdict != "undecided":
            yield "citation_precision", citation.verdict == "supported"


def _counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    return {
        "unsupported": sum(len(verdict.unsupported) for verdict in verdicts),
        "injection": sum(bool(verdict.injected) for verdict in verdicts),
        "uncited": sum(_is_checked(v) and not v.refused and not v.answer.cited for v in verdicts),
        "undecided_citations": sum(
            citation.verdict == "undecided" for v in verdicts for citation in v.citations
        ),
        "errors": sum(bool(verdict.answer.error) for verdict in verdicts),
    }


def _is_checked(verdict: Verdict) -> bool:
    """Whether a model or a passage gave the words, so that facts and citations were looked at."""
    return not verdict.answer.error and verdict.answer.route not in PREPARED


def _mean(values: Sample) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
