"""A real uvicorn in a thread, as httpx tests itself: streams need real sockets.

`AsyncTestClient` buffers whole bodies and blocks the loop (docs: litestar testing), so it can't test
a stream, a heartbeat or a visitor who leaves.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn
from msgspec.structs import replace

from bot.api.timing import Timing
from bot.app import create_app
from bot.chat.ports import Ports
from bot.server import listen
from corpus.settings import FeedbackSettings, Settings
from tests.fakes import ScriptedChat, fake_ports
from tests.patience import PATIENCE_SECONDS, wait_until

if TYPE_CHECKING:
    from litestar import Litestar


NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Plain http only; reading the certificate store for each client would take 0.1 s."""


class _ThreadServer(uvicorn.Server):
    loop: asyncio.AbstractEventLoop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """Stop within 10 ms instead of 100: there are many servers in these tests."""
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110  (uvicorn's own flag)
            await asyncio.sleep(0.01)


class LiveServer:
    """Address and loop of a running server."""

    def __init__(self, app: Litestar, server: _ThreadServer, port: int) -> None:
        self.app = app
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._server = server

    @property
    def chat(self) -> Any:
        """The ChatService in use; touch it through `in_loop` where it matters."""
        return self.app.state.chat

    @property
    def transports(self) -> list[asyncio.Transport]:
        """Of the connections open now; touch them `in_loop`."""
        return [connection.transport for connection in self._server.server_state.connections]

    def in_loop(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work(), self._server.loop).result(PATIENCE_SECONDS)

    def client(self, **options: Any) -> httpx.Client:
        """A client without proxies."""
        return httpx.Client(
            base_url=self.url,
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=NO_CERTIFICATES,
            **options,
        )

    def raw(self, data: bytes, *, read: bool = True) -> bytes:
        """Send bytes on a fresh connection; what comes back until the server closes."""
        address = ("127.0.0.1", self.port)
        with closing(socket.create_connection(address, timeout=PATIENCE_SECONDS)) as connection:
            connection.sendall(data)
            received = b""
            while read and (piece := connection.recv(65536)):
                received += piece
            return received


@contextmanager
def serve_in_thread(app: Litestar, *, trusted_proxies: Sequence[str] = ()) -> Iterator[LiveServer]:
    """Serve `app` on a free port until the block ends."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        timeout_graceful_shutdown=2,
    )
    server = _ThreadServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server did not start"
        yield LiveServer(app, server, listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listener.close()


def question(text: str = "¿Con qué se paga?", **fields: Any) -> dict[str, Any]:
    """Body of one question."""
    return {"messages": [{"role": "user", "content": text}], **fields}


def raw_post(
    body: bytes | Mapping[str, Any], *, path: str = "/api/chat", headers: Sequence[str] = ()
) -> bytes:
    """Bytes of a POST, for tests that write on the socket themselves."""
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(payload)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + payload


@contextmanager
def serve_scripted(
    *,
    ports: Ports | None = None,
    server: Mapping[str, Any] | None = None,
    feedback: Mapping[str, Any] | None = None,
    timing: Timing | None = None,
    trusted_proxies: Sequence[str] = (),
    site: Path | None = None,
) -> Iterator[LiveServer]:
    """A running bot whose answers are scripted; `server` and `feedback` replace settings there."""
    settings = replace(
        Settings(),
        server=replace(Settings().server, **(server or {})),
        feedback=FeedbackSettings(**(feedback or {})),
    )
    app = create_app(
        settings, ports or fake_ports(), make_service=ScriptedChat, timing=timing, site=site
    )
    with serve_in_thread(app, trusted_proxies=trusted_proxies) as live:
        yield live
