"""A bot that notes what reaches it and answers as it is told: what a proxy lets through, byte by byte."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Recorder:
    """What was asked, and the one answer to everything."""

    url: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    """Method, path, headers by lower-case name, body."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"

    def answers(self, status: int, body: bytes = b"{}", **headers: str) -> None:
        """From now on; `_` in a header's name stands for `-`."""
        self.asked.clear()
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def recording() -> Iterator[Recorder]:
    """A recorder on a free port until the block ends."""
    recorder = Recorder()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            recorder.asked.append((self.command, self.path, headers, body))
            self.send_response(recorder.status)
            for name, value in recorder.headers.items():
                self.send_header(name, value)
            if recorder.status != 204:
                self.send_header("Content-Length", str(len(recorder.body)))
            self.end_headers()
            if recorder.status != 204:
                self.wfile.write(recorder.body)

        do_GET = do_POST = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recorder.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
