"""The result of a run as one JSON-ready document, and as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from bot.evaluation.figures import COUNTS, MORE_COUNTS, MORE_RATES, RATES, by_kind, figures
from bot.evaluation.judge import Verdict

TITLES = {
    "key_facts": "key facts given",
    "answer_recall": "answerable, not refused",
    "refusal_far": "far questions refused",
    "refusal_near": "near questions refused",
    "language": "right language",
    "citation_precision": "citations that support their sentence",
    "unsupported": "unsupported facts",
    "injection": "injections that worked",
    "half": "half-known: known part given, rest named as unknown",
    "smalltalk": "small talk",
    "route": "right route",
    "right_source": "a right source shown",
    "uncited": "answers without a citation",
    "undecided_citations": "citations not decidable by words",
    "errors": "answers that failed",
}


class Run(Struct, frozen=True, kw_only=True):
    """What was measured, and under which circumstances."""

    bot: str
    model: str
    url: str
    questions: str
    """File or folder."""
    half: str
    """`dev`, `test` or `all`."""
    started: str
    """UTC, ISO 8601, seconds."""
    seconds: float
    conversations: int
    """Entries of the question files that were asked, of `planned`."""
    planned: int
    skipped: dict[str, int]
    evidence: str
    """`index`: facts were looked up in whole passages; `quotes`: in the shown quotes only."""
    strangers: int
    """Shown passages that the index does not hold: it is another bot's, or an older one."""

    @property
    def complete(self) -> bool:
        """Every planned question was asked to its end."""
        return self.conversations == self.planned


def document(run: Run, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The whole result; keys are explained in docs/evaluation.md."""
    languages = sorted({verdict.lang for verdict in verdicts})
    return {
        **figures(verdicts),
        "kinds": by_kind(verdicts),
        "languages": {
            lang: figures([verdict for verdict in verdicts if verdict.lang == lang])
            for lang in languages
        },
        "run": {**to_builtins(run), "complete": run.complete},
        "failures": [failure(verdict) for verdict in verdicts if verdict.problems],
        "outcomes": {verdict.name: not verdict.problems for verdict in verdicts},
    }


def failure(verdict: Verdict) -> dict[str, Any]:
    """One answer with a problem: question, evidence, answer."""
    answer = verdict.answer
    return {
        "id": verdict.name,
        "kind": verdict.kind,
        "aspect": verdict.aspect,
        "label": verdict.label,
        "lang": verdict.lang,
        "question": verdict.question,
        "answer": answer.text,
        "route": answer.route or answer.error,
        "problems": list(verdict.problems),
        "evidence": [
            {"n": p.n, "title": p.title, "section": p.section, "url": p.url, "quote": p.quote}
            for p in answer.passages
        ],
    }


def table(result: Mapping[str, Any], compared: Mapping[str, Any] | None = None) -> str:
    """Figures and kinds for a terminal; with an earlier run, its figures beside them."""
    lines = [_line(name, result[name], result["n"][name]) for name in (*RATES, *COUNTS)]
    lines += [_line(name, result["more"][name], result["n"][name]) for name in MORE_RATES]
    lines += [_line(name, result["more"][name], None) for name in MORE_COUNTS]
    if compared:
        lines = [
            line + _before(name, compared)
            for name, line in zip((*RATES, *COUNTS, *MORE_RATES, *MORE_COUNTS), lines, strict=True)
        ]
    lines.append("")
    lines.append(
        f"{'kind':<14}{'right':>9}{'first word':>13}{'p95':>9}{'whole':>10}{'p95':>9}   routes"
    )
    for kind, found in result["kinds"].items():
        first, total = found["first_word_ms"], found["total_ms"]
        times = f"{_seconds(first['p50']):>13}{_seconds(first['p95']):>9}"
        times += f"{_seconds(total['p50']):>10}{_seconds(total['p95']):>9}"
        routes = ", ".join(f"{route} {n}" for route, n in found["routes"].items())
        right = f"{found['right']}/{found['n']}"
        lines.append(f"{kind:<14}{right:>9}{times}   {routes}")
    return "\n".join([*lines, *remarks(result)])


def remarks(result: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the figures."""
    run = result["run"]
    found = []
    if not run["complete"]:
        found.append(f"cut short: {run['conversations']} of {run['planned']} questions were asked")
    if run["evidence"] == "quotes":
        found.append(
            "no index was read: facts were looked up in the shown quotes only, so `unsupported` is too "
            "high and `citation_precision` too low (see --index)"
        )
    if run["strangers"]:
        found.append(f"{run['strangers']} shown passages are not in the index: is it this bot's?")
    if planted := run["skipped"].get("planted"):
        found.append(
            f"{planted} questions skipped: their documents are not in the index (--planted)"
        )
    if result["more"]["errors"]:
        found.append(f"{result['more']['errors']} answers failed and count as wrong")
    return found


def shown(name: str, value: float | None) -> str:
    """A figure for people: per cent for a rate, `–` where there was no case."""
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" if name in RATES or name in MORE_RATES else f"{value:.0f}"


def _line(name: str, value: float | None, cases: int | None) -> str:
    of = f"   n = {cases}" if cases is not None else ""
    return f"{TITLES[name]:<52}{shown(name, value):>9}{of:<13}"


def _before(name: str, compared: Mapping[str, Any]) -> str:
    pair = compared["figures"].get(name)
    return f"   before {shown(name, pair['before'])}" if pair else ""


def _seconds(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds / 1000:.2f} s"
