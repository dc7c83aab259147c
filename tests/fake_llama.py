"""A llama-server made of sockets: real HTTP, the real wire format, answers from a script.

Modelled on a recorded stream of llama.cpp build 11434 (tests/data/llama_stream.http): role delta,
`prompt_progress` chunks with `content: null`, text deltas, the finish chunk, then the usage chunk
with `choices: []` and `timings`, `data: [DONE]`, all in chunked transfer coding; errors close the
connection, good answers keep it.

    with FakeLlama() as fake:
        fake.enqueue(Reply(text=("Hola", " mundo")), Reply(status=500))
        ...  # talk to fake.url
        assert fake.requests[0]["stream"] is True

With `slot=FakeSlot(folder)` it keeps the tokens of its slot, counts what is reused, and has the slot
API (tests/fake_slots.py).

Nothing sleeps: a reply with `hold` waits for its `gate` and notices a client that leaves.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.fake_slots import FakeSlot, ServerDied

LOADING = {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
KEEP_ALIVE = b"Keep-Alive: timeout=5, max=100\r\n"
POLL_SECONDS = 0.01


def overflow_body(prompt_tokens: int, window: int) -> bytes:
    """Body of the 400 that llama-server sends for a prompt larger than its window."""
    message = (
        f"request ({prompt_tokens} tokens) exceeds the available context size ({window} tokens), "
        "try increasing it"
    )
    error = {
        "code": 400,
        "message": message,
        "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt_tokens,
        "n_ctx": window,
    }
    return _json({"error": error})


@dataclass(kw_only=True)
class Reply:
    """One answer of `/v1/chat/completions`; embeddings use `status`, `body`, `drop` and `hold`."""

    text: Sequence[str] = ("Hello", " world", ".")
    reasoning: Sequence[str] = ()
    """`reasoning_content` deltas before the text."""
    progress: Sequence[tuple[int, int]] = ((0, 12), (12, 12))
    """(processed, total) prompt tokens, one chunk each; sent only if the request asks for them."""
    finish_reason: Literal["stop", "length"] | None = "stop"
    """None ends the stream after the text, without finish chunk, usage and [DONE]."""
    done: bool = True
    """False leaves out `data: [DONE]`."""
    cached_tokens: int = 0
    prompt_tokens: int = 12
    output_tokens: int | None = None
    """None: one for each piece of text."""
    error: dict[str, Any] | None = None
    """Sent as `data: {"error": …}` after the text, instead of the end."""
    status: int = 200
    body: bytes | None = None
    """With another status than 200 (or alone): a plain answer instead of a stream."""
    raw: bytes | None = None
    """Exactly these bytes as the stream's content."""
    split_every: int | None = None
    """Send so many bytes at a time, each in its own transfer chunk."""
    cut_after: int | None = None
    """Drop the connection after so many bytes of content."""
    drop: bool = False
    """Read the request, then drop the connection without a byte."""
    hold: Literal["headers", "prompt"] | int | None = None
    """Wait for `gate`: before the headers, before the first word, or after so many pieces."""
    gate: threading.Event = field(default_factory=threading.Event)
    pause_seconds: float = 0.0
    """Between pieces of text, for load tests that need a real tempo."""


class FakeLlama:
    """The server, one thread a connection. Use it as a context manager."""

    def __init__(
        self, *, model: str = "fake-model", dimension: int = 384, slot: FakeSlot | None = None
    ) -> None:
        """Without a `slot`, counts come from the replies, and there is no slot API."""
        self.model = model
        self.slot = slot
        self.requests: list[dict[str, Any]] = []
        """Bodies of the chat requests, in order."""
        self.embedding_requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        """`POST /v1/chat/completions` and so on, in order."""
        self.loading = False
        """True: 503 «Loading model» on every path, as while the weights load."""
        self.health_gate: threading.Event | None = None
        """Where set, `/health` hangs until the event is."""
        self.connections = 0
        """Accepted so far."""
        self.pieces = 0
        """Evaluations of a prefix, piece by piece."""
        self.open_streams = 0
        """Chat answers being written now."""
        self.aborted = 0
        """Chat answers whose client left before the end."""
        self.vector_of: Callable[[str], Sequence[Any]] = lambda text: word_vector(text, dimension)
        """Vector of an embedding input; replace it to be another model."""
        self._replies: deque[Reply] = deque()
        self._prefix_replies: deque[Reply] = deque()
        self._embedding_replies: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Base address, as `providers[].endpoint` wants it."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> FakeLlama:
        self._spawn(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, drop every connection, end every thread."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)
        self._listener.close()

    def enqueue(self, *replies: Reply) -> None:
        """Script the next chat answers; without any, `Reply()` is given."""
        self._replies.extend(replies)

    def enqueue_prefix(self, *replies: Reply) -> None:
        """Script the next pieces of a prefix (`status` and `body`, `drop`, `hold`)."""
        self._prefix_replies.extend(replies)

    def enqueue_embedding(self, *replies: Reply) -> None:
        """Script the next embedding answers (`status` and `body`, `drop`, `hold="headers"`)."""
        self._embedding_replies.extend(replies)

    def wait_until(self, condition: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Whether `condition` came true in time (for `open_streams`, `aborted`, `requests`)."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def _spawn(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            readable, _, _ = select.select([self._listener], [], [], POLL_SECONDS)
            if readable:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                self._spawn(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            buffered = b""
            while True:
                try:
                    request = self._read_request(connection, buffered)
                    if request is None:
                        return
                    method, path, body, buffered = request
                    self.paths.append(f"{method} {path}")
                    if not self._answer(connection, path, body):
                        return
                except _ClientLeft:
                    return
                except OSError:
                    return

    def _read_request(
        self, connection: socket.socket, buffered: bytes
    ) -> tuple[str, str, bytes, bytes] | None:
        while b"\r\n\r\n" not in buffered:
            piece = self._receive(connection)
            if not piece:
                return None
            buffered += piece
        head, _, rest = buffered.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ", 2)
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            piece = self._receive(connection)
            if not piece:
                return None
            rest += piece
        return method, path, rest[:length], rest[length:]

    def _receive(self, connection: socket.socket) -> bytes:
        while not self._stopping.is_set():
            readable, _, _ = select.select([connection], [], [], POLL_SECONDS)
            if readable:
                return connection.recv(65536)
        return b""

    def _answer(self, connection: socket.socket, path: str, body: bytes) -> bool:
        """Answer one request; False when the connection is to be closed."""
        route = path.partition("?")[0]
        if route == "/health" and self.health_gate is not None:
            self._hold(connection, self.health_gate)
        if self.loading:
            return _plain(connection, 503, _json(LOADING))
        if route == "/health":
            return _plain(connection, 200, b'{"status":"ok"}')
        if self.slot is not None and (answered := self._slot(connection, self.slot, path, body)):
            return answered == "kept"
        if route.startswith("/slots/"):
            return _plain(connection, 501, _json(server_error("not supported", 501)))
        if route == "/props":
            props = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}
            return _plain(connection, 200, _json({**props, "model_path": self.model}))
        if route == "/tokenize":
            count = len(json.loads(body)["content"].split())
            return _plain(connection, 200, _json({"tokens": list(range(count))}))
        if route == "/v1/chat/completions":
            return self._chat(connection, json.loads(body))
        if route == "/v1/embeddings":
            return self._embed(connection, json.loads(body))
        error = {"code": 404, "message": "File Not Found", "type": "not_found_error"}
        return _plain(connection, 404, _json({"error": error}))

    def _slot(
        self, connection: socket.socket, slot: FakeSlot, path: str, body: bytes
    ) -> Literal["kept", "closed", None]:
        """Answer what concerns the slot; None: nothing of that."""
        route, _, query = path.partition("?")
        document: dict[str, Any]
        status = 200
        if route == "/props":
            document = slot.props()
        elif route == "/v1/models":
            document = slot.models()
        elif route == "/apply-template":
            document = {"prompt": slot.templated(json.loads(body))}
        elif route == "/tokenize":
            document = {"tokens": slot.tokens(json.loads(body)["content"])}
        elif route == "/completion":
            request = json.loads(body)
            if not isinstance(request["prompt"], str):
                return "kept" if self._prefix(connection, slot, request) else "closed"
            document = slot.completion()
        elif route.startswith("/slots/"):
            if slot.hold is not None:
                self._hold(connection, slot.hold)
            filename = json.loads(body or b"{}").get("filename", "")
            try:
                status, document = slot.act(query.removeprefix("action="), filename)
            except ServerDied:
                return "closed"
        else:
            return None
        return "kept" if _plain(connection, status, _json(document)) else "closed"

    def _prefix(self, connection: socket.socket, slot: FakeSlot, request: dict[str, Any]) -> bool:
        """Evaluate tokens; a script's `hold` comes before its answer, `status` and `drop` instead."""
        with self._lock:
            self.pieces += 1
            reply = self._prefix_replies.popleft() if self._prefix_replies else Reply()
            slot.take(request["prompt"])
        with self._being_answered():
            if reply.hold is not None:
                self._hold(connection, reply.gate)
            if reply.drop:
                return False
            body = reply.body or _json({"tokens_evaluated": len(request["prompt"])})
            return _plain(connection, reply.status, body)

    def _chat(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        with self._lock:
            self.requests.append(request)
            reply = self._replies.popleft() if self._replies else Reply()
            if self.slot is not None:
                cached, total = self.slot.evaluate(request)
                self.slot.words += "".join(reply.text).split()
                reply = replace(
                    reply, cached_tokens=cached, prompt_tokens=total,
                    progress=((cached, total), (total, total)),
                )  # fmt: skip
        with self._being_answered():
            return self._reply(connection, request, reply)

    @contextmanager
    def _being_answered(self) -> Iterator[None]:
        """Counts who is answered, and who left before the end."""
        with self._lock:
            self.open_streams += 1
        try:
            yield
        except (_ClientLeft, OSError):
            with self._lock:
                self.aborted += 1
            raise
        finally:
            with self._lock:
                self.open_streams -= 1

    def _reply(self, connection: socket.socket, request: dict[str, Any], reply: Reply) -> bool:
        if reply.drop:
            return False
        if reply.hold == "headers":
            self._hold(connection, reply.gate)
        if reply.status != 200 or reply.body is not None:
            body = reply.body or _json(server_error("Compute error."))
            return _plain(connection, reply.status, body)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nAccess-Control-Allow-Origin: \r\n"
            b"X-Accel-Buffering: no\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n" + KEEP_ALIVE + b"\r\n"
        )
        sent = 0
        for content in self._pieces(connection, request, reply):
            step = reply.split_every or len(content) or 1
            for start in range(0, len(content), step):
                piece = content[start : start + step]
                if reply.cut_after is not None and sent + len(piece) > reply.cut_after:
                    piece = piece[: reply.cut_after - sent]
                    connection.sendall(_chunk(piece) if piece else b"")
                    return False
                self._check_client(connection)
                connection.sendall(_chunk(piece))
                sent += len(piece)
        connection.sendall(b"0\r\n\r\n")
        return True

    def _pieces(
        self, connection: socket.socket, request: dict[str, Any], reply: Reply
    ) -> Iterator[bytes]:
        if reply.raw is not None:
            yield reply.raw
            return
        if request.get("return_progress"):
            for processed, total in reply.progress:
                counters = {"total": total, "cache": reply.cached_tokens, "processed": processed}
                yield self._frame({"role": "assistant", "content": None}, progress=counters)
        if reply.hold == "prompt":
            self._hold(connection, reply.gate)
        opening = self._frame({"role": "assistant", "content": None})
        for piece in reply.reasoning:
            yield opening + self._frame({"reasoning_content": piece})
            opening = b""
        for number, piece in enumerate(reply.text):
            if reply.hold == number:
                self._hold(connection, reply.gate)
            if number and reply.pause_seconds and self._stopping.wait(reply.pause_seconds):
                raise _ClientLeft
            yield opening + self._frame({"content": piece})
            opening = b""
        if reply.hold == len(reply.text):
            self._hold(connection, reply.gate)
        if reply.error is not None:
            yield b"data: " + _json({"error": reply.error}) + b"\n\n"
        elif reply.finish_reason is not None:
            yield opening + self._frame({}, reply.finish_reason) + self._usage(request, reply)
            if reply.done:
                yield b"data: [DONE]\n\n"

    def _frame(
        self,
        delta: dict[str, Any],
        finish_reason: str | None = None,
        progress: dict[str, int] | None = None,
    ) -> bytes:
        choice = {"finish_reason": finish_reason, "index": 0, "delta": delta}
        chunk: dict[str, Any] = {"choices": [choice], **self._constants()}
        if progress is not None:
            chunk["prompt_progress"] = {**progress, "time_ms": 7}
        return b"data: " + _json(chunk) + b"\n\n"

    def _usage(self, request: dict[str, Any], reply: Reply) -> bytes:
        output = len(reply.text) if reply.output_tokens is None else reply.output_tokens
        if not (request.get("stream_options") or {}).get("include_usage"):
            return b""
        usage = {
            "completion_tokens": output,
            "prompt_tokens": reply.prompt_tokens,
            "total_tokens": output + reply.prompt_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        }
        timings = {
            "cache_n": reply.cached_tokens,
            "prompt_n": reply.prompt_tokens - reply.cached_tokens,
            "prompt_ms": 7.5,
            "predicted_n": output,
            "predicted_ms": 12.25,
        }
        chunk = {"choices": [], **self._constants(), "usage": usage, "timings": timings}
        return b"data: " + _json(chunk) + b"\n\n"

    def _constants(self) -> dict[str, Any]:
        return {
            "created": 1796030388,
            "id": "chatcmpl-9nhr8apj1gEsPWXmsLwOaIagrNB45SfC",
            "model": self.model,
            "system_fingerprint": "b0-unknown",
            "object": "chat.completion.chunk",
        }

    def _embed(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        with self._lock:
            self.embedding_requests.append(request)
            reply = self._embedding_replies.popleft() if self._embedding_replies else None
        if reply is not None:
            if reply.drop:
                return False
            if reply.hold == "headers":
                self._hold(connection, reply.gate)
            if reply.status != 200 or reply.body is not None:
                return _plain(connection, reply.status, reply.body or _json(server_error("down")))
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        data = [
            {"embedding": list(self.vector_of(text)), "index": index, "object": "embedding"}
            for index, text in enumerate(texts)
        ]
        return _plain(connection, 200, _json({"model": self.model, "object": "list", "data": data}))

    def _hold(self, connection: socket.socket, gate: threading.Event) -> None:
        while not gate.wait(POLL_SECONDS):
            self._check_client(connection)

    def _check_client(self, connection: socket.socket) -> None:
        """Raise where the client has closed its side, as llama-server's `should_stop` notices."""
        if self._stopping.is_set():
            raise _ClientLeft
        readable, _, _ = select.select([connection], [], [], 0)
        if readable and not connection.recv(1, socket.MSG_PEEK):
            raise _ClientLeft


class _ClientLeft(Exception):
    """The client closed the connection, or the server stops."""


def server_error(message: str, code: int = 500) -> dict[str, Any]:
    """An error document in llama-server's form."""
    return {"error": {"code": code, "message": message, "type": "server_error"}}


def word_vector(text: str, dimension: int) -> list[float]:
    """A deterministic bag of words: texts that share words have a higher cosine."""
    vector = [0.0] * dimension
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % dimension] += 1.0
    return vector


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


def _plain(connection: socket.socket, status: int, body: bytes) -> bool:
    reason = {200: "OK", 400: "Bad Request", 503: "Service Unavailable"}.get(status, "Error")
    keep = status == 200
    connection.sendall(
        f"HTTP/1.1 {status} {reason}\r\nServer: llama.cpp\r\nAccess-Control-Allow-Origin: \r\n"
        f"Content-Type: application/json; charset=utf-8\r\nContent-Length: {len(body)}\r\n".encode()
        + (KEEP_ALIVE if keep else b"Connection: close\r\n")
        + b"\r\n"
        + body
    )
    return keep
