"""The stream of one answer on a real socket: order, bytes, heartbeat, and its last event."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from bot.api.timing import Timing
from bot.chat.errors import ModelTimeout
from bot.chat.events import Chunk, Failed, Progress, Sources
from tests.fakes import DONE, GOOD_ANSWER, SOURCES, Gate, ScriptedChat
from tests.live_server import LiveServer, question, serve_scripted
from tests.sse_client import COMMENT, read_sse, without_comments


@pytest.fixture(scope="module")
def running() -> Iterator[LiveServer]:
    with serve_scripted(timing=Timing(heartbeat_seconds=0.1)) as server:
        yield server


@pytest.fixture
def bot(running: LiveServer) -> LiveServer:
    chat: ScriptedChat = running.chat
    chat.scripts.clear()
    chat.asks.clear()
    return running


def events_of(bot: LiveServer, **fields: Any) -> list[dict[str, Any]]:
    with (
        bot.client() as client,
        client.stream("POST", "/api/chat", json=question(**fields)) as reply,
    ):
        assert reply.status_code == 200
        return list(read_sse(reply.iter_raw()))


def test_events_come_in_order_with_the_documented_fields(bot: LiveServer) -> None:
    bot.chat.enqueue(SOURCES, Progress(processed=128, total=256), *GOOD_ANSWER[1:])
    events = without_comments(events_of(bot))
    assert [event["type"] for event in events] == [
        "start", "sources", "progress", "chunk", "chunk", "done",
    ]  # fmt: skip
    start, sources, progress, *_, done = events
    assert len(start["conversation_id"]) >= 22
    assert sources["documents"] == ["clothes-shop.md"]
    assert set(sources["passages"][0]) == {"n", "title", "section", "url", "lang", "kind", "quote"}
    assert progress == {"type": "progress", "processed": 128, "total": 256}
    assert done["usage"] == {"input_tokens": 100, "output_tokens": 2}
    assert (done["finish_reason"], done["route"]) == ("stop", "answer")
    assert done["timings"]["total_ms"] == 12.0


def test_the_stream_is_typed_and_neither_stored_nor_buffered(bot: LiveServer) -> None:
    """PRX-02."""
    with bot.client() as client, client.stream("POST", "/api/chat", json=question()) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-store, no-transform"
        assert reply.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in reply.headers
        reply.read()


def test_bytes_are_data_lines_only(bot: LiveServer) -> None:
    """No `event:`, `id:` or `retry:` lines, no carriage returns: clients of the contract need none."""
    with bot.client() as client:
        body = client.post("/api/chat", json=question()).content
    for line in body.split(b"\n"):
        assert line == b"" or line.startswith((b"data: {", b": "))
    assert body.endswith(b"}\n\n")


@pytest.mark.parametrize(
    "text",
    ["\n\nevent: done\ndata: {}\n\n", "\r\rdata: x", "a\u2028b\u2029c\u0085d\x0be\x0cf", "id: 7\n",
     ': comment\n\n', '"}\n\ndata: {"type":"done"}', "\x1b[2J\x07", "ñ 語 😀"],
)  # fmt: skip
def test_model_text_can_not_forge_an_event(bot: LiveServer, text: str) -> None:
    """X16, SSE-01: whatever the model writes stays inside one chunk, unchanged."""
    bot.chat.enqueue(Chunk(content=text), DONE)
    events = without_comments(events_of(bot))
    assert [event["type"] for event in events] == ["start", "chunk", "done"]
    assert events[1]["content"] == text


def test_first_bytes_come_at_once_and_quiet_streams_are_kept_alive(bot: LiveServer) -> None:
    """SSE-05, F17: comments while the prompt is evaluated, and nothing is lost after them."""
    before_sources, after_sources = Gate(), Gate()
    bot.chat.enqueue(before_sources, SOURCES, after_sources, *GOOD_ANSWER[1:])
    with bot.client() as client, client.stream("POST", "/api/chat", json=question()) as reply:
        events = read_sse(reply.iter_raw())
        # The gates are what the model takes: whatever is read before one opens did not wait for it.
        assert next(events) == COMMENT
        before_sources.open()
        assert until(events, "sources")
        assert [next(events) for _ in range(3)] == [COMMENT] * 3
        after_sources.open()
        last = without_comments(list(events))
    assert [event["type"] for event in last] == ["chunk", "chunk", "done"]


def test_events_leave_one_by_one(bot: LiveServer) -> None:
    """PRX-02: each piece is on the wire before the next is generated."""
    gate = Gate()
    bot.chat.enqueue(Chunk(content="one"), gate, Chunk(content="two"), DONE)
    with bot.client() as client, client.stream("POST", "/api/chat", json=question()) as reply:
        events = read_sse(reply.iter_raw())
        assert until(events, "chunk")["content"] == "one"
        gate.open()
        assert until(events, "chunk")["content"] == "two"


def until(events: Iterator[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The next event of this kind."""
    return next(event for event in events if event.get("type") == kind)


def test_an_error_event_ends_a_failed_stream(bot: LiveServer) -> None:
    """SSE-04, F1."""
    failed = Failed(code="model-interrupted", message="Se ha cortado.", retryable=True)
    bot.chat.enqueue(SOURCES, Chunk(content="Con "), failed)
    events = without_comments(events_of(bot))
    assert events[-1] == {
        "type": "error",
        "code": "model-interrupted",
        "message": "Se ha cortado.",
        "retryable": True,
    }


@pytest.mark.parametrize(
    "script",
    [
        (Chunk(content="a"), ValueError("secret")),
        (Chunk(content="a"), ModelTimeout("secret")),
        (Chunk(content="a"),),
        (),
    ],
    ids=["unknown exception", "late chat error", "no last event", "nothing at all"],
)
def test_a_stream_always_ends_with_done_or_error(bot: LiveServer, script: Any) -> None:
    """SSE-04: a defect in the service becomes `internal-error`, without its text."""
    bot.chat.enqueue(*script)
    events = without_comments(events_of(bot))
    assert events[-1]["type"] == "error"
    assert events[-1]["code"] == "internal-error"
    assert "secret" not in json.dumps(events)
    assert bot.chat.admitted == 0


def test_nothing_follows_the_last_event(bot: LiveServer) -> None:
    bot.chat.enqueue(DONE, Chunk(content="late"))
    assert [event["type"] for event in without_comments(events_of(bot))] == ["start", "done"]


def test_the_whole_answer_equals_the_streams_content(bot: LiveServer) -> None:
    """`stream:false`: the same text, sources and usage in one document."""
    script = (SOURCES, Chunk(content="Con "), 0.02, Chunk(content="Stripe\u2028 [1]."), DONE)
    bot.chat.enqueue(*script)
    bot.chat.enqueue(*script)
    events = without_comments(events_of(bot))
    with bot.client() as client:
        reply = client.post("/api/chat", json=question(stream=False))
    body = reply.json()
    assert list(body) == ["content", "sources", "passages", "usage", "conversation_id",
                          "answer_id"]  # fmt: skip
    assert body["content"] == "".join(e["content"] for e in events if e["type"] == "chunk")
    assert body["sources"] == events[1]["documents"]
    assert body["passages"] == events[1]["passages"]
    assert body["usage"] == events[-1]["usage"]
    assert len(body["conversation_id"]) >= 22
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("busy", 503),
        ("restarting", 503),
        ("model-unavailable", 503),
        ("model-loading", 503),
        ("model-interrupted", 503),
        ("model-empty", 503),
        ("model-timeout", 504),
        ("internal-error", 500),
        ("never-heard-of", 500),
    ],
)
def test_a_failed_whole_answer_says_so_in_its_status(
    bot: LiveServer, code: str, status: int
) -> None:
    bot.chat.enqueue(Chunk(content="half"), Failed(code=code, message="Lo siento.", retryable=True))
    with bot.client() as client:
        reply = client.post("/api/chat", json=question(stream=False))
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["detail"] == "Lo siento."
    assert "half" not in reply.text
    assert bot.chat.admitted == 0


def test_the_handler_hands_over_what_the_client_sent(bot: LiveServer) -> None:
    with bot.client() as client:
        first = client.post("/api/chat", json=question(stream=False)).json()
        client.post(
            "/api/chat",
            json={
                "messages": [
                    {"role": "user", "content": "Hola"},
                    {"role": "assistant", "content": "¡Hola!"},
                    {"role": "user", "content": " ¿Qué tal? "},
                ],
                "conversation_id": first["conversation_id"],
                "stream": False,
            },
            headers={"accept-language": "es-ES"},
        )
    ask = bot.chat.asks[-1]
    assert ask.question == "¿Qué tal?"
    assert [(item.role, item.content) for item in ask.history] == [
        ("user", "Hola"),
        ("assistant", "¡Hola!"),
    ]
    assert ask.conversation_id == first["conversation_id"]
    assert ask.browser_language == "es"


def test_sources_of_a_refusal_may_be_empty(bot: LiveServer) -> None:
    bot.chat.enqueue(Sources(documents=(), passages=()), Chunk(content="No lo sé."), DONE)
    with bot.client() as client:
        body = client.post("/api/chat", json=question(stream=False)).json()
    assert (body["sources"], body["passages"]) == ([], [])


def test_small_events_are_not_held_back_by_the_kernel(bot: LiveServer) -> None:
    """Nagle's algorithm would add 40 ms to every reply: thirty requests took 1.3 s with it."""

    async def switched_off() -> list[int]:
        sockets = [each.get_extra_info("socket") for each in bot.transports]
        return [each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in sockets]

    with bot.client() as client:
        client.get("/api/info")
        found = bot.in_loop(switched_off)
    assert found
    assert all(found)
