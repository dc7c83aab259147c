"""Stand-in for the bot behind the real gateway; run inside a container, standard library only.

It answers `/api/info` with what it was sent, so that a test sees which headers passed, and streams
`/api/chat` at the pace that the question's text says: `{"pieces": 3, "gap_seconds": 70}`.
"""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SEEN: list[str] = []
LEFT: list[float] = []
"""When a reader was noticed to have gone, in seconds after its request."""


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with keep-alive, as uvicorn has it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """`/api/info` is an echo, `/api/health` tells what was seen so far."""
        SEEN.append(f"GET {self.path}")
        if self.path.startswith("/api/health"):
            self._json({"seen": SEEN, "left": LEFT})
        else:
            self._json({"peer": self.client_address[0], "headers": self.headers.items()})

    def do_POST(self) -> None:
        """A stream, or with `stream: false` the size of what came."""
        SEEN.append(f"POST {self.path}")
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        wanted = json.loads(body or b"{}")
        if not wanted.get("stream", True):
            self._json({"bytes": len(body)})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        begun = time.monotonic()
        try:
            for number in range(wanted["pieces"]):
                if number:
                    time.sleep(wanted["gap_seconds"])
                self._chunk(f'data: {{"type":"chunk","content":"{number}"}}\n\n'.encode())
            self._chunk(b'data: {"type":"done"}\n\n')
            self._chunk(b"")
        except OSError:
            LEFT.append(time.monotonic() - begun)
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
