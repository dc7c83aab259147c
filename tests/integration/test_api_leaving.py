"""A visitor who leaves: the model is free at once and the next one is served."""

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
from bot.chat.ports.model import Finished, TextDelta
from bot.chat.service import Ask, ChatService
from corpus.settings import Settings
from tests.fakes import DONE, HANG, SOURCES, FakeModel, Gate, ScriptedChat, fake_ports
from tests.live_server import (
    LiveServer,
    question,
    raw_post,
    serve_in_thread,
    serve_scripted,
)
from tests.patience import PATIENCE_SECONDS, wait_until

FINISHED = Finished(finish_reason="stop", input_tokens=10, output_tokens=2)
# Far beyond the patience of `assert_freed`: nothing that is sent may be what tells that a visitor
# has gone. A stall short enough to wait for, and longer than a busy machine's pauses on loopback.
TIMING = Timing(heartbeat_seconds=600, stall_seconds=0.5)


@pytest.fixture(scope="module")
def running() -> Iterator[LiveServer]:
    with serve_scripted(timing=TIMING, trusted_proxies=("127.0.0.1",)) as server:
        yield server


@pytest.fixture
def bot(running: LiveServer) -> LiveServer:
    chat: ScriptedChat = running.chat
    chat.scripts.clear()
    assert chat.open_answers == 0
    return running


def connect(bot: LiveServer, body: dict[str, Any], address: str = "198.51.100.1") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", bot.port), timeout=PATIENCE_SECONDS)
    connection.sendall(raw_post(body, headers=[f"X-Forwarded-For: {address}"]))
    return connection


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    received = b""
    while mark not in received:
        piece = connection.recv(4096)
        assert piece, f"closed before {mark!r}: {received!r}"
        received += piece
    return received


def assert_freed(bot: LiveServer) -> None:
    """On a quiet machine within 20 ms; what is not told of the leaving holds on for ever."""
    wait_until(lambda: bot.chat.open_answers == 0 and bot.chat.admitted == 0)


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
def test_leaving_a_stream_frees_the_model_at_once(
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
    # Two minutes of tokens: the answer doesn't end by itself while `assert_freed` waits.
    bot.chat.enqueue(
        *[step for _ in range(60_000) for step in (Chunk(content="x" * 50), 0.002)], DONE
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
                wait_until(lambda: bot.chat.admitted == 2)
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
    assert_freed(bot)
    bot.chat.scripts.clear()

    def served() -> bool:  # some of the fifty may still be on their way in, and busy for a moment
        with bot.client() as client:
            return client.post("/api/chat", json=question(stream=False)).status_code == 200

    wait_until(served)
    assert_freed(bot)


class StraightToTheModel(ChatService):
    """The product's own service, without retrieval."""

    def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        return super().answer(replace(ask, use_retrieval=False), ticket)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("script", [(HANG,), (TextDelta(text="one"), HANG)])
def test_the_real_service_lets_go_of_the_model(script: Any, streamed: bool) -> None:
    """A12: the model's generator is closed at once, before and after its first token."""
    model = FakeModel()
    model.enqueue(*script)
    app = create_app(
        Settings(), fake_ports(model=model), make_service=StraightToTheModel, timing=TIMING
    )
    with serve_in_thread(app) as server:
        with connect(server, question(stream=streamed)):
            wait_until(lambda: model.running == 1)
        wait_until(lambda: model.running == 0)
        model.enqueue_text("next")
        with server.client() as client:
            reply = client.post("/api/chat", json=question(stream=False))
        assert reply.json()["content"] == "next"


def test_who_leaves_the_line_never_reaches_the_model() -> None:
    """L6: nothing is evaluated for nobody, and who stays behind is the next."""
    model = FakeModel()
    gate = Gate()
    model.enqueue(TextDelta(text="first"), gate, TextDelta(text=" over"), FINISHED)
    model.enqueue_text("third")
    app = create_app(
        Settings(), fake_ports(model=model), make_service=StraightToTheModel, timing=TIMING
    )
    with serve_in_thread(app) as server:
        admission = server.chat._admission
        with connect(server, question("one?")) as first:
            read_until(first, b"first")
            with connect(server, question("two?")) as second:
                read_until(second, b'"type":"queued","position":1')
                with connect(server, question("three?")) as third:
                    read_until(third, b'"position":2')
                    second.close()
                    read_until(third, b'"position":1')
                    wait_until(lambda: admission.admitted == 2)
                    gate.open()
                    read_until(first, b'"type":"done"')
                    read_until(third, b'"type":"done"')
        wait_until(lambda: admission.admitted == 0)
    asked = [prompt[-1].content.split("\n")[0] for prompt in model.prompts]
    assert asked == ["one?", "three?"]


def test_a_reader_that_stalls_is_dropped_by_the_deadline(bot: LiveServer) -> None:
    """F16: it takes no byte for the whole deadline, so its answer is closed and its place free."""
    bot.chat.enqueue(*[Chunk(content="x" * 60_000) for _ in range(2000)], DONE)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", bot.port))
    with connection:
        began = time.monotonic()
        connection.sendall(raw_post(question()))
        wait_until(lambda: bot.chat.open_answers == 1)
        assert_freed(bot)
        assert time.monotonic() - began >= TIMING.stall_seconds
    assert_next_is_served(bot)


def test_the_bound_of_the_line_is_kept(bot: LiveServer) -> None:
    """L4: one answered, eight waiting, the next refused at once with 503 and Retry-After."""
    bot.chat.enqueue(Chunk(content="first"), HANG)
    connections = [connect(bot, question(), f"198.51.100.{n}") for n in range(1, 10)]
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
    assert_freed(bot)


@pytest.mark.parametrize(
    ("spelling", "another"),
    [
        ("198.51.100.{n}", "203.0.113.1"),
        ("2001:db8:0:1::{n}", "2001:db8:0:2::1"),
    ],
    ids=["each IPv4 address", "each IPv6 /64"],
)
def test_one_visitor_takes_a_quarter_of_the_line_and_others_still_find_a_place(
    bot: LiveServer, spelling: str, another: str
) -> None:
    """L5: one answered and two waiting; a network of IPv6 is one visitor whatever it calls itself."""
    addresses = [spelling.format(n=n if ":" in spelling else 1) for n in range(1, 5)]
    bot.chat.enqueue(Chunk(content="first"), HANG)
    connections = [connect(bot, question(), addresses[0])]
    try:
        read_until(connections[0], b"first")
        for address in addresses[1:3]:
            connections.append(connect(bot, question(), address))
            read_until(connections[-1], b'"type":"queued"')
        with bot.client(headers={"x-forwarded-for": addresses[3]}) as client:
            refused = client.post("/api/chat", json=question())
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        connections.append(connect(bot, question(), another))
        read_until(connections[-1], b'"type":"queued","position":1')
    finally:
        for connection in connections:
            connection.close()
    assert_freed(bot)
