"""What visitors write appears in no log, whatever goes wrong."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from bot.app import create_app
from bot.chat.errors import ModelInterrupted, ModelUnavailable
from bot.chat.events import Chunk
from bot.chat.ports.model import TextDelta
from bot.log import JsonFormatter, TextFormatter
from corpus.settings import Settings
from tests.captured_log import captured_log
from tests.fakes import DONE, FakeModel, fake_ports
from tests.live_server import LiveServer, question, raw_post, serve_in_thread, serve_scripted

CANARY = "canary-7f3a-maria@example.com-600123123"


@pytest.fixture(params=[JsonFormatter(), TextFormatter()], ids=["json", "text"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Everything that any logger says, at every level, in the product's format."""
    with captured_log(request.param) as text:
        yield text


def provoke(bot: LiveServer) -> None:
    """Send the canary everywhere a client can put it."""
    with bot.client(headers={"user-agent": CANARY, "referer": f"http://x/{CANARY}"}) as client:
        client.post("/api/chat", json=question(CANARY))
        client.post("/api/chat", json=question(CANARY, stream=False))
        client.post("/api/chat", json=question(CANARY * 40))
        client.post("/api/chat", json=question(CANARY, **{CANARY: 1}))
        client.post("/api/chat", json=question("a", conversation_id=CANARY))
        client.post("/api/chat", content=CANARY.encode(), headers={"content-type": CANARY})
        client.post("/api/chat", json=question(), headers={"origin": f"https://{CANARY}.test"})
        client.get(f"/api/health?deep={CANARY}")
        client.get(f"/{CANARY}?q={CANARY}")
        client.get("/api/info", headers={"x-request-id": CANARY, "x-forwarded-for": CANARY})
        client.post("/api/reindex", headers={"authorization": f"Bearer {CANARY}"})


def test_question_answer_and_headers_are_in_no_log(log: io.StringIO) -> None:
    """P1, P5: not even when the service fails with the text in its exception."""
    with serve_scripted() as bot:
        bot.chat.enqueue(Chunk(content=CANARY), ValueError(CANARY))
        bot.chat.enqueue(Chunk(content=CANARY), DONE)
        provoke(bot)
        bot.chat.refuse_with = RuntimeError(CANARY)
        provoke(bot)
    assert "RuntimeError at " in log.getvalue()
    assert "canary" not in log.getvalue().lower()


def test_the_real_service_logs_no_text_either(log: io.StringIO) -> None:
    """P1, with the product's own ChatService over a model that answers, breaks off and is down."""
    model = FakeModel()
    model.enqueue_text(CANARY, " ", CANARY)
    model.enqueue(TextDelta(text=CANARY), ModelInterrupted(CANARY))
    model.enqueue(ModelUnavailable(CANARY))
    model.enqueue(TextDelta(text=CANARY), ValueError(CANARY))
    with serve_in_thread(create_app(Settings(), fake_ports(model=model))) as bot:
        for _ in range(2):
            provoke(bot)
    assert "canary" not in log.getvalue().lower()


def test_no_log_holds_a_full_address(log: io.StringIO) -> None:
    """P2."""
    with serve_scripted(trusted_proxies=("127.0.0.1",)) as bot, bot.client() as client:
        client.post("/api/chat", json=question(), headers={"x-forwarded-for": "203.0.113.77"})
        client.get("/nope", headers={"x-forwarded-for": "2001:db8::77"})
    assert "203.0.113.77" not in log.getvalue()
    assert "2001:db8" not in log.getvalue()


def test_control_bytes_in_a_request_break_no_line(log: io.StringIO) -> None:
    """X15: every record stays one line; JSON stays JSON."""
    with serve_scripted() as bot:
        bot.chat.enqueue(Chunk(content="\x1b[31m\u2028\r\n\x07"), ValueError("\x1b]0;x\x07\n\n"))
        headers = ["User-Agent: \x1b[31mred\x07", "Connection: close"]
        bot.raw(raw_post(question("\x1b[2J\u2028a\r\nb"), headers=headers))
    lines = log.getvalue().split("\n")
    assert not any(character in log.getvalue() for character in "\x1b\x07\u2028\r")
    if lines[0].startswith("{"):
        assert all(json.loads(line) for line in lines if line)


def test_each_request_is_one_record_with_its_id_route_and_status(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    with serve_scripted() as bot, bot.client() as client:
        good = client.get("/api/info")
        lost = client.get("/nope")
        slow = client.post("/api/chat", content=b"", headers={"content-type": "text/plain"})
    found = {
        record.__dict__["request_id"]: record
        for record in caplog.records
        if record.name == "bot.access"
    }
    shown = [
        (record.__dict__["route"], record.__dict__["status"], record.__dict__["code"])
        for record in (found[reply.headers["x-request-id"]] for reply in (good, lost, slow))
    ]
    assert shown == [
        ("/api/info", 200, None),
        ("-", 404, "not-found"),
        ("/api/chat", 415, "unsupported-media-type"),
    ]
