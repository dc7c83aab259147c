"""What the gateway lets through, what it adds, and how it fails; Caddy itself, a stand-in for the bot."""

from __future__ import annotations

import json
import re
import socket
import time
from itertools import pairwise
from typing import Any

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.gateway_rig import GatewayRig, curl
from tests.containers.silence import LAST_WAIT_SECONDS, LONG_SILENCE_SECONDS, Silence
from tests.containers.stack import docker, eventually
from tests.sse_client import read_sse

CLOSED = (
    "/api/reindex", "/api", "/api/", "/api/chat/", "/api/%63hat/x", "/metrics", "/schema",
    "/schema/openapi.json", "/docs", "/slots", "/props", "/v1/models", "/v1/chat/completions",
    "/.git/config", "/.env", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/admin", "/config/",
    "/Caddyfile", "/healthz", "/debug/pprof/", "/site/", "/index.html/x",
)  # fmt: skip
SPOOFED: tuple[list[tuple[str, str]], ...] = (
    [("X-Forwarded-For", "1.1.1.1")],
    [("X-Forwarded-For", "1.1.1.1, 2.2.2.2")],
    [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "2.2.2.2")],
    [("X-Forwarded-For", "1.1.1.1:80")],
    [("X-Forwarded-For", "[2001:db8::1]:443")],
    [("X-Forwarded-For", "unknown")],
    [("X_Forwarded_For", "1.1.1.1")],
    [("X-Real-IP", "1.1.1.1")],
    [("X-Client-IP", "1.1.1.1")],
    [("True-Client-IP", "1.1.1.1")],
    [("CF-Connecting-IP", "1.1.1.1")],
    [("Forwarded", "for=1.1.1.1")],
    [("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example")],
)
SMUGGLED = (
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 30\r\n\r\nabc",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX: a\rb\r\n\r\nabc",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;\n\r\nabcde\r\n0\r\n\r\n",
    b"POST /api/chat HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n",
    b"GET http://a/api/reindex HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /api/info HTTP/1.1\r\n\r\n",
    b"TRACE /api/info HTTP/1.1\r\nHost: a\r\n\r\n",
)


def stream(rig: GatewayRig, pieces: int, gap_seconds: float, **headers: str) -> Any:
    return httpx.stream(
        "POST",
        f"{rig.url}/api/chat",
        json={"pieces": pieces, "gap_seconds": gap_seconds},
        headers=headers,
        timeout=gap_seconds + 20,
    )


def raw(rig: GatewayRig, request: bytes, *, quiet_seconds: float = 30.0) -> bytes:
    """What the gateway answers to these bytes, until it closes or is silent for so long."""
    with socket.create_connection(("127.0.0.1", rig.port), timeout=30) as connection:
        connection.settimeout(quiet_seconds)
        connection.sendall(request)
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
        except TimeoutError:
            pass
    return received


def test_pieces_arrive_apart_and_uncompressed(rig: GatewayRig, figure: Figure) -> None:
    begun, at = time.monotonic(), []
    with stream(rig, 4, 1.0, **{"Accept-Encoding": "gzip, zstd, br"}) as reply:
        assert "content-encoding" not in reply.headers
        for _ in read_sse(reply.iter_raw()):
            at.append(time.monotonic() - begun)
    gaps = [later - earlier for earlier, later in pairwise(at[:4])]
    # Buffered they would come together; late ones are the machine's.
    assert min(gaps) > 0.15, gaps
    figure("SSE", f"first byte {at[0] * 1000:.0f} ms, pieces sent 1000 ms apart arrive "
                  f"{min(gaps) * 1000:.0f}-{max(gaps) * 1000:.0f} ms apart")  # fmt: skip


def test_a_name_gives_https(rig: GatewayRig, figure: Figure) -> None:
    reply = curl(rig, "/api/info", "--include")
    assert reply.startswith("HTTP/2 200")
    assert "strict-transport-security: max-age=31536000" in reply
    assert json.loads(reply.splitlines()[-1])["headers"]
    assert '["X-Forwarded-Proto", "https"]' in reply
    plain = httpx.get(f"http://localhost:{rig.http_port}/api/info")
    assert plain.status_code == 308
    assert plain.headers["location"].startswith("https://localhost/")
    figure(
        "E9 https", "HTTP/2 with HSTS; port 80 redirects; ports 80 and 443 bound without capability"
    )


def test_leaving_reaches_the_bot(rig: GatewayRig, figure: Figure) -> None:
    with stream(rig, 200, 0.1) as reply:
        next(reply.iter_raw())
        left = time.monotonic()
    while not httpx.get(f"{rig.url}/api/health").json()["left"]:
        assert time.monotonic() - left < 60
        time.sleep(0.05)
    figure("A12 leaving", f"the bot notices {time.monotonic() - left:.2f} s after the visitor left")


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_everything_else_is_404(rig: GatewayRig, method: str, path: str) -> None:
    before = len(httpx.get(f"{rig.url}/api/health").json()["seen"])
    received = raw(
        rig,
        f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode(),
    )
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 "), head
    assert b"Content-Type: application/problem+json" in head
    assert json.loads(body)["status"] == 404
    assert len(httpx.get(f"{rig.url}/api/health").json()["seen"]) == before + 1


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "GET"])
def test_a_public_route_has_its_own_methods_only(rig: GatewayRig, method: str) -> None:
    reply = httpx.request(method, f"{rig.url}/api/chat")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


def test_the_bot_sees_the_peers_address_whatever_is_sent(rig: GatewayRig, figure: Figure) -> None:
    plain = httpx.get(f"{rig.url}/api/info").json()
    seen = set()
    for headers in SPOOFED:
        echoed = httpx.get(f"{rig.url}/api/info", headers=headers).json()["headers"]
        named = [(name.lower(), value) for name, value in echoed]
        forwarded = [value for name, value in named if name == "x-forwarded-for"]
        seen.add(tuple(forwarded))
        assert not [item for item in named if "1.1.1.1" in item[1] or "evil" in item[1]
                    or "2001:db8" in item[1]], named  # fmt: skip
        assert ("x-forwarded-proto", "http") in named
    expected = [value for name, value in plain["headers"] if name.lower() == "x-forwarded-for"]
    assert seen == {tuple(expected)}
    figure("A4 spoofing", f"{len(SPOOFED)} header sets, {len(seen)} address seen by the bot")


def test_bodies_are_limited(rig: GatewayRig, figure: Figure) -> None:
    def send(size: int, path: str) -> httpx.Response:
        body = b'{"stream": false, "x": "' + b"x" * (size - 26) + b'"}'
        return httpx.post(f"{rig.url}{path}", content=body)

    # Caddy's KB are 1000 bytes.
    for path, most in (("/api/chat", 16_000), ("/api/feedback", 4_000)):
        assert send(most, path).json() == {"bytes": most}
        for size in (most + 1, 17_000, 1_000_000):
            reply = send(size, path)
            assert reply.status_code == 413
            assert reply.json()["code"] == "body-too-large"
    figure("B2 body", "16000 bytes (a vote: 4000) pass, one more gets 413")


def test_crafted_requests_reach_the_bot_as_one_or_not_at_all(
    rig: GatewayRig, figure: Figure
) -> None:
    for request in SMUGGLED:
        before = httpx.get(f"{rig.url}/api/health").json()["seen"]
        # Some are answered on a connection that stays open.
        received = raw(rig, request, quiet_seconds=3)
        after = httpx.get(f"{rig.url}/api/health").json()["seen"]
        new = after[len(before) : -1]
        assert len(new) <= 1, (request, new)
        assert not [path for path in new if "reindex" in path], new
        assert received[:12] == b"" or received[9:10] in b"245", (request, received[:80])
    figure("E7 smuggling", f"{len(SMUGGLED)} crafted requests, none became two")


def test_headers_of_every_kind_of_reply(rig: GatewayRig) -> None:
    for path in ("/", "/api/info", "/nothing"):
        headers = httpx.get(f"{rig.url}{path}").headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "no-referrer", path
        assert "caddy" not in str(headers).lower(), path
    page = httpx.get(f"{rig.url}/").headers
    assert "default-src 'none'" in page["content-security-policy"]
    assert httpx.get(f"{rig.url}/", headers={"Accept-Encoding": "gzip"}).status_code == 200


def test_the_log_holds_no_address_no_query_no_header(rig: GatewayRig, figure: Figure) -> None:
    httpx.get(f"{rig.url}/api/info?q=secret-question", headers={"User-Agent": "secret-agent"})
    httpx.get(f"{rig.url}/the-last-one")
    eventually(lambda: "the-last-one" in rig.gateway_log(), "the last line")
    log = rig.gateway_log()
    lines = [json.loads(line) for line in log.splitlines() if '"http.log.access' in line]
    assert "secret" not in log
    addresses = {line["request"]["client_ip"] for line in lines}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+\.0", address) for address in addresses), addresses
    figure("P5 log", f"{len(lines)} lines; address as {', '.join(sorted(addresses))}; finds 0")


def test_slow_headers_and_slow_bodies_are_cut(
    rig: GatewayRig, silence: Silence, figure: Figure
) -> None:
    took = {name: cut.result(LAST_WAIT_SECONDS) for name, cut in silence.cut.items()}
    assert httpx.get(f"{rig.url}/api/info").status_code == 200
    figure("A10 slow", ", ".join(f"{name} cut after {value:.1f} s" for name, value in took.items()))


def test_a_silent_stream_is_not_cut(silence: Silence, figure: Figure) -> None:
    """Over HTTP/1.1, and over TLS with HTTP/2 (Caddy 2.11.6 cut both). Before the bot is stopped, below."""
    events, seconds = silence.http1.result(LAST_WAIT_SECONDS)
    assert [event["type"] for event in events] == ["chunk", "chunk", "done"]
    assert seconds > LONG_SILENCE_SECONDS
    over_http2 = silence.http2.result(LAST_WAIT_SECONDS)
    assert '"done"' in over_http2, over_http2
    assert "version 2" in over_http2
    figure(
        "F17 silence", f"{seconds:.1f} s without a byte, then the rest: not cut (HTTP/1.1, HTTP/2)"
    )


def test_a_bot_that_is_away_is_a_problem_document(rig: GatewayRig, figure: Figure) -> None:
    docker("stop", "--time", "1", rig.upstream.get_wrapped_container().id)
    try:
        begun = time.monotonic()
        reply = httpx.post(f"{rig.url}/api/chat", json={}, timeout=30)
        seconds = time.monotonic() - begun
        assert reply.status_code in (502, 503)
        assert reply.headers["content-type"] == "application/problem+json"
        assert int(reply.headers["retry-after"]) >= 1
        assert reply.json()["code"] == "unavailable"
        # The pages stay.
        assert httpx.get(f"{rig.url}/").status_code == 200
    finally:
        docker("start", rig.upstream.get_wrapped_container().id)
    figure(
        "F14 bot away", f"{reply.status_code} problem+json with Retry-After after {seconds:.1f} s"
    )
