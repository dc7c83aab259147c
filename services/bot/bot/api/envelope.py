"""The outermost layer: request id, security headers, deadline for stalled readers, one log line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from secrets import token_hex
from time import monotonic
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from bot.api.gate import read_headers, send_problem
from bot.api.origins import Origins
from bot.api.problems import ProblemRaised
from bot.log import current_request

logger = logging.getLogger("bot.access")

API_POLICY = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
STALL_SECONDS = 60.0  # a reader that takes nothing for so long is dropped, and with it its stream


class ReaderStalled(Exception):
    """The peer took no byte for the whole deadline."""


class Envelope:
    """Wraps every reply; nothing that `app` raises gets past it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        origins: Origins,
        on_problem: Callable[[str], None],
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self._app = app
        self._origins = origins
        self._on_problem = on_problem
        self._stall_seconds = stall_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        # Ids of clients are not taken over: they would be a way to write into our logs.
        request_id = token_hex(8)
        scope["state"] = {**scope.get("state", {}), "request_id": request_id}
        current_request.set(request_id)
        began = monotonic()
        reply = _Reply(scope, send, self._origins, self._stall_seconds)
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            stalled = _caused_by_stall(error)
            scope["state"]["code"] = "reader-stalled" if stalled else "internal-error"
            if not stalled:
                logger.error("request failed", exc_info=error, extra=_facts(scope))
            if reply.status is None:
                await send_problem(scope, reply.send, ProblemRaised("internal-error"))
        finally:
            # A reply that failed leaves its stream behind, until the garbage collector finds it.
            if on_end := scope["state"].get("on_end"):
                on_end()
            if code := scope["state"].get("code"):
                self._on_problem(code)
            self._log(scope, reply.status, began)

    def _log(self, scope: HTTPScope, status: int | None, began: float) -> None:
        # No address, no query, no header: nothing that says who asked or what (P1, P2).
        duration_ms = round((monotonic() - began) * 1000, 1)
        logger.info(
            "request", extra={**_facts(scope), "status": status, "duration_ms": duration_ms}
        )


class _Reply:
    """`send` that completes the headers and bounds how long the peer may take."""

    def __init__(
        self, scope: HTTPScope, send: Send, origins: Origins, stall_seconds: float
    ) -> None:
        self._scope = scope
        self._send = send
        self._origins = origins
        self._stall_seconds = stall_seconds
        self.status: int | None = None

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._complete(message["headers"])}
        try:
            await asyncio.wait_for(self._send(message), self._stall_seconds)
        except TimeoutError as error:
            raise ReaderStalled from error

    def _complete(self, headers: Any) -> list[tuple[bytes, bytes]]:
        found = [(bytes(name).lower(), bytes(value)) for name, value in headers]
        present = {name for name, _ in found}
        defaults = [
            (b"x-request-id", self._scope["state"]["request_id"].encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"content-security-policy", API_POLICY),
            (b"cache-control", b"no-store"),
        ]
        found += [(name, value) for name, value in defaults if name not in present]
        return found + self._origins.headers(read_headers(self._scope).get("origin"))


def _facts(scope: HTTPScope) -> dict[str, Any]:
    state = scope["state"]
    return {
        "request_id": state["request_id"],
        "route": state.get("route", "-"),
        "code": state.get("code"),
    }


def _caused_by_stall(error: BaseException | None) -> bool:
    """Whether the stall is behind `error`; task groups and Litestar wrap it."""
    while error is not None:
        if isinstance(error, ReaderStalled):
            return True
        if isinstance(error, BaseExceptionGroup):
            return any(_caused_by_stall(inner) for inner in error.exceptions)
        error = error.__cause__ or error.__context__
    return False
