"""Shipped calibrations of the gate, by embedding model. Fitted by `python -m bench.fit_gate`."""

from __future__ import annotations

from bot.chat.gate import Calibration

KEYWORDS = Calibration(
    intercept=1.953,
    coverage=2.021,
    unknown_share=-2.415,
    unknown_names=-4.015,
    missing_attributes=-4.649,
    foreign=1.353,
    threshold=0.475,
)
"""Used when there are no vectors, or those of a model nobody has calibrated."""

SHIPPED: dict[str, Calibration] = {
    "multilingual-e5-small": Calibration(
        intercept=-25.131,
        top_cosine=29.212,
        margin=13.453,
        contrast=24.995,
        coverage=0.699,
        unknown_share=-1.514,
        unknown_names=-2.605,
        missing_attributes=-5.215,
        foreign=0.744,
        threshold=0.406,
    ),
}


def calibration_for(model: str, *, dense: bool) -> Calibration:
    """The calibration for an embedding model, or the one for keywords only."""
    return SHIPPED.get(model, KEYWORDS) if dense else KEYWORDS
