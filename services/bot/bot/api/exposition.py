"""Counters, gauges and histograms in Prometheus' text format, version 0.0.4.

Written here and not taken from `prometheus-client`: four numbers a line need no dependency with
its own locks (docs/decisions/0013-votes-are-counts.md). Label values are names of this program's
own, never a visitor's words, so the number of series has an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4"  # Litestar adds the charset
Labels = tuple[str, ...]


class Metric:
    """One counter or gauge, with a value for each combination of its labels."""

    def __init__(
        self, name: str, help_text: str, *labels: str, kind: Literal["counter", "gauge"] = "counter"
    ) -> None:
        self.name = name
        self._help = help_text
        self._kind = kind
        self._labels = labels
        # Without labels there is one series, and it is there from the start: 0 is not "unknown".
        self._values: dict[Labels, float] = {} if labels else {(): 0}

    def add(self, *values: str, amount: float = 1) -> None:
        """Add to the series with these label values."""
        if len(values) != len(self._labels):
            raise ValueError(f"{self.name} has the labels {self._labels}")
        self._values[values] = self._values.get(values, 0) + amount

    def start(self, *values: str) -> None:
        """Show the series at 0 before anything is counted."""
        self.add(*values, amount=0)

    def lines(self) -> Iterator[str]:
        """Its part of the page."""
        yield from _head(self.name, self._help, self._kind)
        for values, number in sorted(self._values.items()):
            labels = dict(zip(self._labels, values, strict=True))
            yield f"{self.name}{_labels(labels)} {_number(number)}"


class Histogram:
    """How often a value was at most so large."""

    def __init__(self, name: str, help_text: str, bounds: Iterable[float]) -> None:
        self.name = name
        self._help = help_text
        self._bounds = tuple(bounds)
        self._counts = [0] * len(self._bounds)
        self._count = 0
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self._count += 1
        self._sum += value
        for place, bound in enumerate(self._bounds):
            self._counts[place] += value <= bound

    def lines(self) -> Iterator[str]:
        """Its part of the page."""
        yield from _head(self.name, self._help, "histogram")
        for bound, count in zip(self._bounds, self._counts, strict=True):
            yield f"{self.name}_bucket{_labels({'le': _number(bound)})} {count}"
        yield f'{self.name}_bucket{{le="+Inf"}} {self._count}'
        yield f"{self.name}_sum {_number(self._sum)}"
        yield f"{self.name}_count {self._count}"


def render(metrics: Iterable[Metric | Histogram]) -> str:
    """The page."""
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _head(name: str, help_text: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: Mapping[str, str]) -> str:
    shown = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{shown}}}" if shown else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))
