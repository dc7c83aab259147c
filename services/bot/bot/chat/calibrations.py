"""Shipped calibrations of the gate, by embedding model, and the owner's own that goes before them.

The shipped ones are fitted by `python -m bench.fit_gate`, an owner's by `chat-bot calibrate`.
"""

from __future__ import annotations

from msgspec import Struct

from bot.chat.gate import Calibration


class OwnCalibration(Struct, frozen=True, kw_only=True):
    """Fitted to one site's content and embedder."""

    meaning: Calibration
    """With vectors."""
    keywords: Calibration
    """For the times when the embedder is away."""


KEYWORDS = Calibration(
    intercept=1.1,
    coverage=2.868,
    unknown_share=-3.007,
    unknown_names=-2.134,
    missing_attributes=-4.511,
    foreign=-0.044,
    threshold=0.354,
)
"""Used when there are no vectors, or those of a model nobody has calibrated."""

SHIPPED: dict[str, Calibration] = {
    "multilingual-e5-small": Calibration(
        intercept=-24.276,
        top_cosine=29.535,
        margin=11.174,
        contrast=7.999,
        coverage=1.052,
        unknown_share=-2.806,
        unknown_names=-2.182,
        missing_attributes=-4.694,
        foreign=0.768,
        threshold=0.4,
    ),
}


def calibration_for(model: str, *, dense: bool, own: OwnCalibration | None = None) -> Calibration:
    """The owner's calibration, else the shipped one for an embedding model or for keywords only."""
    if own is not None:
        return own.meaning if dense else own.keywords
    return SHIPPED.get(model, KEYWORDS) if dense else KEYWORDS
