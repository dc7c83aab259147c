"""A visitor who leaves: the model is free within a second and the next one is served."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from bot.api.timing import Timing
from bot.app import create_app
from bot.chat.admission import Ticket
from bot.chat.events import Chunk, Event
from bot.chat.ports import TextDelta
from bot.chat.service import Ask, ChatService
from corpus.settings import Settings
from tests.fakes import DONE, HANG, SOURCES, FakeModel, ScriptedChat, fake_ports
from tests.live_server import (
    LiveServer,
    question,
    raw_post,
    serve_in_thread,
    serve_scripted,
    wait_until,
)


@pytest.fixture(scope="module")
def running() -> Iterator[LiveServer]:
    with serve_scripted(timing=Timing(heartbeat_seconds=5, stall_seconds=0.5)) as server:
        yield server


@pytest.fixture
def bot(running: LiveServer) -> LiveServer:
    chat: ScriptedChat = running.chat
    chat.scripts.clear()
    assert chat.open_answers == 0
    return running


def connect(bot: LiveServer, body: dict[str, Any]) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", bot.port), timeout=5)
    connection.sendall(raw_post(body))
    return connection


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    received = b""
    while mark not in received:
        piece = connection.recv(4096)
        assert piece, f"closed before {mark!r}: {received!r}"
        received += piece
    return received


def assert_freed(bot: LiveServer, seconds: float = 1.0) -> None:
    wait_until(lambda: bot.chat.open_answers == 0 and bot.chat.admitted == 0, seconds)


def assert_next_is_served(bot: LiveServer) -> None:
    with bot.client() as client:
        assert client.post("/api/chat", json=question(stream=False)).status_code == 200


@pytest.mark.parametrize(
    ("script", "mark"),
    [
        ((HANG,), b'"type":"start"'),
        ((SOURCES, HANG), b'"type":"sources"'),
        ((SOURCES, Chunk(content="one"), HANG), b'"content":"one"'),
    ],
    ids=["before retrieval", "before the first token", "mid-stream"],
)
def test_leaving_a_stream_frees_the_model_within_a_second(
    bot: LiveServer, script: Any, mark: bytes
) -> None:
    """A12, L6."""
    bot.chat.enqueue(*script)
    with connect(bot, question()) as connection:
        read_until(connection, mark)
        assert bot.chat.open_answers == 1
    assert_freed(bot)
    assert_next_is_served(bot)


def test_leaving_while_tokens_flow_frees_the_model(bot: LiveServer) -> None:
    """The generator may be parked at its `yield` when the visitor goes (litestar#3772)."""
    bot.chat.enqueue(
        *[step for _ in range(2000) for step in (Chunk(content="x" * 50), 0.002)], DONE
    )
    with connect(bot, question()) as connection:
        read_until(connection, b'"content":"xxx')
    assert_freed(bot)


def test_leaving_the_queue_gives_the_place_back(bot: LiveServer) -> None:
    """L6: a waiter who leaves never reaches the model; the line moves on."""
    bot.chat.enqueue(Chunk(content="first"), HANG)
    with connect(bot, question()) as first:
        read_until(first, b"first")
        with connect(bot, question()) as second:
            read_until(second, b'"type":"queued","position":1')
            with connect(bot, question()) as third:
                read_until(third, b'"position":2')
                second.close()
                read_until(third, b'"position":1')
                wait_until(lambda: bot.chat.admitted == 2, 1.0)
                first.close()
                read_until(third, b'"type":"done"')
    assert_freed(bot)


@pytest.mark.parametrize("script", [(HANG,), (SOURCES, Chunk(content="a"), HANG)])
def test_leaving_a_whole_answer_frees_the_model_too(bot: LiveServer, script: Any) -> None:
    """Litestar does not cancel a plain handler when its client goes; the handler watches itself."""
    bot.chat.enqueue(*script)
    with connect(bot, question(stream=False)):
        wait_until(lambda: bot.chat.open_answers == 1)
    assert_freed(bot)
    assert_next_is_served(bot)


def test_fifty_visitors_who_leave_at_once_leave_nothing_behind(bot: LiveServer) -> None:
    """A12, in small."""
    for _ in range(50):
        bot.chat.enqueue(HANG)
        connect(bot, question()).close()
    assert_freed(bot, 3.0)
    bot.chat.scripts.clear()

    def served() -> bool:  # some of the fifty may still be on their way in, and busy for a moment
        with bot.client() as client:
            return client.post("/api/chat", json=question(stream=False)).status_code == 200

    wait_until(served)
    assert_freed(bot, 3.0)


class StraightToTheModel(ChatService):
    """The product's own service, without retrieval."""

    def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        return super().answer(replace(ask, use_retrieval=False), ticket)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("script", [(HANG,), (TextDelta(text="one"), HANG)])
def test_the_real_service_lets_go_of_the_model(script: Any, streamed: bool) -> None:
    """A12: the model's generator is closed within a second, before and after its first token."""
    model = FakeModel()
    model.enqueue(*script)
    app = create_app(Settings(), fake_ports(model=model), make_service=StraightToTheModel)
    with serve_in_thread(app) as server:
        with connect(server, question(stream=streamed)):
            wait_until(lambda: model.running == 1)
        wait_until(lambda: model.running == 0, 1.0)
        model.enqueue_text("next")
        with server.client() as client:
            reply = client.post("/api/chat", json=question(stream=False))
        assert reply.json()["content"] == "next"


def test_a_reader_that_stalls_is_dropped_by_the_deadline(bot: LiveServer) -> None:
    """F16: it takes no byte for the whole deadline, so its answer is closed and its place free."""
    bot.chat.enqueue(*[Chunk(content="x" * 60_000) for _ in range(2000)], DONE)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", bot.port))
    with connection:
        connection.sendall(raw_post(question()))
        wait_until(lambda: bot.chat.open_answers == 1)
        began = time.monotonic()
        assert_freed(bot, 5.0)
        assert time.monotonic() - began > 0.3
    assert_next_is_served(bot)


def test_the_bound_of_the_line_is_kept(bot: LiveServer) -> None:
    """L4: one answered, eight waiting, the next refused at once with 503 and Retry-After."""
    bot.chat.enqueue(Chunk(content="first"), HANG)
    connections = [connect(bot, question()) for _ in range(9)]
    try:
        wait_until(lambda: bot.chat.admitted == 9)
        with bot.client() as client:
            refused = client.post("/api/chat", json=question())
        assert refused.status_code == 503
        assert refused.json()["code"] == "busy"
        assert int(refused.headers["retry-after"]) >= 1
    finally:
        for connection in connections:
            connection.close()
    assert_freed(bot, 3.0)
