"""A small server for the widget's tests: host pages, the widget's files, and answers played byte by byte."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parents[2] / "services/gateway/site"
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}
INFO = {
    "name": "Marea",
    "model": "qwen2.5-1.5b-instruct",
    "persona": "Marea",
    "topics": {"en": ["projects", "posts"], "es": ["proyectos", "artículos"]},
    "languages": ["en", "es"],
    "suggested_questions": {"en": ["What do you build?"], "es": ["¿Qué hacéis?"]},
}
Step = bytes | float | threading.Event
"""Bytes are sent as they are, a number is a pause in seconds, an event is waited for."""


def passage(n: int = 1, **other: Any) -> dict[str, Any]:
    """A passage of a `sources` event."""
    return {
        "n": n,
        "title": "Clothes shop",
        "section": "Payments",
        "url": "/projects/clothes-shop#payments",
        "lang": "en",
        "kind": "project",
        "quote": "Payments go through Stripe, with cards and Bizum.",
        **other,
    }


def event(kind: str, **fields: Any) -> bytes:
    """One event, as the bot writes it."""
    return b"data: " + json.dumps({"type": kind, **fields}, ensure_ascii=False).encode() + b"\n\n"


def sources(*passages: dict[str, Any]) -> bytes:
    """A `sources` event."""
    return event("sources", documents=["a.md"], passages=list(passages or [passage()]))


def chunks(*pieces: str) -> bytes:
    """One `chunk` event a piece."""
    return b"".join(event("chunk", content=piece) for piece in pieces)


def done(route: str = "answer", **fields: Any) -> bytes:
    """The last event of a good stream."""
    usage = {"input_tokens": 100, "output_tokens": 2}
    return event("done", usage=usage, finish_reason="stop", route=route, timings={}, **fields)


START = event("start", conversation_id="c" * 32)


def answer(*pieces: str, route: str = "answer") -> bytes:
    """A whole good stream."""
    return START + sources() + chunks(*pieces) + done(route)


class Stage:
    """What the server plays and what it saw."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, dict[str, str]]] = {}
        self.scripts: deque[Sequence[Step]] = deque()
        self.replies: deque[tuple[int, dict[str, str], bytes]] = deque()
        """Refusals: status, headers, body; played before any script."""
        self.info: dict[str, Any] | None = dict(INFO)
        self.asked: list[dict[str, Any]] = []
        self.feedback: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.cookies: list[str] = []
        self.left = threading.Event()
        """Set when a client closed the connection before its answer ended."""
        self.closing = threading.Event()
        self.origin = ""

    def play(self, *steps: Step) -> None:
        """The next question gets this."""
        self.scripts.append(steps)

    def refuse(
        self, status: int, code: str, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        """The next question is refused with a problem document."""
        problem = {"type": "about:blank", "title": code, "status": status, "code": code, **more}
        self.replies.append((status, headers or {}, json.dumps(problem).encode()))

    def host(
        self, body: str = "", *, path: str = "/", policy: str | None = STRICT, head: str = ""
    ) -> str:
        """Put a page at `path`; its address."""
        headers = {"Content-Security-Policy": policy} if policy else {}
        start = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title>'
        html = f"{start}{head}</head><body>{body}</body></html>"
        self.pages[path] = (html, headers)
        return self.origin + path

    def forget(self) -> None:
        """Begin anew for another test."""
        self.pages.clear()
        self.scripts.clear()
        self.replies.clear()
        self.info = dict(INFO)
        for seen in (self.asked, self.feedback, self.paths, self.cookies):
            seen.clear()
        self.left.clear()


class _Handler(BaseHTTPRequestHandler):
    stage: Stage

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def _send(
        self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        stage, path = self.stage, self.path.split("?")[0]
        stage.paths.append(path)
        stage.cookies.extend(self.headers.get_all("Cookie") or [])
        file = SITE / path.lstrip("/")
        if path in stage.pages:
            html, headers = stage.pages[path]
            self._send(200, html.encode(), "text/html", headers)
        elif path == "/api/info" and stage.info is not None:
            self._send(200, json.dumps(stage.info).encode(), "application/json")
        elif path != "/" and file.parent == SITE and file.is_file():
            self._send(200, file.read_bytes(), TYPES[file.suffix])
        else:
            self._send(404, b"", "text/plain")

    def do_POST(self) -> None:
        stage = self.stage
        stage.paths.append(self.path)
        stage.cookies.extend(self.headers.get_all("Cookie") or [])
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/feedback":
            stage.feedback.append(body)
            self._send(204, b"", "text/plain")
            return
        stage.asked.append(body)
        if stage.replies:
            status, headers, problem = stage.replies.popleft()
            self._send(status, problem, "application/problem+json", headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for step in stage.scripts.popleft() if stage.scripts else (answer("Con Stripe [1]."),):
                if not self._played(step):
                    stage.left.set()
                    return
        except OSError:
            stage.left.set()

    def _played(self, step: Step) -> bool:
        if isinstance(step, bytes):
            self.wfile.write(step)
            return True
        waited = step if isinstance(step, threading.Event) else threading.Event()
        rounds = int(step / 0.01) if isinstance(step, float) else 2000
        for _ in range(rounds):
            if waited.wait(0.01) or self.stage.closing.is_set():
                return True
            if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(
                1, socket.MSG_PEEK
            ):
                return False
        return True


@contextmanager
def running_stage() -> Iterator[Stage]:
    """A stage on a free port until the block ends."""
    stage = Stage()
    handler = type("Handler", (_Handler,), {"stage": stage})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    stage.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield stage
    finally:
        stage.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
