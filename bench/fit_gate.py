"""Fit the gate's coefficients on labelled questions, and say how well they hold on the other half.

    python -m bench.fit_gate [--questions tests/eval/gate.yaml] [--with FILE …]
        [--squad-corpus FILE --squad-questions FILE …] [--json]

Needs a running embedding server and the published index of the labelled site. The half to tune with of
further labelled files (`--with`) takes part in the fit and in the choice of the cut. SQuAD-format files, if
given, take part with a small weight: their left-out articles are thousands of near negatives no site
has. Prints a calibration to paste into bot/chat/calibrations.py.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import yaml

from bench.figures import table
from bench.squad import build_index, read_corpus, read_questions
from bot.calibration.evidence import measure
from bot.calibration.fitting import (
    Floats,
    Mask,
    auc,
    calibration_of,
    cut_for,
    figures_at,
    fit,
    scores,
)
from corpus.embedding import EmbeddingClient
from corpus.reader import Index, open_index
from corpus.settings import Settings
from corpus.settings_file import load_settings

SQUAD_WEIGHT = 0.2  # of each file, relative to the site's questions
WANTED_RECALL = 0.97


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print the table and the calibration."""
    parser = argparse.ArgumentParser(prog="bench.fit_gate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--questions", type=Path, default=Path("tests/eval/gate.yaml"))
    parser.add_argument("--with", type=Path, action="append", default=[], dest="more",
                        metavar="FILE", help="questions whose dev half is fitted on too")  # fmt: skip
    parser.add_argument(
        "--squad-corpus", type=Path, help="paragraphs of every --squad-questions file"
    )
    parser.add_argument("--squad-questions", type=Path, action="append", default=[])
    parser.add_argument("--keywords", action="store_true", help="fit for a search without vectors")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = load_settings(options.config)
    labelled = _labelled(options.questions)
    more = [each for path in options.more for each in _labelled(path) if each["set"] == "dev"]
    label = np.array([question["label"] for question in [*labelled, *more]])
    dev = np.array([question["set"] == "dev" for question in labelled])
    with EmbeddingClient(settings.embeddings) as client:
        index = open_index(Path(settings.rag.index_path))
        site = _features(
            index, [q["question"] for q in [*labelled, *more]], settings, client, options.keywords
        )
        index.close()
        others = [
            _squad(options.squad_corpus, path, settings, client, options.keywords)
            for path in options.squad_questions
        ]
    result = fit_and_report(site, label, dev, others)
    print(msgspec.json.encode(result).decode() if options.json else _render(result))


def fit_and_report(
    site: Floats, label: npt.NDArray[np.str_], dev: Mask, others: Sequence[tuple[Floats, Mask]]
) -> dict[str, Any]:
    """Coefficients fitted on all, and figures of the halves fitted on each other.

    Rows behind those of `dev` belong to neither half: they are fitted on, and not measured on.
    """
    answerable = label == "answerable"
    halves = []
    for half in (dev, ~dev):
        tested = np.concatenate([half, np.zeros(len(label) - len(dev), bool)])
        weights = fit_together(site[~tested], answerable[~tested], others)
        halves.append(_figures(site, label, tested, weights, ~tested))
    weights = fit_together(site, answerable, others)
    cut = cut_for(scores(site, weights)[answerable], WANTED_RECALL)
    return {
        "calibration": msgspec.to_builtins(calibration_of(weights, cut)),
        "other_half": {
            key: round(float(np.mean([half[key] for half in halves])), 3) for key in halves[0]
        },
        "fitted_on_all": _figures(
            site, label, np.ones(len(label), bool), weights, np.ones(len(label), bool)
        ),
        "squad_auc": [round(auc(scores(x, weights), y), 4) for x, y in others],
        "n": {str(name): int((label == name).sum()) for name in np.unique(label)},
    }


def _labelled(path: Path) -> list[dict[str, Any]]:
    """The questions of a file that stand alone and are either answered by the site or not."""
    questions = yaml.safe_load(path.read_text())["questions"]
    return [q for q in questions if q.get("label") in ("answerable", "far", "near")]


def fit_together(
    site: Floats, answerable: Mask, others: Sequence[tuple[Floats, Mask]] = ()
) -> Floats:
    """Coefficients fitted on the site's questions and, with a small weight, the other files'."""
    x = np.concatenate([site, *(other for other, _ in others)])
    y = np.concatenate([answerable, *(labels for _, labels in others)])
    weight = np.concatenate(
        [
            np.ones(len(site)),
            *(np.full(len(o), SQUAD_WEIGHT * len(site) / len(o)) for o, _ in others),
        ]
    )
    return fit(x, y, weight)


def _figures(
    site: Floats, label: npt.NDArray[np.str_], tested: Mask, weights: Floats, fitted: Mask
) -> dict[str, float]:
    logits = scores(site, weights)
    cut = cut_for(logits[fitted & (label == "answerable")], WANTED_RECALL)
    return figures_at(logits[tested], label[tested], cut)


def _features(
    index: Index,
    questions: Sequence[str],
    settings: Settings,
    client: EmbeddingClient,
    keywords: bool,
) -> Floats:
    prefix = settings.embeddings.query_prefix
    vectors = [None if keywords else client.embed([prefix + question])[0] for question in questions]
    return measure(index, questions, vectors, settings.rag)


def _squad(
    corpus: Path, path: Path, settings: Settings, client: EmbeddingClient, keywords: bool
) -> tuple[Floats, Mask]:
    paragraphs, place = read_corpus(corpus)
    asked = read_questions(path, paragraphs, place)
    with tempfile.TemporaryDirectory() as folder:
        index = build_index(
            Path(folder), paragraphs, settings, client, lambda p: p.article % 2 == 0
        )
        x = _features(index, [question.text for question in asked], settings, client, keywords)
        index.close()
    return x, np.array([question.article % 2 == 0 for question in asked])


def _render(result: dict[str, Any]) -> str:
    keys = list(result["other_half"])
    rows = [
        [name, *(f"{result[name][key]:.3f}" for key in keys)]
        for name in ("other_half", "fitted_on_all")
    ]
    calibration = ",\n    ".join(f"{key}={value}" for key, value in result["calibration"].items())
    return "\n".join(
        [f"questions: {result['n']}", table(["", *keys], rows), f"SQuAD AUC: {result['squad_auc']}",
         f"Calibration(\n    {calibration},\n)"]
    )  # fmt: skip


if __name__ == "__main__":
    main()
