"""A calibration as one HTML page that loads nothing from anywhere."""

from __future__ import annotations

from html import escape

from bot.calibration.calibrate import Gate, Result
from bot.calibration.charts import distributions, roc_curve
from bot.calibration.report import COLUMNS, ROWS, next_to_cut, notes

STYLE = """
:root{color-scheme:light dark;--text:#222;--soft:#666;--answerable:#2563a8;--far:#8a5a00;--near:#b3261e}
@media(prefers-color-scheme:dark){
:root{--text:#ddd;--soft:#999;--answerable:#6aa5e8;--far:#d9a441;--near:#f2857d}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #8885}
td.n{text-align:right;font-variant-numeric:tabular-nums}svg{max-width:720px;width:100%;display:block}
svg text{font:14px system-ui,sans-serif;fill:var(--text)}svg text.small{font-size:12px;fill:var(--soft)}
.axis{stroke:var(--soft);fill:none}.cut{stroke:var(--text);stroke-dasharray:4 3;fill:none}
.line{fill:none!important;stroke-width:2}
.answerable{fill:var(--answerable);color:var(--answerable)}
.far{fill:var(--far);color:var(--far);stroke:var(--far)}
.near{fill:var(--near);color:var(--near);stroke:var(--near)}
svg text.far,svg text.near,rect{stroke:none}.wrong{font-weight:bold}
"""


def render_page(result: Result, fitted_at: str) -> str:
    """The page; everything a question or heading says is escaped."""
    counts = ", ".join(f"{n} {escape(key)}" for key, n in sorted(result.counts.items()))
    body = [
        "<h1>Calibration of the gate</h1>",
        f"<p>{escape(fitted_at)}. {len(result.questions)} questions: {counts}. "
        f"Wanted answer recall: {result.recall:.1%}.</p>",
        *(f"<p>{escape(note)}</p>" for note in notes(result)),
        "<h2>Score distributions</h2>",
        distributions(result),
        "<h2>ROC</h2>",
        roc_curve(result),
        "<h2>Figures</h2>",
        _table("With vectors", result.meaning),
        _table("Keywords only", result.keywords),
        "<h2>Questions next to the cut</h2>",
        _questions(result),
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Calibration of the gate</title><style>{STYLE}</style>\n"
        + "\n".join(body)
        + "\n</html>\n"
    )


def _table(name: str, gate: Gate) -> str:
    rows = "".join(
        f"<tr><td>{escape(title)}</td>"
        + "".join(f'<td class="n">{_number(getattr(gate, c).get(key))}</td>' for c, _ in COLUMNS)
        + "</tr>"
        for key, title in ROWS
        if key in gate.figures
    )
    heads = "".join(f"<th>{escape(title)}</th>" for _, title in COLUMNS)
    cut = f"<p>Cut: {gate.calibration.threshold:.3f}</p>"
    return f"<h3>{name}</h3><table><tr><th></th>{heads}</tr>{rows}</table>{cut}"


def _questions(result: Result) -> str:
    cut = result.meaning.calibration.threshold
    rows = []
    for chance, label, text in next_to_cut(result):
        answered = chance >= cut
        wrong = ' class="wrong"' if (label == "answerable") != answered else ""
        rows.append(
            f'<tr{wrong}><td class="n">{chance:.3f}</td><td>{"answer" if answered else "refuse"}</td>'
            f'<td><span class="{label}">{label}</span></td><td>{escape(text)}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
