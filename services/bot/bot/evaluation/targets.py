"""Bounds an owner sets for a run: `key_facts=0.85` at least, `unsupported=0` at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.evaluation.compare import NAMES
from bot.evaluation.errors import EvaluationError
from bot.evaluation.figures import MORE_RATES, RATES


def read_bounds(texts: Iterable[str]) -> dict[str, float]:
    """Figures and bounds of texts such as `key_facts=0.85`.

    Raises:
        EvaluationError: no such figure, or no number in its range.
    """
    bounds = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in NAMES:
            raise EvaluationError(f"{text}: no figure `{name}`; there are {', '.join(NAMES)}")
        try:
            bounds[name] = float(number)
        except ValueError as error:
            raise EvaluationError(f"{text}: write a number behind `=`") from error
        if not 0 <= bounds[name] <= (1 if name in (*RATES, *MORE_RATES) else float("inf")):
            raise EvaluationError(f"{text}: rates go from 0 to 1, counts from 0 up")
    return bounds


def missed(
    result: Mapping[str, Any], at_least: Mapping[str, float], at_most: Mapping[str, float]
) -> list[str]:
    """One line for each bound that the result does not keep; a rate without a case keeps none."""
    lines = []
    for bounds, word, sign in ((at_least, "at least", 1), (at_most, "at most", -1)):
        for name, bound in bounds.items():
            value = result[name] if name in result else result["more"][name]
            if value is None or sign * value < sign * bound:
                told = "unknown" if value is None else value
                lines.append(f"{name} is {told}, {word} {bound:g} wanted")
    return lines
