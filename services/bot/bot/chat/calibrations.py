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
        intercept=-23.868,
        top_cosine=27.873,
        margin=12.622,
        contrast=17.681,
        coverage=1.336,
        unknown_share=-1.533,
        unknown_names=-2.606,
        missing_attributes=-5.236,
        foreign=1.011,
        threshold=0.426,
    ),
}


def calibration_for(model: str, *, dense: bool, own: OwnCalibration | None = None) -> Calibration:
    """The owner's calibration, else the shipped one for an embedding model or for keywords only."""
    if own is not None:
        return own.meaning if dense else own.keywords
    return SHIPPED.get(model, KEYWORDS) if dense else KEYWORDS
