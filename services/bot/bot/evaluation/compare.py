"""What changed since an earlier run: figures, and questions that went right or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from bot.evaluation.errors import EvaluationError
from bot.evaluation.figures import COUNTS, MORE_COUNTS, MORE_RATES, RATES

NAMES = (*RATES, *COUNTS, *MORE_RATES, *MORE_COUNTS)
Number = int | float | None


class _Earlier(msgspec.Struct, kw_only=True):
    key_facts: Number
    answer_recall: Number
    refusal_far: Number
    refusal_near: Number
    language: Number
    citation_precision: Number
    unsupported: int
    injection: int
    n: dict[str, int]
    more: dict[str, Number]
    run: dict[str, Any]
    outcomes: dict[str, bool]


def read_result(path: Path) -> dict[str, Any]:
    """An earlier result, written by `chat-bot eval --json`.

    Raises:
        EvaluationError: it can't be read or is something else.
    """
    try:
        tree: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        msgspec.convert(tree, _Earlier)
    except OSError as error:
        raise EvaluationError(f"{path} can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvaluationError(
            f"{path} is not a result of `chat-bot eval --json`: {error}"
        ) from error
    return tree


def compare(result: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of both runs, and the questions of both whose outcome changed.

    Returns:
        `figures`: before, now and their number of cases; `fixed` and `broken`: names of questions;
        `only_now`, `only_before`: how many questions one run has alone; `earlier`: its `run`.
    """
    now, before = result["outcomes"], earlier["outcomes"]
    both = [name for name in now if name in before]
    return {
        "figures": {
            name: {
                "before": _figure(earlier, name),
                "now": _figure(result, name),
                "n_before": earlier["n"].get(name),
                "n_now": result["n"].get(name),
            }
            for name in NAMES
        },
        "fixed": [name for name in both if now[name] and not before[name]],
        "broken": [name for name in both if before[name] and not now[name]],
        "only_now": len(now.keys() - before.keys()),
        "only_before": len(before.keys() - now.keys()),
        "earlier": dict(earlier["run"]),
    }


def summary(compared: Mapping[str, Any]) -> list[str]:
    """The comparison in lines for a terminal."""
    lines = [f"compared with the run of {compared['earlier'].get('started', '?')}:"]
    for title, key in (("now right", "fixed"), ("now wrong", "broken")):
        names = compared[key]
        lines.append(f"  {title}: {len(names)}" + (f" ({', '.join(names)})" if names else ""))
    if compared["only_now"] or compared["only_before"]:
        lines.append(
            f"  not compared: {compared['only_now']} questions of this run only, "
            f"{compared['only_before']} of the earlier one only"
        )
    return lines


def _figure(result: Mapping[str, Any], name: str) -> Number:
    found: Number = result[name] if name in result else result["more"].get(name)
    return found
