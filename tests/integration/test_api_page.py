"""The built-in page: three files, a strict policy, no unsafe DOM calls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.app import default_site
from tests.live_server import serve_scripted

SITE = Path(__file__).resolve().parents[2] / "services" / "gateway" / "site"


def test_page_and_its_files_are_served_under_a_strict_policy() -> None:
    with serve_scripted() as bot, bot.client() as client:
        for path, media_type in (
            ("/", "text/html"),
            ("/app.js", "text/javascript"),
            ("/app.css", "text/css"),
        ):
            reply = client.get(path)
            assert reply.status_code == 200
            assert reply.headers["content-type"] == f"{media_type}; charset=utf-8"
            policy = reply.headers["content-security-policy"]
            assert policy == (
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )


@pytest.mark.parametrize("complete", [True, False])
def test_another_folder_may_replace_it(tmp_path: Path, complete: bool) -> None:
    (tmp_path / "index.html").write_text("<p>mine</p>")
    if complete:
        (tmp_path / "app.js").write_text("")
        (tmp_path / "app.css").write_text("")
    with serve_scripted(site=tmp_path) as bot, bot.client() as client:
        assert client.get("/").status_code == (200 if complete else 404)


def test_the_folder_is_found_beside_the_package_or_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PORTFOLIO_BOT_SITE", raising=False)
    assert default_site() == SITE
    monkeypatch.setenv("PORTFOLIO_BOT_SITE", str(tmp_path))
    assert default_site() == tmp_path


def test_script_builds_text_nodes_only() -> None:
    """X1, X5: no HTML is ever parsed from an answer, a title or a question."""
    script = (SITE / "app.js").read_text()
    for call in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert call not in script
    assert len(script.splitlines()) <= 200


def test_page_needs_nothing_inline_and_nothing_foreign() -> None:
    page = (SITE / "index.html").read_text()
    assert not re.search(r"\son\w+=|style=|<style|javascript:|https?://", page)
    assert not re.search(r"<script(?![^>]*src=)", page)
    assert 'for="question"' in page
    assert 'name="viewport"' in page
    assert "@import" not in (SITE / "app.css").read_text()
