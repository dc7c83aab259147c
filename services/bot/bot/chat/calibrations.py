"""Shipped calibrations of the gate, by embedding model. Fitted by `python -m bench.fit_gate`."""

from __future__ import annotations

from bot.chat.gate import Calibration

KEYWORDS = Calibration(
    intercept=1.985,
    coverage=1.937,
    unknown_share=-2.434,
    unknown_names=-4.012,
    missing_attributes=-4.717,
    foreign=1.239,
    threshold=0.478,
)
"""Used when there are no vectors, or those of a model nobody has calibrated."""

SHIPPED: dict[str, Calibration] = {
    "multilingual-e5-small": Calibration(
        intercept=-24.497,
        top_cosine=28.614,
        margin=12.084,
        contrast=18.393,
        coverage=1.162,
        unknown_share=-1.448,
        unknown_names=-2.66,
        missing_attributes=-5.306,
        foreign=1.061,
        threshold=0.423,
    ),
}


def calibration_for(model: str, *, dense: bool) -> Calibration:
    """The calibration for an embedding model, or the one for keywords only."""
    return SHIPPED.get(model, KEYWORDS) if dense else KEYWORDS
