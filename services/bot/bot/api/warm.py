"""`POST /api/warm`: evaluate the pages' prompts now; for a caller on the same machine only.

No token: it starts what the bot does by itself anyway, and every visitor goes before it.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.di import NamedDependency

from bot.api.direct import came_through_proxy
from bot.api.problems import ProblemRaised
from bot.chat.service import ChatService


@post("/api/warm", operation_id="WarmPages", status_code=202)
async def warm_pages(
    request: Request[Any, Any, Any], chat: NamedDependency[ChatService]
) -> Response[Any]:
    """Start without waiting for a rest; `GET` tells how far it is."""
    _check_is_here(request)
    chat.warmer.hurry()
    return _told(chat)


@get("/api/warm", operation_id="FollowWarming")
async def follow_warming(
    request: Request[Any, Any, Any], chat: NamedDependency[ChatService]
) -> Response[Any]:
    """How many pages are warm, and whether the work goes on."""
    _check_is_here(request)
    return _told(chat)


def _told(chat: ChatService) -> Response[Any]:
    return Response(
        content=msgspec.json.encode(chat.warmer.warmth()), media_type="application/json"
    )


def _check_is_here(request: Request[Any, Any, Any]) -> None:
    if not _is_here(request):
        raise ProblemRaised("only-here")


def _is_here(request: Request[Any, Any, Any]) -> bool:
    if request.client is None or came_through_proxy(request.headers):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
