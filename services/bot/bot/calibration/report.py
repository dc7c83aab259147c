"""What a calibration found, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from bot.calibration.calibrate import Gate, Result
from bot.calibration.fitting import probability
from bot.calibration.questions import ENOUGH_LABELLED, Label, labelled_answerable

BINS = 20
WIDTH = 24
NEXT_TO_CUT = 12
ROWS = (
    ("recall", "answerable questions answered"),
    ("refused_far", "far questions refused"),
    ("refused_near", "near questions refused"),
    ("auc_far", "AUC, answerable against far"),
    ("auc_near", "AUC, answerable against near"),
)
COLUMNS = (("before", "shipped"), ("figures", "own"), ("other_half", "own, other half"))
LABELS: tuple[Label, ...] = ("answerable", "far", "near")


def render(result: Result) -> str:
    """The whole report."""
    return "\n".join(_lines(result))


def notes(result: Result) -> list[str]:
    """What the owner should know about the result."""
    if result.fitted:
        return []
    owner = labelled_answerable(result.questions)
    found = [
        f"Only the cut was looked at, on questions made of titles and headings. {owner} of your own are "
        f"answerable; with {ENOUGH_LABELLED} (--questions) the coefficients are fitted to your site too."
    ]
    if result.meaning.capped:
        found.append(
            "The shipped cut was kept: made questions are easier than a visitor's, so they can only "
            "lower it."
        )
    return found


def histogram(result: Result, label: Label) -> list[int]:
    """Questions of a label in each twentieth of the probability."""
    counts = [0] * BINS
    for question, logit in zip(result.questions, result.meaning.logits, strict=True):
        if question.label == label:
            counts[min(int(probability(logit) * BINS), BINS - 1)] += 1
    return counts


def next_to_cut(result: Result) -> list[tuple[float, str, str]]:
    """Probability, label and text of the questions nearest to the cut, from the highest down."""
    gate = result.meaning
    near = sorted(range(len(gate.logits)), key=lambda n: abs(gate.logits[n] - gate.cut))
    return [
        (probability(gate.logits[n]), result.questions[n].label, result.questions[n].text)
        for n in sorted(near[:NEXT_TO_CUT], key=lambda n: -gate.logits[n])
    ]


def _lines(result: Result) -> Iterator[str]:
    counts = result.counts
    yield f"{len(result.questions)} questions: " + "; ".join(
        f"{counts[key]} {key}" for key in sorted(counts)
    )
    for name, gate in (("with vectors", result.meaning), ("keywords only", result.keywords)):
        yield ""
        yield from _table(name, gate)
    yield ""
    yield "Score distributions (probability, with vectors)"
    yield "            " + "".join(f"{label:<{WIDTH + 4}}" for label in LABELS)
    columns = [histogram(result, label) for label in LABELS]
    most = [max(column) or 1 for column in columns]
    cut_bin = min(int(result.meaning.calibration.threshold * BINS), BINS - 1)
    for n in range(BINS):
        mark = "cut >" if n == cut_bin else ""
        bars = "".join(
            f"{'#' * round(column[n] / top * WIDTH):<{WIDTH}}{column[n] or '':<4}"
            for column, top in zip(columns, most, strict=True)
        )
        yield f"{mark:>5} {n / BINS:.2f}  {bars}".rstrip()
    yield ""
    cut = result.meaning.calibration.threshold
    yield f"Questions next to the cut at {cut:.3f}"
    for chance, label, text in next_to_cut(result):
        verdict = "answer" if chance >= cut else "refuse"
        wrong = (label == "answerable") != (verdict == "answer")
        yield f"  {chance:.3f}  {verdict}  {label:<10}  {'wrong  ' if wrong else '       '}{text}"
    yield from notes(result)


def _table(name: str, gate: Gate) -> Iterator[str]:
    yield f"{name:<32}" + "".join(f"{title:>17}" for _, title in COLUMNS)
    for key, title in ROWS:
        if key in gate.figures:
            cells = (getattr(gate, column).get(key) for column, _ in COLUMNS)
            yield f"  {title:<30}" + "".join(f"{_number(cell):>17}" for cell in cells)
    yield f"  {'cut (probability)':<30}{'':>17}{gate.calibration.threshold:>17.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
