"""What the files of the widget and the demo page hold, without a browser."""

from __future__ import annotations

import gzip
import re

import pytest

from tests.widget.stage import SITE

BUDGET_BYTES = 20_000
WIDGET = ("chat-widget.js", "chat-widget.css")
SCRIPTS = sorted(SITE.glob("*.js"))
UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|createContextualFragment|DOMParser|srcdoc"
    r"|\beval\(|\bFunction\(|javascript:|setTimeout\(\s*[\"'`]|setAttribute\(\s*[\"'](?:on|style)|cssText\s*="
)


def test_the_widget_stays_under_its_size() -> None:
    sizes = {name: len(gzip.compress((SITE / name).read_bytes(), 9, mtime=0)) for name in WIDGET}
    assert sum(sizes.values()) <= BUDGET_BYTES, sizes


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_parses_html_or_code(script: object) -> None:
    """X1, X5: no HTML is ever made from an answer, a title or a question."""
    assert not UNSAFE.search(script.read_text("utf-8"))  # type: ignore[attr-defined]


def test_the_pattern_of_that_test_finds_something() -> None:
    for line in ("a.innerHTML = b", "eval(a)", "new Function('a')", "setTimeout('a()', 1)"):
        assert UNSAFE.search(line)


def test_the_widget_is_one_file_without_a_foreign_address() -> None:
    script = (SITE / "chat-widget.js").read_text("utf-8")
    assert not re.search(r"^\s*(?:import|export)\b|\bimport\(|\brequire\(", script, re.MULTILINE)
    assert set(re.findall(r"https?://[\w.]+[^\s\"']*", script)) == {"http://www.w3.org/2000/svg"}
    style = (SITE / "chat-widget.css").read_text("utf-8")
    assert "@import" not in style
    assert "url(" not in style


def test_no_syntax_that_breaks_the_whole_file_in_an_older_browser() -> None:
    script = (SITE / "chat-widget.js").read_text("utf-8")
    assert "(?<" not in script, "look-behind: Safari before 16.4 refuses the file"


def test_the_page_needs_nothing_inline_and_nothing_foreign() -> None:
    page = (SITE / "index.html").read_text("utf-8")
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:|https?://", page)
    assert not re.search(r"<script(?![^>]*src=)", page)
    assert 'name="viewport"' in page
    assert "@import" not in (SITE / "demo.css").read_text("utf-8")


def test_no_old_names_are_left() -> None:
    assert {path.name for path in SITE.iterdir()} == {
        "index.html", "demo.js", "demo.css", "favicon.svg", *WIDGET,
    }  # fmt: skip
