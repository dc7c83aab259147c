"""The built-in page: three fixed files held in memory, under a policy that allows nothing foreign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = {
    "/": ("index.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/app.css": ("app.css", "text/css"),
}


def page_handlers(site: Path | None) -> list[HTTPRouteHandler]:
    """One handler a file; none where the folder is missing or incomplete."""
    if site is None or not all((site / name).is_file() for name, _ in FILES.values()):
        return []
    return [
        _serve(path, (site / name).read_bytes(), media_type)
        for path, (name, media_type) in FILES.items()
    ]


def _serve(path: str, content: bytes, media_type: str) -> HTTPRouteHandler:
    @get(path, name=f"page{path}", include_in_schema=False)
    async def serve_file() -> Response[Any]:
        return Response(
            content=content,
            media_type=media_type,
            headers={"content-security-policy": PAGE_POLICY, "cache-control": "no-cache"},
        )

    return serve_file
