"""The demo page and the widget: fixed files held in memory, under a policy that allows nothing foreign."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGE = "index.html"
FILES = {
    PAGE: "text/html",
    "demo.js": "text/javascript",
    "demo.css": "text/css",
    "favicon.svg": "image/svg+xml",
    "chat-widget.js": "text/javascript",
    "chat-widget.css": "text/css",
}
EMBEDDED = frozenset({"chat-widget.js", "chat-widget.css"})
"""Loaded by pages of other sites, so also by those that isolate themselves (COEP)."""


def page_handlers(site: Path | None) -> list[HTTPRouteHandler]:
    """One handler a file that is there; none where the folder has no page."""
    if site is None or not (site / PAGE).is_file():
        return []
    return [_serve(site / name) for name in FILES if (site / name).is_file()]


def _serve(file: Path) -> HTTPRouteHandler:
    content = file.read_bytes()
    packed = gzip.compress(content, mtime=0)
    tag = f'"{sha256(content).hexdigest()[:20]}"'
    path = "/" if file.name == PAGE else f"/{file.name}"
    headers = {
        "content-security-policy": PAGE_POLICY,
        "cache-control": "no-cache",
        "etag": tag,
        "vary": "Accept-Encoding",
    }
    if file.name in EMBEDDED:
        headers["cross-origin-resource-policy"] = "cross-origin"

    @get(path, name=f"page{path}", include_in_schema=False)
    async def serve_file(request: Request[Any, Any, Any]) -> Response[Any]:
        if tag in request.headers.get("if-none-match", ""):
            return Response(content=None, status_code=304, headers=headers)
        accepted = request.headers.get("accept-encoding", "").replace(" ", "").split(",")
        zipped = "gzip" in accepted
        return Response(
            content=packed if zipped else content,
            media_type=FILES[file.name],
            headers={**headers, "content-encoding": "gzip"} if zipped else headers,
        )

    return serve_file
