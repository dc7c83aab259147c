"""Re-indexing over HTTP: the owner only, directly only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bot.chat.errors import ReindexFailed
from tests.fakes import FakeReindexer, fake_ports
from tests.live_server import LiveServer, serve_scripted

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("owner") / "owner-token"


@pytest.fixture(scope="module")
def running(token_file: Path) -> Iterator[LiveServer]:
    ports = fake_ports(reindexer=FakeReindexer())
    with serve_scripted(ports=ports, server={"owner_token_file": str(token_file)}) as server:
        yield server


@pytest.fixture
def bot(running: LiveServer, token_file: Path) -> LiveServer:
    token_file.write_text(TOKEN + "\n")
    running.app.state.ports.reindexer.runs = 0
    return running


def post(bot: LiveServer, headers: Mapping[str, str | bytes]) -> tuple[int, dict[str, object], int]:
    with bot.client() as client:
        reply = client.post("/api/reindex", headers=dict(headers))  # type: ignore[arg-type]
    if reply.status_code == 401:
        assert reply.headers["www-authenticate"] == "Bearer"
    return reply.status_code, reply.json(), bot.app.state.ports.reindexer.runs


def test_the_owner_gets_the_report(bot: LiveServer) -> None:
    status, body, runs = post(bot, {"authorization": f"Bearer {TOKEN}"})
    assert (status, runs) == (200, 1)
    assert body == {"indexed_files": 3, "total_chunks": 12, "duration_ms": 40}


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", f"Basic {TOKEN}", TOKEN, "Bearer wrong", f"Bearer {TOKEN[:-1]}",
     f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}", f"Bearer {TOKEN}, {TOKEN}", "Bearer ñ"],
)  # fmt: skip
def test_any_other_token_is_refused(bot: LiveServer, authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    encoded = {name: value.encode() for name, value in headers.items()}
    status, body, runs = post(bot, encoded)
    assert (status, body["code"], runs) == (401, "unauthorized", 0)


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "x-forwarded-host", "forwarded", "via", "x-real-ip"]
)
def test_the_right_token_through_a_proxy_is_refused(bot: LiveServer, header: str) -> None:
    """The route is never to be reached through the public gateway."""
    headers = {"authorization": f"Bearer {TOKEN}", header: "203.0.113.1"}
    status, body, runs = post(bot, headers)
    assert (status, body["code"], runs) == (403, "reindex-closed", 0)


def test_a_foreign_page_is_refused_even_with_the_token(bot: LiveServer) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "origin": "https://evil.test"}
    assert post(bot, headers)[0] == 403


@pytest.mark.parametrize("content", [None, "", "\n", "short"])
def test_without_a_usable_token_the_route_is_closed(
    bot: LiveServer, token_file: Path, content: str | None
) -> None:
    token_file.unlink()
    if content is not None:
        token_file.write_text(content)
    headers = {"authorization": f"Bearer {(content or '').strip() or 'x'}"}
    status, body, runs = post(bot, headers)
    assert (status, body["code"], runs) == (403, "reindex-closed", 0)


def test_the_route_is_closed_where_no_token_is_configured() -> None:
    with serve_scripted() as bot, bot.client() as client:
        assert client.post("/api/reindex").json()["code"] == "reindex-closed"


def test_the_token_may_be_changed_without_a_restart(bot: LiveServer, token_file: Path) -> None:
    token_file.write_text("another-long-enough-token")
    assert post(bot, {"authorization": f"Bearer {TOKEN}"})[0] == 401
    assert post(bot, {"authorization": "Bearer another-long-enough-token"})[0] == 200


def test_a_failed_run_tells_the_owner_why(bot: LiveServer) -> None:
    bot.app.state.ports.reindexer.queue.append(ReindexFailed("no file in data/projects"))
    status, body, _ = post(bot, {"authorization": f"Bearer {TOKEN}"})
    assert (status, body["code"]) == (500, "reindex-failed")
    assert body["detail"] == "no file in data/projects"
