"""Decide whether the content can hold the answer, before any model is called.

A logistic function of raw evidence, never of a fused rank: the best of a bad set would win there
(CopilotKit/pathfinder#146). Cosines of one model mean nothing for another, so every calibration is tied
to an embedding model; an unknown model gets the keyword calibration. Shipped coefficients come from
`python -m bench.fit_gate`, an owner's own from `chat-bot calibrate`; both print how well they hold on
questions they were not fitted on.
"""

from __future__ import annotations

import math

from msgspec import Struct

from bot.chat.search import Evidence

MOST_LOGIT = 60.0  # beyond it exp() is of no use to anybody

FEATURES = (
    "top_cosine",
    "margin",
    "contrast",
    "coverage",
    "unknown_share",
    "unknown_names",
    "missing_attributes",
    "foreign",
)
"""What the gate looks at, in the order of `features`; see bot.chat.search.Evidence for each."""
MEASURED = 2
"""Raised when one of them is measured otherwise, so that no calibration of before is used: 2 compares words
by stem and translation."""


class Calibration(Struct, frozen=True, kw_only=True):
    """Coefficients of the gate for one embedding model, and the cut that was chosen with them."""

    intercept: float
    top_cosine: float = 0.0
    margin: float = 0.0
    contrast: float = 0.0
    coverage: float = 0.0
    unknown_share: float = 0.0
    unknown_names: float = 0.0
    missing_attributes: float = 0.0
    foreign: float = 0.0
    threshold: float = 0.5
    """Least probability at which the question goes to the model."""


class Decision(Struct, frozen=True, kw_only=True):
    """The gate's verdict; its figures are for logs and calibration, never for visitors."""

    answerable: bool
    logit: float

    @property
    def probability(self) -> float:
        """Probability that the content holds the answer, as calibrated."""
        return 1 / (1 + math.exp(-self.logit))


def features(evidence: Evidence) -> tuple[float, ...]:
    """The numbers the gate weighs, in the order of `FEATURES`; counts are capped."""
    return (
        evidence.top_cosine,
        evidence.margin,
        evidence.contrast,
        evidence.coverage,
        evidence.unknown_share,
        float(min(evidence.unknown_names, 2)),
        float(min(evidence.missing_attributes, 1)),
        float(evidence.foreign),
    )


def decide(evidence: Evidence, calibration: Calibration, threshold: float | None) -> Decision:
    """Whether to answer from `evidence`; `threshold` overrides the calibration's own cut."""
    if not evidence.hits:
        return Decision(answerable=False, logit=-MOST_LOGIT)
    weights = (getattr(calibration, name) for name in FEATURES)
    logit = calibration.intercept + sum(
        weight * value for weight, value in zip(weights, features(evidence), strict=True)
    )
    decision = Decision(answerable=True, logit=max(-MOST_LOGIT, min(MOST_LOGIT, logit)))
    cut = calibration.threshold if threshold is None else threshold
    return Decision(answerable=decision.probability >= cut, logit=decision.logit)
