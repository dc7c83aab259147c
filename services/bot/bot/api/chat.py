"""`POST /api/chat` and `GET /api/info`: what visitors and widgets call."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.params import RawBody
from litestar.response import Stream

from bot.api.metrics import Metrics
from bot.api.reply import ClientGone, whole_answer
from bot.api.requests import read_request, to_ask
from bot.api.stopping import OpenStreams
from bot.api.stream import STREAM_HEADERS, AnswerStream
from bot.api.timing import Timing
from bot.chat.feedback import Feedback
from bot.chat.service import ChatService, Info
from corpus.settings import Settings

JSON = "application/json"


class PublicInfo(Info, frozen=True, kw_only=True):
    """Body of `GET /api/info`."""

    feedback: bool
    """Whether answers may be voted on."""


@post("/api/chat", operation_id="AskQuestion", status_code=200)
async def ask_question(
    request: Request[Any, Any, Any],
    body: RawBody,
    chat: NamedDependency[ChatService],
    settings: NamedDependency[Settings],
    timing: NamedDependency[Timing],
    streams: NamedDependency[OpenStreams],
    feedback: NamedDependency[Feedback],
    metrics: NamedDependency[Metrics],
) -> Response[Any]:
    """Answer one question, as a stream of events or as one document."""
    wanted = read_request(body)
    ask = to_ask(
        wanted,
        max_question_chars=settings.server.max_question_chars,
        accept_language=request.headers.get("accept-language", ""),
    )
    # Refused here, the status can still say why; after the first byte it can't.
    ticket = chat.admit(request.scope["state"].get("visitor"))
    events = chat.answer(ask, ticket)
    if settings.feedback.enabled:
        events = feedback.sign(ask.question, events)
    events = metrics.watch(events)
    if wanted.stream:
        answer = AnswerStream(
            events,
            ticket,
            heartbeat_seconds=timing.heartbeat_seconds,
        )
        streams.add(answer)
        request.scope["state"]["on_end"] = answer.stop
        return Stream(
            answer.body(),
            media_type="text/event-stream",
            headers=STREAM_HEADERS,
            background=BackgroundTask(answer.close),
        )
    try:
        reply = await whole_answer(events, ticket, request.receive)
    except ClientGone:
        return Response(content=b"", status_code=499, media_type=JSON)
    return Response(content=msgspec.json.encode(reply), media_type=JSON)


@get("/api/info", operation_id="DescribeBot")
async def describe_bot(
    chat: NamedDependency[ChatService], settings: NamedDependency[Settings]
) -> Response[Any]:
    """Tell a widget the bot's name, topics, languages, suggested questions and what it offers."""
    told = msgspec.structs.asdict(await chat.info())
    info = PublicInfo(**told, feedback=settings.feedback.enabled)
    return Response(content=msgspec.json.encode(info), media_type=JSON)
