"""Shipped calibrations of the gate, by embedding model. Fitted by `python -m bench.fit_gate`."""

from __future__ import annotations

from bot.chat.gate import Calibration

KEYWORDS = Calibration(
    intercept=1.502,
    coverage=2.529,
    unknown_share=-2.028,
    unknown_names=-4.015,
    missing_attributes=-4.675,
    foreign=1.461,
    threshold=0.471,
)
"""Used when there are no vectors, or those of a model nobody has calibrated."""

SHIPPED: dict[str, Calibration] = {
    "multilingual-e5-small": Calibration(
        intercept=-26.575,
        top_cosine=30.96,
        margin=12.493,
        contrast=23.243,
        coverage=1.038,
        unknown_share=-1.468,
        unknown_names=-2.622,
        missing_attributes=-5.232,
        foreign=0.918,
        threshold=0.415,
    ),
}


def calibration_for(model: str, *, dense: bool) -> Calibration:
    """The calibration for an embedding model, or the one for keywords only."""
    return SHIPPED.get(model, KEYWORDS) if dense else KEYWORDS
