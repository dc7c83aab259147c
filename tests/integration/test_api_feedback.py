"""POST /api/feedback over real HTTP: every status, the limit, origins, and what is kept."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from bot.adapters.feedback import LocalAnswers
from bot.adapters.limiter import LocalLimiter
from bot.app import create_app
from bot.log import JsonFormatter
from corpus.settings import FeedbackSettings, RateLimitSettings, Settings
from tests.captured_log import captured_log
from tests.clock import Clock
from tests.fakes import ScriptedChat, fake_ports
from tests.live_server import LiveServer, question, raw_post, serve_in_thread, serve_scripted
from tests.sse_client import read_sse

BLOG = "https://blog.example.com"
PROBLEM = "application/problem+json"
LOOPBACK = {"metrics_networks": ("127.0.0.0/8",)}
CANARY = "canary-7f3a-maria@example.com-600123123"


@pytest.fixture(scope="module")
def bot() -> Iterator[LiveServer]:
    with serve_scripted(server={"cors_origins": (BLOG,), **LOOPBACK}) as server:
        yield server


def answer_id(bot: LiveServer, text: str = "¿Con qué se paga?") -> str:
    """Ask; the id under which the answer may be voted on."""
    with bot.client() as client:
        found: str = client.post("/api/chat", json=question(text, stream=False)).json()["answer_id"]
        return found


def vote(bot: LiveServer, /, headers: dict[str, str] | None = None, **body: Any) -> httpx.Response:
    with bot.client() as client:
        return client.post("/api/feedback", json=body, headers=headers)


def counted(bot: LiveServer) -> dict[str, float]:
    """Every series that is not 0."""
    with bot.client() as client:
        page = client.get("/metrics").text
    series = (line.rpartition(" ") for line in page.splitlines() if not line.startswith("#"))
    return {name.removeprefix("portfolio_bot_"): float(n) for name, _, n in series if float(n)}


def votes_in(found: dict[str, float]) -> dict[str, float]:
    return {name: n for name, n in found.items() if name.startswith("feedback")}


# ---- voting ------------------------------------------------------------------------------------


def test_a_stream_says_under_which_id_its_answer_may_be_voted_on(bot: LiveServer) -> None:
    with bot.client() as client, client.stream("POST", "/api/chat", json=question()) as reply:
        done = list(read_sse(reply.iter_raw()))[-1]
    assert done["type"] == "done"
    assert len(done["answer_id"]) == 32
    assert vote(bot, answer_id=done["answer_id"], rating="up").status_code == 204


def test_the_whole_answer_says_it_too_and_a_vote_gets_an_empty_204(bot: LiveServer) -> None:
    reply = vote(bot, answer_id=answer_id(bot), rating="down", reason="outdated")
    assert (reply.status_code, reply.content) == (204, b"")
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["ratelimit-policy"].startswith('"visitor";q=')


def test_what_the_widget_sends_is_taken(bot: LiveServer) -> None:
    """chat-widget.js sends its conversation along."""
    with bot.client() as client:
        told = client.post("/api/chat", json=question(stream=False)).json()
    body = {"conversation_id": told["conversation_id"], "rating": "down", "reason": "other"}
    assert vote(bot, answer_id=told["answer_id"], **body).status_code == 204


def test_votes_are_counted_once_and_a_later_one_takes_the_place() -> None:
    with serve_scripted(server=LOOPBACK) as bot:
        one, two = answer_id(bot), answer_id(bot, "¿con que se PAGA?")
        for _ in range(3):
            vote(bot, answer_id=one, rating="up")
        vote(bot, answer_id=one, rating="down", reason="wrong")
        vote(bot, answer_id=two, rating="down")
        assert votes_in(counted(bot)) == {
            'feedback_total{rating="up",reason="none"}': 1,
            'feedback_total{rating="down",reason="wrong"}': 1,
            'feedback_total{rating="down",reason="none"}': 1,
            'feedback_replaced_total{rating="up",reason="none"}': 1,
            'feedback_questions_total{rating="up"}': 1,
            'feedback_questions_total{rating="down"}': 1,
        }


# ---- refusals ----------------------------------------------------------------------------------


def test_an_answer_nobody_gave_is_404(bot: LiveServer) -> None:
    reply = vote(bot, answer_id="A" * 32, rating="up")
    assert (reply.status_code, reply.headers["content-type"]) == (404, PROBLEM)
    assert reply.json()["code"] == "unknown-answer"
    assert reply.json()["title"] == "This answer is not known here, or no longer"


def test_an_answer_of_too_long_ago_is_404_as_well() -> None:
    clock = Clock()
    kept = LocalAnswers(FeedbackSettings(ttl_seconds=60), clock=clock)
    with serve_scripted(ports=fake_ports(answers=kept)) as bot:
        old = answer_id(bot)
        assert vote(bot, answer_id=old, rating="up").status_code == 204
        clock.now += 60
        assert vote(bot, answer_id=old, rating="up").json()["code"] == "unknown-answer"


GOOD: dict[str, Any] = {"answer_id": "A" * 32, "rating": "down"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({**GOOD, "rating": "sideways"}, "rating"),
        ({**GOOD, "reason": "boring"}, "reason"),
        ({**GOOD, "rating": "up", "reason": "wrong"}, "`down` only"),
        ({**GOOD, "comment": "x"}, "Comments are not taken"),
        ({**GOOD, "note": "x"}, "note"),
        ({**GOOD, "answer_id": "short"}, "answer_id"),
        ({**GOOD, "answer_id": None}, "answer_id"),
        ({**GOOD, "conversation_id": "x\n"}, "conversation_id"),
        ({"rating": "up"}, "answer_id"),
        ({"answer_id": "A" * 32}, "rating"),
        ([GOOD], "object"),
    ],
)
def test_another_body_is_400_and_says_why(bot: LiveServer, body: Any, says: str) -> None:
    with bot.client() as client:
        reply = client.post("/api/feedback", json=body)
    assert (reply.status_code, reply.headers["content-type"]) == (400, PROBLEM)
    assert reply.json()["code"] == "invalid-request"
    assert says in reply.json()["detail"]


def test_type_size_and_method_are_those_of_the_chat(bot: LiveServer) -> None:
    with bot.client() as client:
        plain = client.post("/api/feedback", content=b"{}", headers={"content-type": "text/plain"})
        large = client.post("/api/feedback", json={**GOOD, "comment": "a" * 4096})
        looked = client.get("/api/feedback")
    assert (plain.status_code, plain.json()["code"]) == (415, "unsupported-media-type")
    assert (large.status_code, large.json()["code"]) == (413, "body-too-large")
    assert (looked.status_code, looked.headers["allow"]) == (405, "POST")


def test_only_allowed_origins_may_vote_and_can_read_why_not(bot: LiveServer) -> None:
    mine = answer_id(bot)
    foreign = vote(bot, {"origin": "https://evil.test"}, answer_id=mine, rating="up")
    assert (foreign.status_code, foreign.json()["code"]) == (403, "origin-not-allowed")
    assert "access-control-allow-origin" not in foreign.headers
    allowed = vote(bot, {"origin": BLOG}, answer_id=mine, rating="up")
    assert allowed.status_code == 204
    unknown = vote(bot, {"origin": BLOG}, **GOOD)
    for reply in (allowed, unknown):
        assert reply.headers["access-control-allow-origin"] == BLOG
    with bot.client() as client:
        asked = {"origin": BLOG, "access-control-request-method": "POST",
                 "access-control-request-headers": "content-type"}  # fmt: skip
        assert client.options("/api/feedback", headers=asked).status_code == 204


def test_votes_have_an_allowance_of_their_own() -> None:
    """As large as the one for questions; neither uses up the other."""
    limiter = LocalLimiter(RateLimitSettings(requests_per_minute=6, burst=2))
    with serve_scripted(ports=fake_ports(limiter=limiter)) as bot:
        first, second = answer_id(bot), answer_id(bot)
        replies = [vote(bot, answer_id=each, rating="up") for each in (first, second, first)]
        assert [reply.status_code for reply in replies] == [204, 204, 429]
        assert replies[2].json()["code"] == "rate-limited"
        assert replies[2].headers["retry-after"] == "10"
        with bot.client() as client:
            assert client.post("/api/chat", json=question()).status_code == 429


def test_an_owner_can_switch_it_off() -> None:
    with serve_scripted(feedback={"enabled": False}) as bot:
        with bot.client() as client:
            assert client.get("/api/info").json()["feedback"] is False
            assert "answer_id" not in client.post("/api/chat", json=question(stream=False)).json()
            assert "answer_id" not in client.post("/api/chat", json=question()).text
        assert vote(bot, **GOOD).json()["code"] == "not-found"


# ---- what is kept ------------------------------------------------------------------------------


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that any logger says, at every level."""
    with captured_log(JsonFormatter()) as text:
        yield text


def provoke(bot: LiveServer) -> str:
    """Put the canary everywhere a client can; the id of an answer."""
    mine = answer_id(bot, CANARY)
    vote(bot, {"referer": f"http://x/{CANARY}"}, answer_id=mine, rating="down", reason="wrong")
    vote(bot, answer_id=mine, rating="down", comment=CANARY)
    vote(bot, answer_id=CANARY, rating="up")
    vote(bot, **{**GOOD, CANARY: CANARY})
    vote(bot, {"origin": f"https://{CANARY}.test"}, answer_id=mine, rating="up")
    bot.raw(raw_post(CANARY.encode(), path="/api/feedback", headers=["Connection: close"]))
    return mine


def test_counting_puts_no_word_and_no_id_into_log_or_metrics(log: io.StringIO) -> None:
    """P1, P5."""
    with serve_scripted(server=LOOPBACK) as bot:
        mine = provoke(bot)
        with bot.client() as client:
            page = client.get("/metrics").text
    for text in (log.getvalue(), page):
        assert "canary" not in text.lower()
        assert mine not in text
        assert "127.0.0.1" not in text
    assert '"message": "vote down wrong"' in log.getvalue()
    assert 'feedback_total{rating="down",reason="wrong"} 1' in page


def test_an_owner_who_asks_for_questions_and_comments_gets_them(
    log: io.StringIO, tmp_path: Path
) -> None:
    """With the product's own ports: the settings are all it takes."""
    default = Settings()
    settings = replace(
        default,
        server=replace(default.server, **LOOPBACK),
        rag=replace(default.rag, index_path=str(tmp_path / "index")),
        feedback=FeedbackSettings(store="questions", path=str(tmp_path), free_text=True),
    )
    with serve_in_thread(create_app(settings, make_service=ScriptedChat)) as bot:
        mine = answer_id(bot, CANARY)
        assert vote(bot, answer_id=mine, rating="up", comment=" a\u202eb ").status_code == 204
        long = vote(bot, answer_id=mine, rating="up", comment="a" * 301)
        assert long.status_code == 400
        assert vote(bot, answer_id=mine, rating="up", comment="😀" * 300).status_code == 204
        with bot.client() as client:
            page = client.get("/metrics").text
    written = (tmp_path / "feedback.jsonl").read_text("utf-8").split("\n")
    first = json.loads(written[0])
    assert (first["question"], first["comment"]) == (CANARY, "ab")
    assert first["documents"] == ["clothes-shop.md"]
    assert "canary" not in log.getvalue() + page
