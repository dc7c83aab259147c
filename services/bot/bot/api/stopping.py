"""What a stopping server does with its open streams: tell the service, then wait no longer than needed.

The service ends its answers at the next thing the model says; a model that says nothing (a long
prompt, a hang) would keep a stream open until uvicorn cuts it without a last event.
"""

from __future__ import annotations

import asyncio
from weakref import WeakSet

from bot.api.stream import AnswerStream
from bot.chat.service import ChatService

PATIENCE_SECONDS = 3.0


class OpenStreams:
    """The streams that are being answered now."""

    def __init__(self) -> None:
        self._streams: WeakSet[AnswerStream] = WeakSet()

    def add(self, stream: AnswerStream) -> None:
        """Remember a stream; it is forgotten with its response."""
        self._streams.add(stream)

    def interrupt(self) -> None:
        """End every one with `error restarting`."""
        for stream in list(self._streams):
            stream.interrupt()


def stop_answering(
    chat: ChatService, streams: OpenStreams, patience_seconds: float = PATIENCE_SECONDS
) -> None:
    """Take no new questions and end the running answers; call it in the event loop."""
    chat.drain()
    asyncio.get_running_loop().call_later(patience_seconds, streams.interrupt)
