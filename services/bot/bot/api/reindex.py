"""`POST /api/reindex`: the owner asks for a new index; never through a proxy, never without token."""

from __future__ import annotations

import hmac
import logging
from pathlib import Path
from typing import Any

import msgspec
from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from bot.api.direct import came_through_proxy
from bot.api.problems import ProblemRaised
from bot.chat.ports.index import Reindexer
from corpus.settings import Settings

logger = logging.getLogger("bot.api")

MIN_TOKEN_CHARS = 16  # a shorter one can be guessed; the route then stays closed


@post("/api/reindex", operation_id="Reindex", status_code=200)
async def reindex(
    request: Request[Any, Any, Any],
    settings: NamedDependency[Settings],
    reindexer: NamedDependency[SkipValidation[Reindexer]],
) -> Response[Any]:
    """Build and publish a new index; answers are given from the old one meanwhile."""
    authorise(request.headers, settings.server.owner_token_file)
    report = await reindexer.run()
    return Response(content=msgspec.json.encode(report), media_type="application/json")


def authorise(headers: Any, token_file: str | None) -> None:
    """Let the owner in.

    Raises:
        ProblemRaised: 403 where the route is closed or was reached through a proxy, 401 without
            the right token.
    """
    token = _read_token(token_file)
    if token is None or came_through_proxy(headers):
        raise ProblemRaised("reindex-closed")
    scheme, _, given = headers.get("authorization", "").partition(" ")
    # Constant time: the comparison must not tell how many characters were right.
    right = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token)
    if scheme.lower() != "bearer" or not right:
        raise ProblemRaised("unauthorized", headers={"www-authenticate": "Bearer"})


def _read_token(token_file: str | None) -> bytes | None:
    """The token, read anew each time so that it can be changed without a restart."""
    if token_file is None:
        return None
    try:
        token = Path(token_file).read_bytes().strip()
    except OSError as error:
        logger.error("server.owner_token_file can't be read: %s", error.strerror)
        return None
    if len(token) < MIN_TOKEN_CHARS:
        logger.error("the owner's token is shorter than %d characters", MIN_TOKEN_CHARS)
        return None
    return token
