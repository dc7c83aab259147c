"""Logistic regression for the gate's coefficients, and the figures that say how good they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bot.chat.gate import FEATURES, Calibration

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RIDGE = 1e-2  # on standardised features: a few hundred questions are few
MOST_STEPS = 100


def fit(
    x: Floats,
    answerable: Mask,
    weight: Floats | None = None,
    *,
    prior: Floats | None = None,
    ridge: float | Floats = RIDGE,
) -> Floats:
    """Ridge logistic regression by Newton's method; intercept first, on raw features.

    Args:
        x: one row a question, one column a feature.
        weight: of each question; all the same without.
        prior: coefficients (intercept first) that the ridge pulls to instead of zero; the intercept
            itself is free. A feature that never varies keeps its prior.
        ridge: strength of the pull, one for all or one for each feature.
    """
    y = answerable.astype(float)
    weight = np.ones(len(x)) if weight is None else weight
    mean, spread = x.mean(0), x.std(0)
    spread[spread < 1e-9] = 1.0
    z = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    pull = np.diag(np.concatenate([[1e-9], np.broadcast_to(ridge, x.shape[1])]))
    centre = np.zeros(z.shape[1])
    if prior is not None:
        centre[1:] = prior[1:] * spread
    beta = centre.copy()
    for _ in range(MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(z @ beta, -50, 50)))
        gradient = z.T @ (weight * (y - p)) / weight.sum() - pull @ (beta - centre)
        curvature = (z * (weight * p * (1 - p))[:, None]).T @ z / weight.sum() + pull
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    raw = beta[1:] / spread
    return np.concatenate([[beta[0] - float(raw @ mean)], raw])


def scores(x: Floats, coefficients: Floats) -> Floats:
    """The logit of each row."""
    logits: Floats = coefficients[0] + x @ coefficients[1:]
    return logits


def coefficients_of(calibration: Calibration) -> Floats:
    """Intercept and weights as `fit` gives them."""
    return np.array(
        [calibration.intercept, *(getattr(calibration, name) for name in FEATURES)], float
    )


def calibration_of(coefficients: Floats, cut: float) -> Calibration:
    """Rounded to three places, the threshold to five; `cut` is a logit."""
    return Calibration(
        intercept=round(float(coefficients[0]), 3),
        **{name: round(float(w), 3) for name, w in zip(FEATURES, coefficients[1:], strict=True)},
        threshold=round(probability(cut), 5),
    )


def probability(logit: float) -> float:
    """Of a logit, without overflow."""
    return float(1 / (1 + np.exp(-np.clip(logit, -60, 60))))


def logit(probable: float) -> float:
    """Of a probability between 0 and 1, both left out."""
    return float(np.log(probable / (1 - probable)))


def cut_for(logits: Floats, recall: float) -> float:
    """The highest logit that at least so large a share of `logits` reaches."""
    return float(np.quantile(logits, 1 - recall, method="lower"))


def auc(values: Sequence[float] | Floats, positive: Sequence[bool] | Mask) -> float:
    """Area under the ROC curve: how often a positive scores above a negative, ties count half."""
    found, labels = np.asarray(values, float), np.asarray(positive, bool)
    order = np.sort(found)
    ranks = (np.searchsorted(order, found, "left") + np.searchsorted(order, found, "right") + 1) / 2
    n = int(labels.sum())
    m = labels.size - n
    return float((ranks[labels].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def figures_at(logits: Floats, label: npt.NDArray[np.str_], cut: float) -> dict[str, float]:
    """Answer recall at the cut; for far and near negatives AUC and the share refused, where any."""
    answerable = label == "answerable"
    found = {"recall": round(float((logits[answerable] >= cut).mean()), 4)}
    for name in ("far", "near"):
        negative = label == name
        if not negative.any():
            continue
        pool = negative | answerable
        found[f"auc_{name}"] = round(auc(logits[pool], answerable[pool]), 4)
        found[f"refused_{name}"] = round(float((logits[negative] < cut).mean()), 4)
    return found


def roc(logits: Floats, positive: Mask) -> list[tuple[float, float]]:
    """(share of negatives let through, share of positives let through) from (0, 0) to (1, 1)."""
    points = [(0.0, 0.0)]
    for cut in np.unique(logits)[::-1]:
        passed = logits >= cut
        points.append((float(passed[~positive].mean()), float(passed[positive].mean())))
    return points
