"""The fit of `chat-bot calibrate`: coefficients, cut, and what keeps made questions from spoiling it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from bot.calibration.calibrate import (
    LEAST_OF_EACH,
    Result,
    TooFewQuestions,
    calibrate,
)
from bot.calibration.fitting import (
    auc,
    calibration_of,
    coefficients_of,
    cut_for,
    figures_at,
    fit,
    probability,
    roc,
    scores,
)
from bot.calibration.questions import ENOUGH_LABELLED, Question
from bot.chat.calibrations import KEYWORDS, SHIPPED, calibration_for
from bot.chat.gate import FEATURES, decide
from bot.chat.search import search
from corpus.settings import RagSettings
from corpus.vectors import Vector
from tests.small_index import page, small_index, toward

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(400, 3))
Y = X[:, 0] * 2 - X[:, 1] + RANDOM.normal(size=400) * 0.5 > 0.3


def test_a_fit_finds_what_decides_and_in_which_direction() -> None:
    found = fit(X, Y)
    assert found[1] > 0.5
    assert found[2] < -0.3
    assert abs(found[3]) < 0.2
    assert auc(scores(X, found), Y) > 0.95


def test_the_fit_does_not_depend_on_the_scale_of_a_feature() -> None:
    scaled = X * np.array([1.0, 1000.0, 1e-3])
    assert scores(scaled, fit(scaled, Y)) == pytest.approx(scores(X, fit(X, Y)), abs=1e-6)


def test_weights_count_as_repetitions() -> None:
    x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    y = np.array([False, True, True, False])
    often = [0, 1, 0, 1, 0, 1, 2, 3]
    assert fit(x, y, np.array([3.0, 3, 1, 1])) == pytest.approx(fit(x[often], y[often]), abs=1e-6)


def test_a_hard_pull_ends_at_the_prior_and_the_intercept_stays_free() -> None:
    prior = np.array([9.0, -1.0, 4.0, 0.5])
    found = fit(X, Y, prior=prior, ridge=1e6)
    assert found[1:] == pytest.approx(prior[1:], abs=1e-3)
    assert probability(float(scores(X, found).mean())) != pytest.approx(probability(9.0), abs=0.1)


def test_a_feature_that_never_varies_keeps_its_prior() -> None:
    x = X.copy()
    x[:, 2] = 1.0
    assert fit(x, Y, prior=np.array([0, 0, 0, -4.7]))[3] == pytest.approx(-4.7)


def test_the_ridge_may_differ_by_feature() -> None:
    prior = np.array([0.0, 0.0, 0.0, 5.0])
    found = fit(X, Y, prior=prior, ridge=np.array([1e-3, 1e-3, 1e6]))
    assert found[3] == pytest.approx(5.0, abs=1e-3)
    assert found[1] > 0.5


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.97])
def test_the_cut_lets_the_wanted_share_through(recall: float) -> None:
    logits = RANDOM.normal(size=1000)
    assert (logits >= cut_for(logits, recall)).mean() == pytest.approx(recall, abs=0.002)


def test_auc_and_roc_of_known_orders() -> None:
    positive = np.array([True, True, False, False])
    assert auc([4, 3, 2, 1], positive) == 1
    assert auc([1, 2, 3, 4], positive) == 0
    assert auc([1, 1, 1, 1], positive) == 0.5
    assert roc(np.array([4.0, 2.0, 3.0, 1.0]), positive) == [
        (0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1),
    ]  # fmt: skip


def test_figures_leave_out_a_kind_that_is_not_there() -> None:
    label = np.array(["answerable", "answerable", "near"])
    found = figures_at(np.array([2.0, -1.0, -3.0]), label, 0.0)
    assert found == {"recall": 0.5, "auc_near": 1.0, "refused_near": 1.0}


def test_a_calibration_goes_through_coefficients_and_back() -> None:
    shipped = SHIPPED["multilingual-e5-small"]
    cut = float(np.log(shipped.threshold / (1 - shipped.threshold)))
    assert calibration_of(coefficients_of(shipped), cut) == shipped


TOPICS = [f"topic{n}" for n in range(12)]


def questions_about(count: int, origin: str = "made") -> list[Question]:
    """`count` answerable questions and as many far ones."""
    asked = [
        Question(text=f"What is {TOPICS[n % 12]}?", label="answerable", origin=origin)  # type: ignore[arg-type]
        for n in range(count)
    ]
    return asked + [
        Question(text=f"Who won the cup of {1900 + n}?", label="far", origin="shipped")
        for n in range(count)
    ]


def vector_of(text: str) -> Vector:
    """Topics lie along the first axis; anything else points away, with a little of its own."""
    noise = (len(text) * 37 % 11) / 50
    if "unclear" in text:
        return toward(0.7, 0.1, 0.5 + noise)
    return toward(1, noise) if "topic" in text else toward(0.1, 0.1, 1, noise)


def calibrated(
    folder: Path,
    questions: list[Question],
    recall: float = 0.97,
    model: str = "multilingual-e5-small",
) -> Result:
    pages = [page(f"posts/{n}.md", f"All about {topic}.", vector=toward(1, n / 40), title=topic)
             for n, topic in enumerate(TOPICS)]  # fmt: skip
    with closing(small_index(folder, *pages)) as index:
        return calibrate(
            index, questions, [vector_of(q.text) for q in questions], RagSettings(),
            model=model, recall=recall,
        )  # fmt: skip


@pytest.mark.parametrize("model", ["multilingual-e5-small", "another-model"])
def test_both_gates_tell_the_two_kinds_apart(tmp_path: Path, model: str) -> None:
    result = calibrated(tmp_path, questions_about(40, "owner"), model=model)
    assert result.fitted
    for gate in (result.meaning, result.keywords):
        assert gate.figures["auc_far"] == 1
        # The cut is taken on logits of fits that left the question out; here all lie within 0.1.
        assert gate.figures["recall"] >= 0.9
        assert gate.figures["refused_far"] == 1
        assert set(gate.other_half) == {"recall", "auc_far", "refused_far"}
    assert result.counts == {"answerable, owner": 40, "far, shipped": 40}


def test_another_models_cosines_are_learnt(tmp_path: Path) -> None:
    """The keyword calibration an unknown model has otherwise gives them no weight."""
    known_words = [
        Question(text=f"{'topic' if n % 2 else 'other'} subject{n}?",
                 label="answerable" if n % 2 else "far", origin="owner")
        for n in range(60)
    ]  # fmt: skip
    result = calibrated(tmp_path, known_words, model="another-model")
    assert result.meaning.before["auc_far"] < 0.9
    assert result.meaning.figures["auc_far"] == 1


@pytest.mark.parametrize("origin", ["made", "owner"])
def test_what_is_shown_is_what_the_bot_will_decide(tmp_path: Path, origin: str) -> None:
    questions = questions_about(30, origin)
    result = calibrated(tmp_path / "a", questions)
    pages = [page(f"posts/{n}.md", f"All about {topic}.", vector=toward(1, n / 40), title=topic)
             for n, topic in enumerate(TOPICS)]  # fmt: skip
    with closing(small_index(tmp_path / "b", *pages)) as index:
        for question, logit in zip(questions, result.meaning.logits, strict=True):
            found = search(index, question.text, vector_of(question.text), RagSettings(), "en")
            decision = decide(found, result.meaning.calibration, None)
            assert decision.logit == pytest.approx(logit, abs=1e-9)
            assert decision.answerable == (logit >= result.meaning.cut)


UNCLEAR = [
    Question(text=f"unclear {'x' * n}?", label="answerable", origin="owner") for n in range(10)
]


@pytest.mark.parametrize("model", ["multilingual-e5-small", "another-model"])
def test_made_questions_change_no_coefficient_and_never_raise_the_cut(
    tmp_path: Path, model: str
) -> None:
    """They repeat the content's words: a gate fitted on them refuses visitors who use others."""
    result = calibrated(tmp_path, questions_about(40), recall=0.6, model=model)
    assert not result.fitted
    assert result.own.meaning == calibration_for(model, dense=True)
    assert result.own.keywords == KEYWORDS
    assert result.meaning.capped


def test_made_questions_that_the_shipped_gate_refuses_lower_the_cut(tmp_path: Path) -> None:
    hard = [replace(question, origin="made") for question in UNCLEAR]
    result = calibrated(tmp_path, [*hard, *questions_about(10)])
    shipped = SHIPPED["multilingual-e5-small"]
    assert result.meaning.before["recall"] < 0.97
    assert result.meaning.figures["recall"] >= 0.95
    assert not result.meaning.capped
    assert replace(result.own.meaning, threshold=shipped.threshold) == shipped


def test_enough_of_the_owners_own_decide_alone(tmp_path: Path) -> None:
    mine = [*UNCLEAR, *questions_about(ENOUGH_LABELLED - 10, "owner")]
    free = calibrated(tmp_path / "a", mine, recall=0.8)
    assert free.fitted
    assert not free.meaning.capped
    assert (
        0.75 <= free.meaning.figures["recall"] < 1
    )  # of many with the same logit all or none pass
    assert free.meaning.figures["auc_far"] > free.meaning.before["auc_far"] - 1e-9
    assert not calibrated(tmp_path / "b", mine[1:], recall=0.8).fitted


def test_too_few_of_a_kind_are_said(tmp_path: Path) -> None:
    questions = questions_about(LEAST_OF_EACH - 1)
    with pytest.raises(TooFewQuestions, match=f"{LEAST_OF_EACH - 1} answerable"):
        calibrated(tmp_path, questions)


def test_features_of_a_result_are_the_gates(tmp_path: Path) -> None:
    own = calibrated(tmp_path, questions_about(20)).own
    assert len(coefficients_of(own.meaning)) == len(FEATURES) + 1
    assert (own.keywords.top_cosine, own.keywords.margin, own.keywords.contrast) == (0, 0, 0)
