"""Distributions and ROC of a calibration as SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from bot.calibration.calibrate import Result
from bot.calibration.fitting import roc
from bot.calibration.report import BINS, LABELS, histogram

WIDTH, HEIGHT = 720, 150
LEFT, TOP, BOTTOM = 50, 26, 24


def distributions(result: Result) -> str:
    """One histogram a label over the probability, with the cut as a line through them."""
    parts = []
    room = WIDTH - LEFT - 30
    for row, label in enumerate(LABELS):
        counts = histogram(result, label)
        most, above = max(counts) or 1, row * HEIGHT
        floor = above + HEIGHT - BOTTOM
        tall = HEIGHT - TOP - BOTTOM
        parts.append(f'<text x="{LEFT}" y="{above + 16}">{label}: {sum(counts)} questions</text>')
        for n, count in enumerate(counts):
            height = tall * count / most
            parts.append(
                f'<rect class="{label}" x="{LEFT + room * n / BINS + 1:.1f}" y="{floor - height:.1f}" '
                f'width="{room / BINS - 2:.1f}" height="{height:.1f}"><title>{count}</title></rect>'
            )
        parts.append(f'<path class="axis" d="M{LEFT} {floor}H{LEFT + room}"/>')
        parts.extend(
            f'<text class="small" x="{LEFT + room * tick / 4:.0f}" y="{floor + 15}" '
            f'text-anchor="middle">{tick / 4:.2f}</text>'
            for tick in range(5)
        )
    cut = result.meaning.calibration.threshold
    x = LEFT + room * cut
    bottom = HEIGHT * len(LABELS) - BOTTOM
    parts.append(f'<path class="cut" d="M{x:.1f} 20V{bottom}"/>')
    parts.append(
        f'<text class="small" x="{x:.0f}" y="14" text-anchor="middle">cut {cut:.3f}</text>'
    )
    return _svg(parts, WIDTH, HEIGHT * len(LABELS), "Score distributions")


def roc_curve(result: Result) -> str:
    """Negatives let through against answerable questions answered, far and near, with the cut."""
    side, left, top = 300, 60, 20
    logits = np.array(result.meaning.logits)
    label = np.array([question.label for question in result.questions])
    parts = [f'<path class="axis" d="M{left} {top}V{top + side}H{left + side}"/>']
    for n, (name, figure) in enumerate((("far", "auc_far"), ("near", "auc_near"))):
        if figure not in result.meaning.figures:
            continue
        pool = (label == name) | (label == "answerable")
        positive = label[pool] == "answerable"
        points = roc(logits[pool], positive)
        path = "L".join(f"{left + side * x:.1f} {top + side * (1 - y):.1f}" for x, y in points)
        parts.append(f'<path class="line {name}" d="M{path}"/>')
        passed = logits[pool] >= result.meaning.cut
        x, y = float(passed[~positive].mean()), float(passed[positive].mean())
        parts.append(
            f'<circle class="{name}" cx="{left + side * x:.1f}" cy="{top + side * (1 - y):.1f}" r="5">'
            f"<title>at the cut: {y:.1%} answered, {x:.1%} of {name} let through</title></circle>"
        )
        parts.append(
            f'<text x="{left + side + 20}" y="{top + 40 + 24 * n}" class="{name}">{name}: '
            f"AUC {result.meaning.figures[figure]:.3f}</text>"
        )
    parts.append(
        f'<text class="small" x="{left + side / 2}" y="{top + side + 34}" text-anchor="middle">'
        "negatives let through</text>"
        f'<text class="small" transform="translate(16 {top + side / 2}) rotate(-90)" '
        'text-anchor="middle">answerable questions answered</text>'
    )
    parts.extend(_ticks(left, top, side))
    return _svg(parts, WIDTH, side + 70, "ROC")


def _ticks(left: int, top: int, side: int) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield (
            f'<text class="small" x="{left + side * share:.0f}" y="{top + side + 16}" '
            f'text-anchor="middle">{share:.0%}</text>'
            f'<text class="small" x="{left - 8}" y="{top + side * (1 - share) + 4:.0f}" '
            f'text-anchor="end">{share:.0%}</text>'
        )


def _svg(parts: list[str], width: int, height: int, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">' + "".join(parts) + "</svg>"
    )
