"""uvicorn, with a stop that tells the application at once.

uvicorn runs lifespan shutdown only after every open response has ended, so a hook there comes too
late for streams: the signal handler itself has to say it (uvicorn/server.py, 0.54).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from litestar import Litestar


BACKLOG = 1024  # connections the kernel holds while the loop is busy


class DrainingServer(uvicorn.Server):
    """Calls `on_signal` in the event loop at the first SIGTERM or SIGINT."""

    def __init__(self, config: uvicorn.Config, on_signal: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_signal = on_signal
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Remember the loop, then start."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Signal handler: it may run between any two instructions, hence call_soon_threadsafe."""
        if self._loop is not None and self.started and not self.should_exit:
            self._loop.call_soon_threadsafe(self._on_signal)
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket whose connections send each event at once.

    Not `socket.create_server`: it leaves the protocol at 0, asyncio then does not switch Nagle's
    algorithm off, and every small write waits up to 40 ms for an acknowledgement (measured).

    Raises:
        OSError: the port is taken or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def listen_config(
    app: Litestar,
    *,
    trusted_proxies: Sequence[str],
    grace_seconds: int,
    keep_alive_seconds: int,
    connections: int,
) -> uvicorn.Config:
    """uvicorn's configuration for one worker; the limits are explained in docs/http-api.md."""
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=list(trusted_proxies),
        timeout_keep_alive=keep_alive_seconds,
        timeout_graceful_shutdown=grace_seconds,
        limit_concurrency=connections,
    )


def serve_until_signal(
    config: uvicorn.Config, listeners: list[socket.socket], *, on_signal: Callable[[], None]
) -> None:
    """Serve; after SIGTERM the process dies by that signal (143 in a shell), Ctrl-C returns."""
    try:
        DrainingServer(config, on_signal).run(sockets=listeners)
    except KeyboardInterrupt:
        return
