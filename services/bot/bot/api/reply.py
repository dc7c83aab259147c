"""The whole answer as one JSON document, for clients that do not stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from bot.api.problems import PROBLEMS, ProblemRaised
from bot.chat.admission import Ticket
from bot.chat.events import Chunk, Done, Event, Failed, SourcePassage, Sources, Start, Usage


class ChatReply(Struct, frozen=True, kw_only=True):
    """Body of `POST /api/chat` with `"stream": false`."""

    content: str
    sources: tuple[str, ...]
    passages: tuple[SourcePassage, ...]
    usage: Usage
    conversation_id: str
    answer_id: str | UnsetType = UNSET


class ClientGone(Exception):
    """The client closed the connection before its answer was ready."""


async def whole_answer(
    events: AsyncGenerator[Event, None],
    ticket: Ticket,
    receive: Callable[[], Awaitable[Any]],
) -> ChatReply:
    """Run the answer to its end; the model is freed at once when the client goes away.

    Raises:
        ProblemRaised: the answer failed; its status says how.
        ClientGone: nobody is waiting any more.
    """
    answer = asyncio.create_task(_collect(events), name="whole-answer")
    gone = asyncio.create_task(_disconnect(receive), name="disconnect")
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientGone
        return answer.result()
    finally:
        gone.cancel()
        answer.cancel()
        ticket.release()


async def _collect(events: AsyncGenerator[Event, None]) -> ChatReply:
    conversation_id, pieces = "", []
    sources = Sources(documents=(), passages=())
    async with aclosing(events) as stream:
        async for event in stream:
            match event:
                case Start():
                    conversation_id = event.conversation_id
                case Sources():
                    sources = event
                case Chunk():
                    pieces.append(event.content)
                case Failed():
                    code = event.code if event.code in PROBLEMS else "internal-error"
                    headers = {"retry-after": "5"} if event.retryable else {}
                    raise ProblemRaised(code, event.message, headers=headers)
                case Done():
                    return ChatReply(
                        content="".join(pieces),
                        sources=sources.documents,
                        passages=sources.passages,
                        usage=event.usage,
                        conversation_id=conversation_id,
                        answer_id=event.answer_id,
                    )
    raise ProblemRaised("internal-error")


async def _disconnect(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
