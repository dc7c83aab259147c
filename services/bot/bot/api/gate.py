"""What every request passes before any work: route, method, type, origin, rate (in this order).

Plain ASGI around the whole Litestar app, not Litestar middleware: that one runs after routing, so
404 and 405 would leave without CORS and security headers, and a refused origin would still reach
its handler. Paths must match exactly; `//api/chat` is not another spelling that slips past the gate.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from math import ceil
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from bot.api.origins import Headers, Origins
from bot.api.problems import MEDIA_TYPE, ProblemRaised, document, encode, retry_after
from bot.chat.ports.sharing import AddressLimiter, Limiter, Verdict

logger = logging.getLogger("bot.api")

LIMITED_PATH = "/api/chat"  # the only costly route; health and page stay reachable under load
# Counted apart, in this process: a vote costs no model and must not use up what a visitor may ask.
VOTE_PATH = "/api/feedback"
HTTP_VERSIONS = ("1.0", "1.1", "2")
DIRECT_PATH = "/api/reindex"  # never for browsers of other sites, nor through a proxy


class Gate:
    """Refuses early or hands over to `app`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: Mapping[str, frozenset[str]],
        origins: Origins,
        limiter: Callable[[], Limiter],
        key_of: Callable[[str], str],
        requests_per_minute: int,
    ) -> None:
        self._app = app
        self._routes = routes
        self._origins = origins
        self._limiter = limiter
        self._key_of = key_of
        self._requests_per_minute = requests_per_minute
        self._warned_about_proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check and answer one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        request = read_headers(scope)
        try:
            if preflight := self._check(scope, request):
                await _reply(send, 204, preflight)
                return
            if scope["path"] in (LIMITED_PATH, VOTE_PATH):
                send = await self._take_allowance(scope, request, send)
        except ProblemRaised as raised:
            await send_problem(scope, send, raised)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: HTTPScope, request: Mapping[str, str]) -> Headers | None:
        """Headers of a 204 for a good preflight; None when the request may go on."""
        if scope["http_version"] not in HTTP_VERSIONS:
            raise ProblemRaised("invalid-request")  # httptools lets HTTP/0.9 pass
        methods = self._routes.get(scope["path"])
        if methods is None:
            raise ProblemRaised("not-found")
        scope["state"]["route"] = scope["path"]  # for the log; an unknown path is the peer's text
        origin = request.get("origin")
        wanted = request.get("access-control-request-method")
        if scope["method"] == "OPTIONS" and origin is not None and wanted is not None:
            asked = request.get("access-control-request-headers", "")
            allowed = () if scope["path"] == DIRECT_PATH else methods
            headers = self._origins.preflight(origin, wanted, asked, allowed)
            if headers is None:
                raise ProblemRaised("origin-not-allowed")
            return headers
        if scope["method"] not in methods:
            allow = ", ".join(sorted(methods))
            raise ProblemRaised("method-not-allowed", headers={"allow": allow})
        if scope["method"] == "POST" and scope["path"] != DIRECT_PATH:
            media_type = request.get("content-type", "").partition(";")[0].strip().lower()
            # Only application/json forces browsers to ask first (ASVS 3.5.2).
            if media_type != "application/json":
                raise ProblemRaised("unsupported-media-type")
        if origin is not None and not self._origins.permits(
            origin, scheme=scope["scheme"], host=request.get("host", "")
        ):
            raise ProblemRaised("origin-not-allowed")
        return None

    async def _take_allowance(
        self, scope: HTTPScope, request: Mapping[str, str], send: Send
    ) -> Send:
        """Count the request; a `send` that adds the RateLimit headers."""
        address = scope["client"][0] if scope["client"] else ""
        visitor = self._key_of(address)
        scope["state"]["visitor"] = visitor  # whose turn it is in the line (bot.chat.admission)
        self._warn_about_proxy(address, request.get("x-forwarded-for"))
        limiter = self._limiter()
        if scope["path"] == VOTE_PATH:
            verdict = await limiter.check(f"vote {visitor}")
        elif isinstance(limiter, AddressLimiter):
            verdict = await limiter.check_address(address)
        else:
            verdict = await limiter.check(visitor)
        wait = retry_after(verdict.retry_after_seconds)
        if not verdict.allowed and verdict.refused_by == "site":
            # No RateLimit fields: how much this visitor has left does not matter now.
            raise ProblemRaised("busy", headers={"retry-after": wait})
        headers = self._rate_headers(verdict)
        if not verdict.allowed:
            raise ProblemRaised("rate-limited", headers={**headers, "retry-after": wait})
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]

        async def send_with_allowance(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *encoded]}
            await send(message)

        return send_with_allowance

    def _rate_headers(self, verdict: Verdict) -> dict[str, str]:
        """The fields of draft-ietf-httpapi-ratelimit-headers; a refusal also says when to return."""
        window = ceil(verdict.limit * 60 / self._requests_per_minute)
        state = f'"visitor";r={verdict.remaining}'
        if not verdict.allowed:
            state += f";t={retry_after(verdict.retry_after_seconds)}"
        return {"ratelimit-policy": f'"visitor";q={verdict.limit};w={window}', "ratelimit": state}

    def _warn_about_proxy(self, address: str, forwarded: str | None) -> None:
        """Behind an unlisted proxy all visitors would share one allowance: say so, once."""
        if forwarded is None or self._warned_about_proxy or address in forwarded:
            return
        try:
            behind_proxy = ip_address(address).is_private
        except ValueError:
            return
        if behind_proxy:
            self._warned_about_proxy = True
            logger.warning(
                "requests come through a proxy that server.trusted_proxies does not list: "
                "all its visitors share one allowance"
            )


def read_headers(scope: HTTPScope) -> dict[str, str]:
    """Header values by lower-case name; of a repeated one the first."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1").strip())
    return found


async def send_problem(scope: HTTPScope, send: Send, raised: ProblemRaised) -> None:
    """Answer with a problem document."""
    state: dict[str, Any] = scope["state"]
    problem = document(raised, instance=scope["path"], request_id=state.get("request_id", ""))
    state["code"] = problem.code
    headers = [(name.encode(), value.encode()) for name, value in raised.headers.items()]
    headers.append((b"content-type", MEDIA_TYPE.encode()))
    await _reply(send, problem.status, headers, encode(problem))


async def _reply(send: Send, status: int, headers: Headers, body: bytes = b"") -> None:
    headers = [*headers]
    if status != 204:
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
