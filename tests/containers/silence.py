"""Waits that cost no CPU: begun with the rig, looked at by their tests when the others have run.

Sat out one after the other they took 85 s of a run.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from tests.containers.gateway_rig import GatewayRig, curl
from tests.containers.stack import eventually
from tests.sse_client import read_sse

LONG_SILENCE_SECONDS = 70
LAST_WAIT_SECONDS = 180.0
SLOW = {
    "header": b"GET /api/info HTTP/1.1\r\nHost: a\r\nX-Slow: ",
    "body": b"POST /api/chat HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
}
"""Beginnings of requests whose rest never comes."""
REACH_THE_BOT = 3
"""Both streams, and the request whose body never comes: Caddy passes bodies on as they arrive."""

T = TypeVar("T")


@dataclass(frozen=True)
class Silence:
    """Two streams of two pieces with a long silence between them, and requests that never end."""

    http1: Future[tuple[list[dict[str, Any]], float]]
    """The events, and the seconds from the question to the last."""
    http2: Future[str]
    """What curl printed, the version of HTTP last."""
    cut: dict[str, Future[float]]
    """By kind of request: the seconds until the gateway closed the connection."""


def begin_silence(rig: GatewayRig) -> Silence:
    """Begin all of them. What the stand-in sees of them it has seen when this returns."""
    silence = Silence(
        begin(lambda: over_http1(rig)),
        begin(lambda: over_http2(rig)),
        {name: begin(lambda sent=sent: until_cut(rig, sent)) for name, sent in SLOW.items()},  # type: ignore[misc]
    )
    eventually(lambda: posts_seen(rig) == REACH_THE_BOT, "the requests at the stand-in")
    return silence


def begin(work: Callable[[], T]) -> Future[T]:
    """Do it in a daemon thread: a run that is stopped, or has no test for it, does not wait for it."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:  # raised in the test that asks for the result
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done


def posts_seen(rig: GatewayRig) -> int:
    """Questions that have reached the stand-in for the bot."""
    seen: list[str] = httpx.get(f"{rig.url}/api/health").json()["seen"]
    return seen.count("POST /api/chat")


def over_http1(rig: GatewayRig) -> tuple[list[dict[str, Any]], float]:
    """The stream without TLS."""
    body = {"pieces": 2, "gap_seconds": LONG_SILENCE_SECONDS}
    begun = time.monotonic()
    with httpx.stream("POST", f"{rig.url}/api/chat", json=body, timeout=LAST_WAIT_SECONDS) as reply:
        events = list(read_sse(reply.iter_raw()))
    return events, time.monotonic() - begun


def over_http2(rig: GatewayRig) -> str:
    """The same over TLS."""
    body = json.dumps({"pieces": 2, "gap_seconds": LONG_SILENCE_SECONDS})
    options = ("--http2", "--data", body, "--write-out", "version %{http_version}")
    return curl(rig, "/api/chat", *options)


def until_cut(rig: GatewayRig, sent: bytes) -> float:
    """Without its limits Caddy would hold such a connection for ever; the seconds that it did."""
    with socket.create_connection(("127.0.0.1", rig.port), timeout=60) as connection:
        connection.sendall(sent)
        begun = time.monotonic()
        while connection.recv(4096):
            pass
    return time.monotonic() - begun
