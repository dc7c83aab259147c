"""`GET /api/health`: 200 while visitors can be answered, 503 when they can't."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery
from msgspec import Struct

from bot import __version__
from bot.api.probes import Component, Probes


class Health(Struct, frozen=True, kw_only=True):
    """Body of the reply; every component is described in docs/http-api.md."""

    status: Literal["healthy", "degraded", "unhealthy"]
    version: str
    checked_at: str
    components: dict[str, Component]


def overall(components: dict[str, Component]) -> Literal["healthy", "degraded", "unhealthy"]:
    """The worst of all; what is switched off does not count."""
    found = {component.status for component in components.values()}
    if "unhealthy" in found:
        return "unhealthy"
    return "degraded" if "degraded" in found else "healthy"


@get("/api/health", operation_id="CheckHealth")
async def check_health(
    probes: NamedDependency[Probes], deep: FromQuery[bool] = False
) -> Response[Any]:
    """Report each dependency; `deep` embeds a fixed sentence anew instead of trusting the last try."""
    components = await probes.components(deep=deep)
    health = Health(
        status=overall(components),
        version=__version__,
        checked_at=datetime.now(UTC).isoformat(timespec="seconds"),
        components=components,
    )
    return Response(
        content=msgspec.json.encode(health),
        status_code=503 if health.status == "unhealthy" else 200,
        media_type="application/json",
    )
