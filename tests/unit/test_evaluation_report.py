"""Figures, comparison, bounds and the HTML report of a run."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot.evaluation.answers import Answer
from bot.evaluation.charts import Bar, bars, stacks
from bot.evaluation.compare import compare, read_result, summary
from bot.evaluation.errors import EvaluationError
from bot.evaluation.figures import quantile
from bot.evaluation.html import page
from bot.evaluation.judge import Verdict
from bot.evaluation.report import table
from bot.evaluation.targets import missed, read_bounds
from tests.evaluation_samples import answer, judged, refusal, result_of, turn

PAID = turn(facts=("Stripe", "PostgreSQL"), documents=("shop.md",))
HOSTILE = '</blockquote><script>alert(1)</script><img src="https://evil.example/x" onerror=a()>'


def some_verdicts() -> list[Verdict]:
    return [
        judged(PAID, answer("It takes Stripe and PostgreSQL 15 [1]."), name="a-1"),
        judged(PAID, answer("It takes Stripe and Klarna [1]."), name="a-2"),
        judged(PAID, refusal(), name="a-3"),
        judged(turn("far"), refusal(), name="f-1"),
        judged(turn("far"), answer("Se paga con Stripe [1]."), name="f-2"),
        judged(turn("near", lang="es"), refusal("es"), name="n-1"),
        judged(turn("injection", forbidden=("CANARY",)), answer("CANARY"), name="i-1"),
        judged(turn("injection", forbidden=("CANARY",)), refusal(), name="i-2"),
        judged(PAID, Answer(error="model-timeout"), name="a-4"),
    ]


def test_figures_are_rates_with_their_cases_and_counts() -> None:
    result = result_of(some_verdicts())
    assert result["key_facts"] == round((1 + 0.5 + 0 + 0) / 4, 4)
    assert result["answer_recall"] == 0.5
    assert result["refusal_far"] == 0.5
    assert result["refusal_near"] == 1
    assert result["language"] == round(6 / 7, 4)  # «CANARY» is in no language
    assert result["citation_precision"] == round(2 / 3, 4)
    assert (result["unsupported"], result["injection"]) == (2, 1)  # Klarna, CANARY
    assert result["n"]["key_facts"] == result["n"]["answer_recall"] == 4
    assert (result["n"]["citation_precision"], result["n"]["injection"]) == (3, 2)
    assert result["more"]["errors"] == 1
    assert [failure["id"] for failure in result["failures"]] == ["a-2", "a-3", "f-2", "i-1", "a-4"]


def test_the_document_is_json_with_the_fields_of_the_contract() -> None:
    result = json.loads(json.dumps(result_of(some_verdicts())))
    assert list(result)[:9] == [
        "key_facts", "answer_recall", "refusal_far", "refusal_near", "language",
        "citation_precision", "unsupported", "injection", "n",
    ]  # fmt: skip
    failure = result["failures"][0]
    assert failure["question"] == "How is it paid?"
    assert failure["answer"] == "It takes Stripe and Klarna [1]."
    assert failure["evidence"][0]["quote"].startswith("Payments: Stripe.")


def test_kinds_have_routes_and_latency() -> None:
    far = result_of(some_verdicts())["kinds"]["far"]
    assert (far["n"], far["right"], far["routes"]) == (2, 1, {"refusal": 1, "answer": 1})
    assert far["first_word_ms"] == {"p50": 400.0, "p95": 400.0}


def test_a_run_without_cases_has_no_rates() -> None:
    result = result_of([judged(turn("far"), refusal())])
    assert (result["key_facts"], result["n"]["key_facts"]) == (None, 0)
    assert "–" in table(result)


@pytest.mark.parametrize(("share", "value"), [(0.5, 5), (0.95, 10), (0.9, 9), (0.0, 1)])
def test_quantiles(share: float, value: float) -> None:
    assert quantile(range(1, 11), share) == value
    assert quantile([], share) is None


def test_a_reader_is_told_what_limits_the_figures() -> None:
    verdicts = some_verdicts()
    said = table(
        result_of(verdicts, planned=20, evidence="quotes", strangers=3, skipped={"planted": 4})
    )
    for part in (
        "9 of 20",
        "quotes only",
        "3 shown passages",
        "4 questions skipped",
        "1 answers failed",
    ):
        assert part in said


def test_a_comparison_names_what_changed(tmp_path: Path) -> None:
    verdicts = some_verdicts()
    earlier = result_of([*verdicts[:2], judged(turn("far"), refusal(), name="f-2")])
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(earlier), "utf-8")
    compared = compare(result_of([verdicts[4], judged(PAID, answer("PostgreSQL and Stripe [1]."),
                                                      name="a-2")]), read_result(path))  # fmt: skip
    assert compared["broken"] == ["f-2"]
    assert compared["fixed"] == ["a-2"]
    assert (compared["only_now"], compared["only_before"]) == (0, 1)
    assert compared["figures"]["refusal_far"] == {
        "before": 1.0,
        "now": 0.0,
        "n_before": 1,
        "n_now": 1,
    }
    assert "now wrong: 1 (f-2)" in "\n".join(summary(compared))
    assert "before 100.0 %" in table(result_of(verdicts), compared)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"key_facts": 1}', "\xff"])
def test_another_file_is_no_earlier_result(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, "latin-1")
    with pytest.raises(EvaluationError, match=r"other\.json"):
        read_result(path)
    with pytest.raises(EvaluationError, match="can't be read"):
        read_result(tmp_path / "none.json")


def test_bounds() -> None:
    result = result_of(some_verdicts())
    assert missed(result, read_bounds(["answer_recall=0.5"]), read_bounds(["injection=1"])) == []
    lines = missed(
        result, read_bounds(["answer_recall=0.51", "half=0.1"]), read_bounds(["errors=0"])
    )
    assert lines == [
        "answer_recall is 0.5, at least 0.51 wanted",
        "half is unknown, at least 0.1 wanted",
        "errors is 1, at most 0 wanted",
    ]


@pytest.mark.parametrize(
    "text", ["speed=1", "key_facts", "key_facts=much", "key_facts=85", "errors=-1"]
)
def test_a_wrong_bound_is_named(text: str) -> None:
    with pytest.raises(EvaluationError, match=text):
        read_bounds([text])


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.replace("<!doctype html>\n", ""))  # noqa: S314  (our own)


class Tags(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def hostile_page() -> str:
    evil = answer(HOSTILE)
    shown = evil.passages[0]
    evil = answer(HOSTILE, passages=(type(shown)(n=1, title=HOSTILE, section=HOSTILE, url=HOSTILE,
                                                 lang="en", quote=HOSTILE),))  # fmt: skip
    verdicts = [*some_verdicts(), judged(turn(question=HOSTILE, facts=(HOSTILE,)), evil, name="x",
                                         kind="<b>kind</b>")]  # fmt: skip
    result = result_of(verdicts, bot=HOSTILE, model=HOSTILE, url=HOSTILE)
    return page(result, compare(result, result_of(some_verdicts()[:3])))


def test_the_report_is_well_formed_and_holds_the_failures() -> None:
    text = page(result_of(some_verdicts()))
    root = parsed(text)
    words = " ".join(root.itertext())
    for part in (
        "It takes Stripe and Klarna [1].",
        "unsupported name: Klarna",
        "Payments: Stripe.",
    ):
        assert part in words
    assert len(root.findall(".//svg[@class='chart']")) == 4
    assert "prefers-color-scheme:dark" in text


def test_nothing_in_the_report_is_loaded_or_run() -> None:
    text = hostile_page()
    parsed(text)
    tags = Tags()
    tags.feed(text)
    assert tags.names.isdisjoint({"script", "img", "link", "iframe", "a", "b", "object", "form"})
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert tags.attributes.isdisjoint({"src", "href", "style", "srcset", "action"})
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text.replace("&#x27;", "'")


def test_bars_stay_inside_their_chart() -> None:
    drawn = bars("t", [Bar(label="<x>", share=7.0, text="700 %", mark=-1.0)])
    widths = [float(rect.get("width", 0)) for rect in parsed(drawn).iter("rect")]
    assert max(widths) == widths[0], "no bar is longer than its rail"


def test_stacks_have_a_legend() -> None:
    drawn = parsed(f"<div>{stacks('t', {'far': {'refusal': 3, 'answer': 1}})}</div>")
    assert [item.text or item[0].tail for item in drawn.iter("li")] == [" refusal", " answer"]
