"""What the proxies of the examples let through and what they keep, seen from both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.adapters.limiter import LocalLimiter
from corpus.settings import RateLimitSettings
from native.ports import free_port
from tests.examples.sites import serving, site_client
from tests.live_server import question

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.examples.conftest import ChosenLimiter
    from tests.examples.recorder import Recorder
    from tests.live_server import LiveServer

pytestmark = pytest.mark.examples

ASKED = b'{"messages":[{"role":"user","content":"\xc2\xbfQu\xc3\xa9?"}]}'
SECRETS = {
    "Cookie": "session=secret",
    "Authorization": "Bearer secret",
    "Origin": "https://shop.example",
    "Referer": "https://shop.example/secret",
    "X-Forwarded-Host": "secret.example",
    "X-Real-IP": "203.0.113.50",
    "Forwarded": "for=203.0.113.50",
}
OF_EVERY_CLIENT = {"host", "connection", "content-length", "accept-encoding", "user-agent",
                   "sec-fetch-mode", "cache-control", "pragma"}  # fmt: skip
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/chat"), ("POST", "/api/feedback"), ("GET", "/api/info")]
)
def test_only_what_the_bot_needs_goes_to_it(
    recorded: httpx.Client, recorder: Recorder, method: str, path: str
) -> None:
    needed = {**JSON, "Accept": "text/event-stream", "Accept-Language": "es"}
    content = ASKED if method == "POST" else None
    recorded.request(method, path + "?a=secret", headers=needed | SECRETS, content=content)
    ((seen_method, seen_path, headers, body),) = recorder.asked
    assert (seen_method, seen_path, body) == (method, path, content or b"")
    assert "secret" not in str(headers)
    assert "203.0.113.50" not in str(headers)
    assert {name: headers[name.lower()] for name in needed} == needed
    assert headers["x-forwarded-for"] == "127.0.0.1"
    passed = headers.keys() - OF_EVERY_CLIENT
    assert passed == {"accept", "accept-language", "content-type", "x-forwarded-for"}


def test_only_what_the_chat_needs_comes_back(recorded: httpx.Client, recorder: Recorder) -> None:
    recorder.answers(
        429, b'{"code":"rate-limited"}', Content_Type="application/problem+json", Retry_After="7",
        RateLimit='"visitor";r=0', RateLimit_Policy='"visitor";q=10;w=20', X_Request_Id="abc",
        Cache_Control="no-store", Set_Cookie="bot=1", Access_Control_Allow_Origin="*",
        Server="secret",
    )  # fmt: skip
    reply = recorded.post("/api/chat", content=ASKED, headers=JSON)
    assert (reply.status_code, reply.content) == (429, b'{"code":"rate-limited"}')
    for name, value in (("content-type", "application/problem+json"), ("retry-after", "7"),
                        ("ratelimit", '"visitor";r=0'), ("ratelimit-policy", '"visitor";q=10;w=20'),
                        ("x-request-id", "abc"), ("cache-control", "no-store")):  # fmt: skip
        assert reply.headers[name] == value
    for name in ("set-cookie", "access-control-allow-origin"):
        assert name not in reply.headers
    assert "secret" not in reply.headers.get("server", "")


def test_a_vote_is_answered_without_a_body(recorded: httpx.Client, recorder: Recorder) -> None:
    recorder.answers(204)
    reply = recorded.post("/api/feedback", content=b"{}", headers=JSON)
    assert (reply.status_code, reply.content) == (204, b"")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_the_bot_would_refuse_does_not_reach_it(
    recorded: httpx.Client, recorder: Recorder, chunked: bool
) -> None:
    whole = b"x" * 16_385
    content = iter([whole[:9000], whole[9000:]]) if chunked else whole
    reply = recorded.post("/api/chat", content=content, headers=JSON)
    assert reply.status_code == 413
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == "body-too-large"
    assert recorder.asked == []
    assert recorded.post("/api/chat", content=whole[1:], headers=JSON).status_code == 200
    assert recorder.asked[0][3] == whole[1:]


def test_other_methods_and_places_do_not_exist(recorded: httpx.Client, recorder: Recorder) -> None:
    assert recorded.get("/api/chat").status_code in {404, 405}
    assert recorded.post("/api/info", headers=JSON).status_code in {404, 405}
    for path in ("/api/reindex", "/api/health", "/api/chat/..%2Freindex", "/api/chat/x"):
        assert recorded.post(path, content=ASKED, headers=JSON).status_code == 404
    assert recorder.asked == []


def test_another_site_may_not_ask_through_it(recorded: httpx.Client) -> None:
    reply = recorded.options(
        "/api/chat",
        headers={"Origin": "https://other.example", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "content-type"},
    )  # fmt: skip
    assert "access-control-allow-origin" not in reply.headers


def ask(site: str, forwarded: str | None) -> httpx.Response:
    """One question, as the web server in front of the site hands it on."""
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    with site_client(site) as client:
        return client.post("/api/chat", json=question(), headers=headers)


def test_each_visitor_has_an_allowance_of_its_own(
    site: str, bot: LiveServer, limiter: ChosenLimiter
) -> None:
    """And none that can be had anew by inventing an address: the bot reads the list from the right."""
    limiter.now = LocalLimiter(RateLimitSettings(requests_per_minute=1, burst=1))
    assert ask(site, "203.0.113.7").status_code == 200
    assert ask(site, "203.0.113.8").status_code == 200
    refused = ask(site, "198.51.100.1, 203.0.113.7")
    assert refused.status_code == 429
    assert refused.json()["code"] == "rate-limited"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert ask(site, "203.0.113.8, ::ffff:127.0.0.1").status_code == 429
    assert ask(site, "2001:db8::ffff:1").status_code == 200
    assert ask(site, None).status_code == 200
    assert len(bot.chat.asks) == 4


def test_a_bot_that_is_away_is_a_problem_document(example: str, logs: Path) -> None:
    with (
        serving(example, f"http://127.0.0.1:{free_port()}", logs / f"{example}-alone.log") as url,
        site_client(url) as client,
    ):
        reply = client.post("/api/chat", json=question())
        assert reply.status_code == 502
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.headers["retry-after"] == "5"
        assert reply.json()["code"] == "unavailable"
        assert client.get("/").status_code == 200
