"""A real HTTP server that speaks llama-server's embedding protocol, with failures on request.

    with FakeEmbedder() as fake:
        fake.script("nan", times=1)           # the next embeddings request is answered with NaN
        run(settings_with(fake.url), ...)
        assert fake.passages == [...]         # texts embedded, without the probe

Vectors are deterministic: a bag of hashed words, so texts that share words are near each other.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import threading
import time
from collections import deque
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.model import PROBE_TEXT
from corpus.text import words

Failure = Literal[
    "null", "nan", "zeros", "wrong-dimension", "shuffled", "duplicate-index", "missing-one",
    "too-large", "413", "422", "500", "503", "not-json", "close", "hang",
]  # fmt: skip
TOKEN = re.compile(r"\w{1,6}|[^\w\s]")


class Request(NamedTuple):
    """One request as it came in."""

    route: str
    body: dict[str, Any]


class FakeEmbedder:
    """Start with `with`; the server stops at the end of the block."""

    def __init__(
        self,
        *,
        dimension: int = 384,
        seed: str = "model-a",
        max_batch: int | None = None,
        max_tokens: int | None = None,
        delay_seconds: float = 0.0,
        tokenizes: bool = True,
    ) -> None:
        self.dimension = dimension
        self.seed = seed
        """Another seed is another model: same dimension, other vectors."""
        self.max_batch = max_batch
        """More inputs than this are answered with 500 (or the status in `batch_status`)."""
        self.batch_status = 500
        self.max_tokens = max_tokens
        """A longer input is refused as llama-server does: 500 `too large to process`."""
        self.delay_seconds = delay_seconds
        self.tokenizes = tokenizes
        self.go_on = threading.Event()
        """While it is cleared, embeddings requests wait for it."""
        self.go_on.set()
        self.requests: list[Request] = []
        self.down = False
        """True answers 503 on every route, as a server that is loading its model."""
        self._failures: deque[Failure] = deque()
        self._always: Failure | None = None
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def url(self) -> str:
        """Base address, `http://127.0.0.1:…`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def passages(self) -> list[str]:
        """Every text sent to be embedded so far, without the probe."""
        return [text for text in self._inputs() if text != PROBE_TEXT]

    @property
    def batch_sizes(self) -> list[int]:
        """Inputs of each embeddings request so far."""
        return [len(r.body["input"]) for r in self.requests if r.route == "/v1/embeddings"]

    def script(self, failure: Failure, *, times: int | None = 1, after: int = 0) -> None:
        """Answer embeddings requests with `failure`: the next `times`, or always with None.

        The first `after` of them are still answered well (the probe is one of them).
        """
        self._failures.clear()
        self._always = None
        self._failures.extend(["ok"] * after)  # type: ignore[list-item]
        if times is None:
            self._always = failure
        else:
            self._failures.extend([failure] * times)

    def forget(self) -> None:
        """Empty the record of requests and the script."""
        self.requests.clear()
        self._failures.clear()
        self._always = None

    def vector(self, text: str) -> list[float]:
        """The vector this model gives `text`, not scaled."""
        total = sum(_word_vector(self.seed, word, self.dimension) for word in [text, *words(text)])
        return [float(value) for value in np.asarray(total)]

    def tokens(self, text: str) -> int:
        """How many tokens `/tokenize` says a text has: pieces of up to six letters."""
        return len(TOKEN.findall(text))

    def __enter__(self) -> FakeEmbedder:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _inputs(self) -> list[str]:
        batches = [r.body["input"] for r in self.requests if r.route == "/v1/embeddings"]
        return list(itertools.chain.from_iterable(batches))

    def answer(self, route: str, body: dict[str, Any]) -> tuple[int, bytes] | None:
        """Status and body of the answer; None closes the connection without one."""
        self.requests.append(Request(route, body))
        if self.down:
            return 503, b'{"error":{"message":"Loading model","code":503}}'
        if route == "/health":
            return 200, b'{"status":"ok"}'
        if route == "/tokenize" and self.tokenizes:
            return 200, json.dumps({"tokens": [1] * self.tokens(body["content"])}).encode()
        if route != "/v1/embeddings":
            return 404, b'{"error":{"message":"File Not Found","code":404}}'
        self.go_on.wait()
        time.sleep(self.delay_seconds)
        failure = self._failures.popleft() if self._failures else self._always
        return self._embeddings(body["input"], failure)

    def _embeddings(self, texts: list[str], failure: str | None) -> tuple[int, bytes] | None:
        if failure == "close":
            return None
        if failure == "hang":
            self._released.wait()
            return None
        if failure == "not-json":
            return 200, b"<html>proxy</html>"
        if failure in ("413", "422", "500", "503"):
            return int(failure), b'{"error":{"message":"refused"}}'
        longest = max(map(self.tokens, texts))
        if failure == "too-large" or (self.max_tokens and longest > self.max_tokens):
            message = f"input ({longest} tokens) is too large to process. increase the physical batch size"
            return 500, json.dumps({"error": {"code": 500, "message": message}}).encode()
        if self.max_batch and len(texts) > self.max_batch:
            return self.batch_status, b'{"error":{"message":"too many inputs"}}'
        data = [{"index": i, "embedding": self.vector(text)} for i, text in enumerate(texts)]
        _spoil(data, failure)
        # NaN is what Python's encoder writes too; llama-server writes null for it
        return 200, json.dumps({"object": "list", "data": data}).encode()


@lru_cache(maxsize=4096)
def _word_vector(seed: str, word: str, dimension: int) -> npt.NDArray[np.float64]:
    """Numbers in -1..1 cut from a hash of the word."""
    stream = hashlib.shake_128(f"{seed}\0{word}".encode()).digest(2 * dimension)
    return np.frombuffer(stream, "<i2") / 32768.0


def _spoil(data: list[dict[str, Any]], failure: str | None) -> None:
    last: list[Any] = data[-1]["embedding"]
    match failure:
        case "null":
            last[0] = None
        case "nan":
            last[0] = float("nan")
        case "zeros":
            last[:] = [0.0] * len(last)
        case "wrong-dimension":
            last.append(0.5)
        case "shuffled":
            data.reverse()
        case "duplicate-index":
            data[-1]["index"] = 0
            if len(data) == 1:
                data.append(dict(data[0]))
        case "missing-one":
            data.pop()
        case _:
            pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    fake: FakeEmbedder

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle (kill -9) is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._respond({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        self._respond(json.loads(self.rfile.read(length)))

    def _respond(self, body: dict[str, Any]) -> None:
        answer = self.server.fake.answer(self.path, body)
        if answer is None:
            self.close_connection = True
            return
        status, content = answer
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""
