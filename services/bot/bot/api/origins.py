"""Which sites may talk to the bot, and the headers that tell browsers so.

Litestar's own CORS support runs the handler even for a refused origin (it only leaves the header
out), and answers 404 and 405 without it; see docs/http-api.md for the rules kept here instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

Headers = list[tuple[bytes, bytes]]

EXPOSED = b"Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"
PREFLIGHT_MAX_AGE_SECONDS = 600
DEFAULT_PORTS = {"http": 80, "https": 443}
SAFE_HEADERS = frozenset({"content-type", "accept", "accept-language", "content-language"})


class Origins:
    """The allow-list: exact origins only, as the configuration's loader normalised them."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = frozenset(allowed)

    def permits(self, origin: str, *, scheme: str, host: str) -> bool:
        """Whether a request with this Origin may run; `scheme` and `host` are the request's own."""
        return origin in self._allowed or (origin != "null" and _same(origin, scheme, host))

    def headers(self, origin: str | None) -> Headers:
        """CORS headers for any reply, errors included; without them a widget can't read a 429."""
        found: Headers = [(b"vary", b"Origin")]
        if origin is not None and origin in self._allowed:
            found.append((b"access-control-allow-origin", origin.encode("ascii")))
            found.append((b"access-control-expose-headers", EXPOSED))
        return found

    def preflight(
        self, origin: str, method: str, headers: str, route_methods: Iterable[str]
    ) -> Headers | None:
        """Headers of the 204 for a preflight, None when it must be refused."""
        wanted = {name.strip().lower() for name in headers.split(",") if name.strip()}
        if origin not in self._allowed or method not in route_methods or wanted - SAFE_HEADERS:
            return None
        return [
            (b"access-control-allow-methods", method.encode("ascii")),
            (b"access-control-allow-headers", b"content-type"),
            (b"access-control-max-age", str(PREFLIGHT_MAX_AGE_SECONDS).encode()),
        ]


def _same(origin: str, scheme: str, host: str) -> bool:
    """Same scheme, host and port; default ports may be written or left out."""
    try:
        theirs, ours = urlsplit(origin), urlsplit(f"{scheme}://{host}")
        return bool(theirs.hostname) and (theirs.scheme, theirs.hostname, _port(theirs)) == (
            ours.scheme,
            ours.hostname,
            _port(ours),
        )
    except ValueError:  # a port that is no number, brackets that do not match
        return False


def _port(parts: SplitResult) -> int | None:
    return parts.port or DEFAULT_PORTS.get(parts.scheme)
