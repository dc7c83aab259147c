"""HTTP to a llama-server: one client, and one second try where a kept connection had gone stale."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self, cast

import httpx

# llama-server closes idle connections after 5 s (`Keep-Alive: timeout=5`, recorded); letting go of
# ours before that makes the race rare, and `send` survives what is left of it.
KEEPALIVE_SECONDS = 4.0
CONNECT_SECONDS = 3.0
WRITE_SECONDS = 10.0
MAX_BEGINNING_BYTES = 65_536


def open_client(base_url: str, max_connections: int) -> httpx.AsyncClient:
    """A client without a read timeout: the callers hold the deadlines.

    It ignores HTTP_PROXY and the like: the model servers are part of the installation, and a
    question must not leave it through a proxy someone set for other programs.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        timeout=httpx.Timeout(
            None, connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS
        ),
        # One kept connection only, so that after a stale one the second try has to dial.
        limits=httpx.Limits(
            max_connections=max_connections,
            max_keepalive_connections=1,
            keepalive_expiry=KEEPALIVE_SECONDS,
        ),
        headers={"accept-encoding": "identity"},
        # Reading the certificate store costs 50 ms and some MB that plain HTTP doesn't need.
        verify=base_url.lower().startswith("https:"),
        trust_env=False,
    )


class Upstream:
    """A client of one server for as long as an adapter is open."""

    def __init__(self, endpoint: str, max_connections: int) -> None:
        self._endpoint = endpoint
        self._max_connections = max_connections
        self._http: httpx.AsyncClient | None = None

    async def open(self) -> None:
        """Make the HTTP client; nothing is sent yet."""
        self._http = open_client(self._endpoint, self._max_connections)

    async def aclose(self) -> None:
        """Close every connection; what still runs over them fails as if the server had gone."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def send(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """Send and return at the headers; the caller closes the response.

    Repeated once, at once, where a reused connection turns out to be closed by the server before
    the first byte of an answer. A fresh connection that fails is never repeated: a server that is
    down must not get twice the requests.

    Raises:
        httpx.HTTPError: as httpx does.
    """
    dialled = False

    async def observe(event: str, _: dict[str, Any]) -> None:
        nonlocal dialled
        dialled = dialled or event == "connection.connect_tcp.started"

    request.extensions["trace"] = observe
    try:
        return await client.send(request, stream=True)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        if dialled:
            raise
    return await client.send(request, stream=True)


def body_pieces(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it comes in. Iterate it inside `contextlib.aclosing`."""
    # httpx declares an iterator but makes a generator; unclosed, it would outlive us as a task.
    return cast(AsyncGenerator[bytes, None], response.aiter_raw())


async def read_beginning(response: httpx.Response) -> bytes:
    """The first 64 KiB of a body: a document fits, an endless one doesn't matter."""
    body = b""
    async with aclosing(body_pieces(response)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > MAX_BEGINNING_BYTES:
                break
    return body[:MAX_BEGINNING_BYTES]
