"""Put the HTTP side together: routes, dependencies, error answers, gate and envelope."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException

from bot.api.chat import ask_question, describe_bot
from bot.api.envelope import Envelope
from bot.api.feedback import rate_answer
from bot.api.gate import Gate
from bot.api.health import check_health
from bot.api.metrics import Metrics, read_metrics
from bot.api.origins import Origins
from bot.api.page import page_handlers
from bot.api.probes import Probes
from bot.api.problems import MEDIA_TYPE, ProblemRaised, document, encode, from_chat_error
from bot.api.reindex import reindex
from bot.api.stopping import OpenStreams
from bot.api.timing import Timing
from bot.api.warm import follow_warming, warm_pages
from bot.chat.errors import ChatError
from bot.chat.feedback import Feedback
from bot.chat.ports import Ports
from bot.chat.service import ChatService
from corpus.settings import Settings

logger = logging.getLogger("bot.api")

OpenPorts = Callable[[], AbstractAsyncContextManager[Ports]]
MakeService = Callable[[Settings, Ports], ChatService]


def build(
    settings: Settings,
    open_ports: OpenPorts,
    *,
    make_service: MakeService,
    key_of: Callable[[str], str],
    site: Path | None,
    timing: Timing,
) -> Litestar:
    """The app; ports are opened when the server starts and closed when it stops."""

    @asynccontextmanager
    async def services(app: Litestar) -> AsyncGenerator[None, None]:
        async with open_ports() as ports:
            app.state.ports = ports
            app.state.chat = make_service(settings, ports)
            app.state.feedback = Feedback(settings.feedback, ports.answers, ports.journal)
            app.state.streams = OpenStreams()
            app.state.probes = Probes(
                settings,
                ports,
                probe_seconds=timing.probe_seconds,
                clock=timing.clock,
                warmth=app.state.chat.warmer.warmth,
            )
            async with _in_background(app.state.chat.warmer.run()):
                yield

    metrics = Metrics()
    app = Litestar(
        route_handlers=[
            ask_question,
            describe_bot,
            check_health,
            reindex,
            warm_pages,
            follow_warming,
            *([rate_answer] if settings.feedback.enabled else []),
            *([read_metrics] if settings.server.metrics_networks else []),
            *page_handlers(site),
        ],
        dependencies={
            "chat": Provide(_provide_chat, sync_to_thread=False),
            "feedback": Provide(_provide_feedback, sync_to_thread=False),
            "metrics": Provide(lambda: metrics, sync_to_thread=False),
            "probes": Provide(_provide_probes, sync_to_thread=False),
            "reindexer": Provide(_provide_reindexer, sync_to_thread=False),
            "streams": Provide(_provide_streams, sync_to_thread=False),
            "settings": Provide(lambda: settings, sync_to_thread=False),
            "timing": Provide(lambda: timing, sync_to_thread=False),
        },
        lifespan=[services],
        exception_handlers={
            ProblemRaised: _answer_problem,
            ChatError: _answer_chat_error,
            HTTPException: _answer_http_exception,
            Exception: _answer_unexpected,
        },
        request_max_body_size=settings.server.max_body_bytes,
        # Said explicitly, since LITESTAR_DEBUG and LITESTAR_PDB in the environment switch them on.
        debug=False,
        pdb_on_exception=False,
        openapi_config=None,
        logging_config=None,
    )
    routes = {route.path: frozenset(route.methods) - {"OPTIONS"} for route in app.routes}
    origins = Origins(settings.server.cors_origins)
    gate = Gate(
        app.asgi_handler,
        routes=routes,
        origins=origins,
        limiter=lambda: app.state.ports.limiter,
        key_of=key_of,
        requests_per_minute=settings.server.rate_limit.requests_per_minute,
    )
    app.asgi_handler = Envelope(
        gate, origins=origins, on_problem=metrics.problem, stall_seconds=timing.stall_seconds
    )
    return app


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None, None]:
    task = asyncio.create_task(work, name="warming")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _provide_chat(state: State) -> ChatService:
    chat: ChatService = state.chat
    return chat


def _provide_feedback(state: State) -> Feedback:
    feedback: Feedback = state.feedback
    return feedback


def _provide_probes(state: State) -> Probes:
    probes: Probes = state.probes
    return probes


def _provide_streams(state: State) -> OpenStreams:
    streams: OpenStreams = state.streams
    return streams


def _provide_reindexer(state: State) -> Any:
    return state.ports.reindexer


def _answer_problem(request: Request[Any, Any, Any], raised: ProblemRaised) -> Response[Any]:
    state = request.scope["state"]
    problem = document(raised, instance=request.scope["path"], request_id=state["request_id"])
    state["code"] = problem.code
    return Response(
        content=encode(problem),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=raised.headers,
    )


def _answer_chat_error(request: Request[Any, Any, Any], error: ChatError) -> Response[Any]:
    return _answer_problem(request, from_chat_error(error))


def _answer_http_exception(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Litestar's own refusals; their texts are dropped, they can hold the query string."""
    codes = {404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}
    code = codes.get(error.status_code, "invalid-request")
    if error.status_code >= 500:
        code = "internal-error"
    return _answer_problem(request, ProblemRaised(code))


def _answer_unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    state = request.scope["state"]
    logger.error(
        "request failed",
        exc_info=error,
        extra={
            "request_id": state["request_id"],
            "route": state.get("route"),
            "code": "internal-error",
        },
    )
    return _answer_problem(request, ProblemRaised("internal-error"))
