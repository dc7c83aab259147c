"""The composition root: the only place that knows the HTTP side, the application and the adapters."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.adapters.limiter import address_key
from bot.api.build import build
from bot.api.timing import Timing
from bot.chat.ports import Ports
from bot.chat.service import ChatService
from corpus.settings import Settings

if TYPE_CHECKING:
    from litestar import Litestar

SITE_VARIABLE = "PORTFOLIO_BOT_SITE"


def create_app(
    settings: Settings,
    ports: Ports | None = None,
    *,
    config_path: Path | None = None,
    site: Path | None = None,
    make_service: Callable[[Settings, Ports], ChatService] = ChatService,
    timing: Timing | None = None,
) -> Litestar:
    """The ASGI app of the bot; nothing is opened before the server starts it.

    Args:
        ports: Fakes in tests; None opens the real ones.
        config_path: File the settings came from, for the indexer that `/api/reindex` starts.
        site: Folder of the page at `/`; None looks at `default_site`.
    """

    def open_ports() -> AbstractAsyncContextManager[Ports]:
        if ports is not None:
            return _given(ports)
        from bot.adapters.build import open_ports as open_real_ports

        return open_real_ports(settings, config_path)

    return build(
        settings,
        open_ports,
        make_service=make_service,
        key_of=address_key,
        site=site if site is not None else default_site(),
        timing=timing or Timing(),
    )


def default_site() -> Path | None:
    """`$PORTFOLIO_BOT_SITE`, else the repository's own page; None where there is neither."""
    if configured := os.environ.get(SITE_VARIABLE):
        return Path(configured)
    beside = Path(__file__).resolve().parents[2] / "gateway" / "site"
    return beside if beside.is_dir() else None


@asynccontextmanager
async def _given(ports: Ports) -> AsyncGenerator[Ports, None]:
    yield ports
