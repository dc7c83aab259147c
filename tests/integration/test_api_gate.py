"""What is refused before any work, and the headers every reply carries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.chat.errors import Busy, ModelUnavailable
from tests.fakes import ScriptedChat
from tests.live_server import LiveServer, question, raw_post, serve_scripted

BLOG = "https://blog.example.com"
PROBLEM = "application/problem+json"
JSON_TYPE = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def running() -> Iterator[LiveServer]:
    with serve_scripted(server={"cors_origins": (BLOG,)}) as server:
        yield server


@pytest.fixture
def bot(running: LiveServer) -> LiveServer:
    chat: ScriptedChat = running.chat
    chat.scripts.clear()
    chat.asks.clear()
    chat.refuse_with = None
    return running


def status_of(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "text/plain; x=application/json", "application/x-www-form-urlencoded",
     "multipart/form-data; boundary=x", "application/msgpack", "application/problem+json", "", None,
     "application/jsonx"],
)  # fmt: skip
def test_only_json_is_taken_and_nothing_runs_otherwise(
    bot: LiveServer, content_type: str | None
) -> None:
    """B3, A14: 415 before the model is asked; other types would skip the browser's preflight."""
    headers = {} if content_type is None else {"content-type": content_type}
    with bot.client() as client:
        reply = client.post("/api/chat", content=b'{"messages":[]}', headers=headers)
    assert reply.status_code == 415
    assert reply.headers["content-type"] == PROBLEM
    assert bot.chat.asks == []


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_with_a_parameter_or_capitals_is_json(bot: LiveServer, content_type: str) -> None:
    with bot.client() as client:
        reply = client.post(
            "/api/chat",
            content=b'{"messages":[{"role":"user","content":"a"}],"stream":false}',
            headers={"content-type": content_type},
        )
    assert reply.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.test", "null", BLOG + ".evil.test", "http://blog.example.com", BLOG + ":444"],
)
def test_a_foreign_origin_is_refused_before_the_handler(bot: LiveServer, origin: str) -> None:
    """E4, A14, CORS-02: 403 without a CORS header, no work done."""
    with bot.client() as client:
        reply = client.post("/api/chat", json=question(), headers={"origin": origin})
    assert reply.status_code == 403
    assert reply.json()["code"] == "origin-not-allowed"
    assert "access-control-allow-origin" not in reply.headers
    assert "Origin" in reply.headers["vary"].split(", ")
    assert bot.chat.asks == []


def test_the_allowed_origin_and_the_bots_own_page_pass(bot: LiveServer) -> None:
    with bot.client() as client:
        foreign = client.post("/api/chat", json=question(), headers={"origin": BLOG})
        own = client.post("/api/chat", json=question(), headers={"origin": bot.url})
    assert foreign.status_code == own.status_code == 200
    assert foreign.headers["access-control-allow-origin"] == BLOG
    assert "retry-after" in foreign.headers["access-control-expose-headers"].lower()
    assert "access-control-allow-credentials" not in foreign.headers


def failing_requests() -> dict[str, tuple[str, str, dict[str, Any], int]]:
    return {
        "bad json": ("POST", "/api/chat", {"content": b"{", "headers": JSON_TYPE}, 400),
        "blank": ("POST", "/api/chat", {"json": question(" ")}, 400),
        "unknown route": ("GET", "/nope", {}, 404),
        "method": ("PUT", "/api/chat", {"json": {}}, 405),
        "too large": ("POST", "/api/chat", {"json": question("a" * 20_000)}, 413),
        "type": ("POST", "/api/chat", {"content": b"x"}, 415),
        "too long": ("POST", "/api/chat", {"json": question("a" * 1001)}, 422),
        "query": ("GET", "/api/health?deep=maybe", {}, 400),
        "closed": ("POST", "/api/reindex", {}, 403),
    }  # fmt: skip


@pytest.mark.parametrize("case", failing_requests())
def test_every_refusal_is_a_problem_a_widget_can_read(bot: LiveServer, case: str) -> None:
    """E8, CORS-01: problem+json with CORS headers, no path, version or trace inside."""
    method, path, options, status = failing_requests()[case]
    headers = {**options.pop("headers", {}), "origin": BLOG}
    with bot.client() as client:
        reply = client.request(method, path, headers=headers, **options)
    assert reply.status_code == status
    assert reply.headers["content-type"] == PROBLEM
    assert reply.headers["access-control-allow-origin"] == BLOG
    problem = reply.json()
    assert problem["status"] == status
    assert problem["request_id"] == reply.headers["x-request-id"]
    for leak in ("Traceback", "litestar", "msgspec", "site-packages", 'File "'):
        assert leak not in reply.text


def test_busy_and_unexpected_errors_are_problems_too(bot: LiveServer) -> None:
    """E8, CORS-01: Retry-After is exposed; the text of an exception is not."""
    with bot.client() as client:
        bot.chat.refuse_with = Busy(11.2)
        busy = client.post("/api/chat", json=question(), headers={"origin": BLOG})
        bot.chat.refuse_with = ValueError("secret /srv/app")
        broken = client.post("/api/chat", json=question(), headers={"origin": BLOG})
        bot.chat.refuse_with = ModelUnavailable("secret upstream text")
        down = client.post("/api/chat", json=question(), headers={"origin": BLOG})
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "12")
    assert (broken.status_code, broken.json()["code"]) == (500, "internal-error")
    assert (down.status_code, down.json()["code"]) == (503, "model-unavailable")
    for reply in (busy, broken, down):
        assert reply.headers["content-type"] == PROBLEM
        assert reply.headers["access-control-allow-origin"] == BLOG
        assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("origin", "method", "headers", "status"),
    [
        (BLOG, "POST", "content-type", 204),
        (BLOG, "POST", "content-type, x-odd", 403),
        (BLOG, "DELETE", "content-type", 403),
        ("https://evil.test", "POST", "content-type", 403),
        ("null", "POST", "content-type", 403),
    ],
)
def test_preflight_is_answered_without_handler_or_limiter(
    bot: LiveServer, origin: str, method: str, headers: str, status: int
) -> None:
    """E5, CORS-01."""
    with bot.client() as client:
        reply = client.options(
            "/api/chat",
            headers={
                "origin": origin,
                "access-control-request-method": method,
                "access-control-request-headers": headers,
            },
        )
    assert reply.status_code == status
    assert "Origin" in reply.headers["vary"].split(", ")
    assert "ratelimit" not in reply.headers
    if status == 204:
        assert reply.content == b""
        assert reply.headers["access-control-allow-origin"] == BLOG
        assert reply.headers["access-control-allow-methods"] == "POST"
        assert reply.headers["access-control-max-age"] == "600"
    assert bot.chat.asks == []


def test_reindex_has_no_preflight(bot: LiveServer) -> None:
    headers = {"origin": BLOG, "access-control-request-method": "POST"}
    with bot.client() as client:
        assert client.options("/api/reindex", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/chat", "/api/health", "/api/info", "/nope", "/app.js"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_security_headers_are_on_every_reply(bot: LiveServer, method: str, path: str) -> None:
    """E9."""
    with bot.client() as client:
        reply = client.request(method, path)
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["content-security-policy"].startswith("default-src 'none';")
    assert "Origin" in reply.headers["vary"].split(", ")
    assert "server" not in reply.headers
    assert len(reply.headers["x-request-id"]) == 16
    if path.startswith("/api"):
        assert reply.headers["cache-control"].startswith("no-store")


def test_request_ids_are_ours_and_new_each_time(bot: LiveServer) -> None:
    with bot.client() as client:
        ids = {
            client.get("/api/info", headers={"x-request-id": "mine\tforged"}).headers[
                "x-request-id"
            ]
            for _ in range(3)
        }
    assert len(ids) == 3
    assert not any("mine" in found for found in ids)


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/api/chat", "POST"),
        ("DELETE", "/api/chat", "POST"),
        ("TRACE", "/api/chat", "POST"),
        ("HEAD", "/api/chat", "POST"),
        ("OPTIONS", "/api/chat", "POST"),
        ("HEAD", "/api/info", "GET"),
        ("TRACE", "/", "GET"),
        ("POST", "/api/health", "GET"),
    ],
)
def test_other_methods_are_told_what_is_allowed(
    bot: LiveServer, method: str, path: str, allow: str
) -> None:
    """B10: 405 with Allow; there is no TRACE."""
    with bot.client() as client:
        reply = client.request(method, path)
    assert (reply.status_code, reply.headers["allow"]) == (405, allow)


@pytest.mark.parametrize(
    "path",
    ["//api/chat", "/api//chat", "/api/chat/", "/API/chat", "/api/./chat", "/x/../api/chat",
     "/%2e%2e/api/chat", "/api%2fchat", "/api/chat%00", "/api/chat;x", "http://127.0.0.1/api/chat/x"],
)  # fmt: skip
def test_another_spelling_of_a_path_does_not_slip_past_the_gate(bot: LiveServer, path: str) -> None:
    """B10: a foreign origin with an odd path reaches no handler (httptools may decode `%2f`)."""
    data = raw_post(
        question(), path=path, headers=["Origin: https://evil.test", "Connection: close"]
    )
    assert status_of(bot.raw(data)) in (400, 403, 404)
    assert bot.chat.asks == []


@pytest.mark.parametrize(
    "path",
    ["/schema", "/schema/openapi.json", "/docs", "/metrics", "/slots", "/props", "/.git/config",
     "/.env", "/admin", "/v1/unknown", "/api", "/app.py", "/..%2f..%2fetc/passwd"],
)  # fmt: skip
def test_nothing_else_is_served(bot: LiveServer, path: str) -> None:
    """E2, E3: no schema, no docs, no neighbours of the page."""
    with bot.client() as client:
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("variable", ["LITESTAR_DEBUG", "LITESTAR_PDB"])
def test_debug_switches_of_the_environment_are_without_effect(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """E3."""
    monkeypatch.setenv(variable, "1")
    with serve_scripted() as server, server.client() as client:
        server.chat.refuse_with = ValueError("secret")
        reply = client.post("/api/chat", json=question())
        assert reply.status_code == 500
        assert "secret" not in reply.text


def body_of(size_bytes: int) -> bytes:
    start = b'{"messages":[{"role":"user","content":"a"}],"stream":false'
    return start + b" " * (size_bytes - len(start) - 1) + b"}"


@pytest.mark.parametrize(("size_bytes", "status"), [(16_383, 200), (16_384, 200), (16_385, 413)])
def test_body_limit_is_exact(bot: LiveServer, size_bytes: int, status: int) -> None:
    """B2."""
    reply = bot.raw(raw_post(body_of(size_bytes), headers=["Connection: close"]))
    assert status_of(reply) == status


def test_body_limit_holds_without_a_length(bot: LiveServer) -> None:
    """B2: chunked, so the length is never announced."""
    piece = b"400\r\n" + b" " * 0x400 + b"\r\n"
    head = (
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    reply = bot.raw(head + piece * 17 + b"0\r\n\r\n")
    assert status_of(reply) == 413
    assert bot.chat.asks == []


def test_a_large_announced_body_is_refused_before_it_is_sent(bot: LiveServer) -> None:
    """B2: 10 MB announced, nothing of it read."""
    head = (
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 10000000\r\nConnection: close\r\n\r\n"
    )
    assert status_of(bot.raw(head)) == 413


@pytest.mark.parametrize(
    "data",
    [
        b"GET /api/info HTTP/0.9\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"GET /api/info HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"GET /api/info\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_broken_requests_get_a_client_error(bot: LiveServer, data: bytes) -> None:
    """B10, B11: never a 5xx, and the server lives on."""
    assert status_of(bot.raw(data)) in (0, 400, 404, 405)
    with bot.client() as client:
        assert client.get("/api/info").status_code == 200


def test_odd_request_headers_change_nothing(bot: LiveServer) -> None:
    """B14: Last-Event-ID, Range and Accept are ignored."""
    headers = {"last-event-id": "7", "range": "bytes=0-3", "accept": "image/png;q=x,,*"}
    with bot.client() as client:
        reply = client.post("/api/chat", json=question(), headers=headers)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert '"type":"done"' in reply.text


def test_the_public_description_holds_display_fields_only(bot: LiveServer) -> None:
    """E12."""
    with bot.client() as client:
        info = client.get("/api/info").json()
    assert set(info) == {"name", "model", "persona", "topics", "languages", "suggested_questions",
                         "feedback", "warmth"}  # fmt: skip
