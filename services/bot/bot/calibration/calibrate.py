"""The whole calibration: questions and their evidence in, coefficients, cut and figures out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from bot.calibration.evidence import measure
from bot.calibration.fitting import (
    RIDGE,
    Floats,
    Mask,
    calibration_of,
    coefficients_of,
    cut_for,
    figures_at,
    fit,
    logit,
    probability,
    scores,
)
from bot.calibration.questions import ENOUGH_LABELLED, Question, labelled_answerable
from bot.chat.calibrations import SHIPPED, OwnCalibration, calibration_for
from bot.chat.gate import FEATURES, Calibration
from corpus.reader import Index
from corpus.settings import RagSettings
from corpus.vectors import Vector

# A few dozen questions must not overturn what some two hundred said: the coefficients are pulled to the
# shipped ones, ten times as hard as the plain ridge pulls to zero.
PULL = 10 * RIDGE
MEANING = ("top_cosine", "margin", "contrast")  # another model's cosines are on another scale
LEAST_OF_EACH = 10
FOLDS = 5
LEAST_CUT = 1e-5  # as a probability, and the step between two cuts


class TooFewQuestions(Exception):
    """There is not enough to fit on; the message says what of."""


class Gate(Struct, frozen=True, kw_only=True):
    """One fitted gate."""

    calibration: Calibration
    logits: tuple[float, ...]
    """Of each question, in order."""
    cut: float
    """Logit from which a question is answered."""
    figures: dict[str, float]
    """On the questions it was fitted on."""
    other_half: dict[str, float]
    """Mean of two gates, each fitted on one half and measured on the other."""
    before: dict[str, float]
    """Of the gate that is in use without it."""
    capped: bool
    """The wanted recall asked for a higher cut than the shipped one; the shipped one was kept."""


class Result(Struct, frozen=True, kw_only=True):
    """Both gates; with vectors, and for the times when the embedder is away."""

    questions: tuple[Question, ...]
    recall: float
    meaning: Gate
    keywords: Gate

    @property
    def fitted(self) -> bool:
        """The owner's questions were enough to fit the coefficients on; else only the cut moved."""
        return labelled_answerable(self.questions) >= ENOUGH_LABELLED

    @property
    def own(self) -> OwnCalibration:
        """What the bot uses."""
        return OwnCalibration(meaning=self.meaning.calibration, keywords=self.keywords.calibration)

    @property
    def counts(self) -> dict[str, int]:
        """Questions by label and origin."""
        return dict(Counter(f"{q.label}, {q.origin}" for q in self.questions))


def calibrate(
    index: Index,
    questions: Sequence[Question],
    vectors: Sequence[Vector],
    settings: RagSettings,
    *,
    model: str,
    recall: float,
) -> Result:
    """Fit both gates, or move their cuts where the owner has labelled too few.

    Made questions repeat the content's words, a visitor's do not. Fitted on made ones alone, the
    keyword gate of the sample site let 65 % of the hand-labelled answerable questions through instead
    of 97 %. So they only show where the shipped gate would refuse even the easy ones.

    Args:
        vectors: unit vector of each question.
        model: name of the embedding model.
        recall: share of answerable questions that shall reach the model, below 1.

    Raises:
        TooFewQuestions: fewer than ten answerable or ten negative ones.
    """
    answerable = np.array([question.label == "answerable" for question in questions])
    if min(answerable.sum(), (~answerable).sum()) < LEAST_OF_EACH:
        raise TooFewQuestions(
            f"{answerable.sum()} answerable questions and {(~answerable).sum()} others: "
            f"{LEAST_OF_EACH} of each are needed; label some of your own (--questions)"
        )
    texts = [question.text for question in questions]
    known = model in SHIPPED
    return Result(
        questions=tuple(questions),
        recall=recall,
        meaning=_gate(
            measure(index, texts, vectors, settings), questions, recall,
            default=calibration_for(model, dense=True),
            free=() if known else MEANING,
        ),
        keywords=_gate(
            measure(index, texts, [None] * len(texts), settings), questions, recall,
            default=calibration_for(model, dense=False), free=(),
        ),
    )  # fmt: skip


def _gate(
    x: Floats,
    questions: Sequence[Question],
    recall: float,
    *,
    default: Calibration,
    free: Sequence[str],
) -> Gate:
    label = np.array([question.label for question in questions])
    prior, shipped_cut = coefficients_of(default), logit(default.threshold)
    ridge = np.array([RIDGE if name in free else PULL for name in FEATURES])
    fitted = labelled_answerable(questions) >= ENOUGH_LABELLED

    def found(mine: Mask) -> tuple[Floats, float]:
        """Coefficients and wanted cut by a part of the questions."""
        coefficients = _fit(x[mine], label[mine], prior, ridge) if fitted else prior
        # Rounded before the cut is taken: what is shown is what the bot does.
        coefficients = coefficients_of(calibration_of(coefficients, 0.0))
        logits = scores(x[mine], coefficients)
        if fitted:
            logits = _held_out(x[mine], label[mine], prior, ridge)
        return coefficients, cut_for(logits[label[mine] == "answerable"], recall)

    coefficients, wanted = found(np.ones(len(x), np.bool_))
    capped = not fitted and wanted > shipped_cut
    threshold = default.threshold if capped else _threshold(wanted)
    calibration = replace(calibration_of(coefficients, 0.0), threshold=threshold)
    cut = logit(threshold)
    logits = scores(x, coefficients)
    halves = []
    for mine in (first := _first_half(questions), ~first):
        coefficients, wanted = found(mine)
        kept = wanted if fitted else min(wanted, shipped_cut)
        halves.append(figures_at(scores(x[~mine], coefficients), label[~mine], kept))
    return Gate(
        calibration=calibration,
        logits=tuple(map(float, logits)),
        cut=cut,
        figures=figures_at(logits, label, cut),
        other_half={
            key: round(float(np.mean([half[key] for half in halves])), 4) for key in halves[0]
        },
        before=figures_at(scores(x, prior), label, shipped_cut),
        capped=capped,
    )


def _first_half(questions: Sequence[Question]) -> Mask:
    """Every second question of each label and origin."""
    seen: Counter[tuple[str, str]] = Counter()
    taken = []
    for question in questions:
        kind = (question.label, question.origin)
        taken.append(seen[kind] % 2 == 0)
        seen[kind] += 1
    return np.array(taken)


def _held_out(x: Floats, label: npt.NDArray[np.str_], prior: Floats, ridge: Floats) -> Floats:
    """The logit of each question by a fit on the others: on its own fit it looks better than it is."""
    fold = np.zeros(len(label), int)
    for name in np.unique(label):
        mine = label == name
        fold[mine] = np.arange(mine.sum()) % FOLDS
    logits = np.zeros(len(label))
    for n in range(FOLDS):
        out = fold == n
        logits[out] = scores(x[out], _fit(x[~out], label[~out], prior, ridge))
    return logits


def _fit(x: Floats, label: npt.NDArray[np.str_], prior: Floats, ridge: Floats) -> Floats:
    """Both sides weigh the same, so that one half is even odds however many there are of each."""
    answerable = label == "answerable"
    weight = np.where(answerable, 0.5 / answerable.sum(), 0.5 / (~answerable).sum())
    return fit(x, answerable, weight, prior=prior, ridge=ridge)


def _threshold(cut: float) -> float:
    """The probability of a logit to five places, rounded down: the questions at the cut still pass."""
    steps = math.floor(probability(cut) / LEAST_CUT)
    return round(min(max(steps, 1), round(1 / LEAST_CUT) - 1) * LEAST_CUT, 5)
