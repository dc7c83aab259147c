"""The demo page and the widget, as the bot serves them: policy, types, caching, another folder."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from bot.app import default_site
from tests.live_server import serve_scripted

SITE = Path(__file__).resolve().parents[2] / "services" / "gateway" / "site"
FILES = {
    "/": "text/html; charset=utf-8",
    "/demo.js": "text/javascript; charset=utf-8",
    "/demo.css": "text/css; charset=utf-8",
    "/favicon.svg": "image/svg+xml",
    "/chat-widget.js": "text/javascript; charset=utf-8",
    "/chat-widget.css": "text/css; charset=utf-8",
}


def test_page_and_its_files_are_served_under_a_strict_policy() -> None:
    with serve_scripted() as bot, bot.client() as client:
        for path, media_type in FILES.items():
            reply = client.get(path)
            assert reply.status_code == 200
            assert reply.headers["content-type"] == media_type
            assert reply.content == (SITE / (path[1:] or "index.html")).read_bytes()
            assert reply.headers["content-security-policy"] == (
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                "require-trusted-types-for 'script'; trusted-types 'none'"
            )


def test_every_file_of_the_folder_is_served() -> None:
    assert {path[1:] or "index.html" for path in FILES} == {path.name for path in SITE.iterdir()}


def test_a_known_version_is_not_sent_again() -> None:
    with serve_scripted() as bot, bot.client() as client:
        first = client.get("/chat-widget.js")
        again = client.get("/chat-widget.js", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        other = client.get("/chat-widget.js", headers={"If-None-Match": '"other"'})
        assert other.status_code == 200


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip", "identity", ""])
def test_it_is_packed_for_those_who_take_it(accepted: str) -> None:
    with serve_scripted() as bot, bot.client() as client:
        reply = client.get("/chat-widget.js", headers={"Accept-Encoding": accepted})
        assert reply.headers.get("content-encoding") == ("gzip" if "gzip" in accepted else None)
        assert "Accept-Encoding" in reply.headers["vary"]
        if "gzip" in accepted:
            assert int(reply.headers["content-length"]) < 20_000


def test_isolated_pages_may_load_the_widget_and_nothing_else() -> None:
    def embedder_policy(reply: httpx.Response) -> str | None:
        found: str | None = reply.headers.get("cross-origin-resource-policy")
        return found

    with serve_scripted() as bot, bot.client() as client:
        allowed = {path for path in FILES if embedder_policy(client.get(path)) == "cross-origin"}
    assert allowed == {"/chat-widget.js", "/chat-widget.css"}


def test_another_folder_may_replace_it(tmp_path: Path) -> None:
    (tmp_path / "demo.css").write_text("")
    with serve_scripted(site=tmp_path) as bot, bot.client() as client:
        assert client.get("/").status_code == 404
        assert client.get("/demo.css").status_code == 404
    (tmp_path / "index.html").write_text("<p>mine</p>")
    (tmp_path / "secret.txt").write_text("no")
    with serve_scripted(site=tmp_path) as bot, bot.client() as client:
        assert client.get("/").text == "<p>mine</p>"
        assert client.get("/demo.css").status_code == 200
        for missing in ("/demo.js", "/chat-widget.js", "/secret.txt", "/index.html"):
            assert client.get(missing).status_code == 404


def test_the_folder_is_found_beside_the_package_or_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PORTFOLIO_BOT_SITE", raising=False)
    assert default_site() == SITE
    monkeypatch.setenv("PORTFOLIO_BOT_SITE", str(tmp_path))
    assert default_site() == tmp_path
