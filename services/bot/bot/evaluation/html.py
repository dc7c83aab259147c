"""The result as one HTML file: no script, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from bot.evaluation.charts import Bar, bars, stacks
from bot.evaluation.compare import summary
from bot.evaluation.figures import COUNTS, MORE_COUNTS, MORE_RATES, RATES
from bot.evaluation.report import TITLES, remarks, shown

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#222;--soft:#5c6370;--line:#d8dce3;--rail:#eceff3;
--c0:#2563a8;--c1:#c2571a;--c2:#2e7d4f;--c3:#8a4fb0;--c4:#b0872b;--c5:#b3405e;--c6:#3d8a94;--c7:#6b7280}
@media(prefers-color-scheme:dark){:root{--ground:#16181d;--text:#e3e5e9;--soft:#9aa2af;--line:#363b45;
--rail:#262a32;--c0:#6aa5e8;--c1:#e59564;--c2:#6fc491;--c3:#c197e2;--c4:#dcb964;--c5:#e88aa3;
--c6:#75c3cd;--c7:#9aa2af}}
body{margin:0 auto;max-width:60rem;padding:1.5rem;font:16px/1.5 system-ui,sans-serif;color:var(--text);
background:var(--ground)}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .6rem;text-align:right;
border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}
.soft{color:var(--soft)}.remark{border-left:4px solid var(--c1);padding-left:.8rem}
.chart{width:100%;height:auto}.chart text{font:13px system-ui,sans-serif;fill:var(--text)}
.rail{fill:var(--rail)}.mark{fill:var(--text)}.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}
.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0}
details{border-bottom:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer}
blockquote{margin:.5rem 0;padding-left:.8rem;border-left:3px solid var(--line);white-space:pre-wrap;
overflow-wrap:anywhere}li{overflow-wrap:anywhere}
"""


def page(result: Mapping[str, Any], compared: Mapping[str, Any] | None = None) -> str:
    """The whole page. Every text of an answer, a question or a page of the site is escaped."""
    run = result["run"]
    title = f"Evaluation of {run['bot']}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_about(run))}</p>",
        *(f'<p class="remark">{escape(text)}</p>' for text in remarks(result)),
        "<h2>Results</h2>",
        _rates(result, compared),
        _figures(result, compared),
        "<h2>Kinds of questions</h2>",
        _kinds(result),
        "<h2>Routes</h2>",
        stacks(
            "Routes of each kind",
            {kind: found["routes"] for kind, found in result["kinds"].items() if found["routes"]},
        ),
        "<h2>Latency</h2>",
        _latency(result),
        *([_changes(compared)] if compared else []),
        f"<h2>Failures ({len(result['failures'])})</h2>",
        *(_failure(each) for each in result["failures"]),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}"/>\n'
        '<meta name="viewport" content="width=device-width"/>\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _about(run: Mapping[str, Any]) -> str:
    half = "both halves" if run["half"] == "all" else f"the {run['half']} half"
    return (
        f"{run['conversations']} questions and conversations ({half} of {run['questions']}) asked "
        f"of {run['url']} with the model {run['model']}, {run['started']}, in {run['seconds']:.0f} s."
    )


def _rates(result: Mapping[str, Any], compared: Mapping[str, Any] | None) -> str:
    rows = []
    for name in (*RATES, *MORE_RATES):
        value = result[name] if name in RATES else result["more"][name]
        if value is not None:
            before = compared["figures"][name]["before"] if compared else None
            rows.append(Bar(label=_short(name), share=value, text=shown(name, value), mark=before))
    return bars("Rates" + (", a line marks the earlier run" if compared else ""), rows)


def _figures(result: Mapping[str, Any], compared: Mapping[str, Any] | None) -> str:
    before = "<th>before</th>" if compared else ""
    rows = []
    for name in (*RATES, *COUNTS, *MORE_RATES, *MORE_COUNTS):
        value = result[name] if name in result else result["more"][name]
        cells = f"<td>{escape(TITLES[name])}</td><td>{shown(name, value)}</td>"
        cells += f"<td>{result['n'].get(name, '')}</td>"
        if compared:
            cells += f"<td>{shown(name, compared['figures'][name]['before'])}</td>"
        rows.append(f"<tr>{cells}</tr>")
    head = f"<tr><th>figure</th><th>value</th><th>cases</th>{before}</tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _kinds(result: Mapping[str, Any]) -> str:
    return bars(
        "Questions without any problem, by kind",
        [
            Bar(
                label=kind,
                share=found["right"] / found["n"],
                text=f"{found['right']} of {found['n']}",
            )
            for kind, found in result["kinds"].items()
        ],
    )


def _latency(result: Mapping[str, Any]) -> str:
    told = [
        (f"{kind}, {words}", found[key])
        for kind, found in result["kinds"].items()
        for words, key in (("first word", "first_word_ms"), ("whole answer", "total_ms"))
        if found[key]["p50"] is not None
    ]
    longest = max((times["p95"] for _, times in told), default=0.0) or 1.0
    return bars(
        "Median seconds by kind, a line marks the 95th percentile",
        [
            Bar(
                label=label, share=times["p50"] / longest, mark=times["p95"] / longest,
                text=f"{times['p50'] / 1000:.2f} / {times['p95'] / 1000:.2f} s",
            )
            for label, times in told
        ],
    )  # fmt: skip


def _changes(compared: Mapping[str, Any]) -> str:
    lines = "".join(f"<li>{escape(line.strip())}</li>" for line in summary(compared)[1:])
    return f"<h2>Since {escape(str(compared['earlier'].get('started', '?')))}</h2><ul>{lines}</ul>"


def _failure(failure: Mapping[str, Any]) -> str:
    problems = "".join(f"<li>{escape(problem)}</li>" for problem in failure["problems"])
    evidence = "".join(
        f"<li>[{each['n']}] {escape(_crumb(each))}<blockquote>{escape(each['quote'])}</blockquote></li>"
        for each in failure["evidence"]
    )
    told = ", ".join((failure["kind"], failure["label"], failure["lang"], failure["route"]))
    return (
        f"<details><summary>{escape(failure['id'])}: {escape(failure['question'])}</summary>"
        f'<p class="soft">{escape(told)}</p><ul>{problems}</ul>'
        f"<p>Answer</p><blockquote>{escape(failure['answer'])}</blockquote>"
        f"<p>Sources</p><ul>{evidence or '<li>none</li>'}</ul></details>"
    )


def _crumb(passage: Mapping[str, Any]) -> str:
    parts = (passage["title"], passage["section"], passage["url"])
    return " — ".join(part for part in parts if part)


def _short(name: str) -> str:
    words = TITLES[name].split(":")[0]
    return words if len(words) <= 36 else name.replace("_", " ")
