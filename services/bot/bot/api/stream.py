"""Carry one answer's events to the wire: framed, kept alive, bounded, and freed when the visitor goes.

One task runs the service's generator from start to end and fills a bounded queue; the response
takes from the queue and sends a comment when nothing came for a while. `wait_for` on the generator
itself would kill it at the first timeout (measured). Cleaning up is synchronous in `finally` and
done once more in the response's background task, because an await there is cancelled again when
the visitor has gone (litestar-org/litestar#3772), and a generator parked at its `yield` is not told. Where
the response failed there is no background task either: bot.api.envelope then ends it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from bot.chat.admission import Ticket
from bot.chat.errors import ChatError
from bot.chat.events import Done, Event, Failed

logger = logging.getLogger("bot.api.stream")

HEARTBEAT_SECONDS = 10.0  # proxies cut quiet streams; the widget gives up after 30 s without a byte
QUEUED_EVENTS = (
    256  # a whole usual answer: a slow reader does not hold the model, memory is bounded
)
CLEANUP_SECONDS = 5.0
HEARTBEAT = b": keep-alive\n\n"
ENCODER = msgspec.json.Encoder()
INTERNAL_ERROR = Failed(
    code="internal-error",
    message="Something went wrong here. / Algo ha fallado aquí.",
    retryable=True,
)

RESTARTING = Failed(
    code="restarting",
    message="The server is restarting, please ask again. / El servidor se reinicia, vuelve a preguntar.",
    retryable=True,
)
FACTS = {"route": "/api/chat", "code": "internal-error"}
STREAM_HEADERS = {
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
}


def frame(event: Event) -> bytes:
    """One `data:` line; JSON escapes line ends, so no text can forge another event."""
    return b"data: " + ENCODER.encode(event) + b"\n\n"


class AnswerStream:
    """The body of one streamed answer. Call `close` when the response is over, however it ended."""

    def __init__(
        self,
        events: AsyncGenerator[Event, None],
        ticket: Ticket,
        *,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._events = events
        self._ticket = ticket
        self._heartbeat_seconds = heartbeat_seconds
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue(QUEUED_EVENTS)
        self._producer: asyncio.Task[None] | None = None
        self._interrupted = False

    async def body(self) -> AsyncGenerator[bytes, None]:
        """Frames until the last event; exactly one `done` or `error` ends them."""
        self._producer = asyncio.create_task(self._produce(), name="answer")
        try:
            # The first byte goes out before any work: a proxy or browser waits for it.
            yield HEARTBEAT
            while True:
                try:
                    event = await asyncio.wait_for(self._queue.get(), self._heartbeat_seconds)
                except TimeoutError:
                    yield HEARTBEAT
                    continue
                if event is None:
                    return
                yield frame(event)
        finally:
            self.stop()

    def interrupt(self) -> None:
        """End the stream with `error restarting`; for a server that can wait no longer."""
        if self._producer is None or self._producer.done() or self._interrupted:
            return
        self._interrupted = True
        self._cancel(self._producer)
        while not self._queue.empty():  # what the reader has not taken yet; makes room
            self._queue.get_nowait()
        self._queue.put_nowait(RESTARTING)
        self._queue.put_nowait(None)

    async def close(self) -> None:
        """Free the model and the place in the line; for a BackgroundTask, after the response."""
        self.stop()
        if self._producer is not None:
            await asyncio.wait({self._producer}, timeout=CLEANUP_SECONDS)

    def stop(self) -> None:
        """Begin to free both, at once; for whoever can't wait. Doing it again does nothing."""
        if self._producer is not None:
            self._cancel(self._producer)
        self._ticket.release()

    @staticmethod
    def _cancel(producer: asyncio.Task[None]) -> None:
        """Once only: a second cancellation breaks into the clean-up of the first, which closes the model's
        connection. Python 3.13 then left it open, and an answer was written to its end for nobody."""
        if not producer.cancelling():
            producer.cancel()

    async def _produce(self) -> None:
        ended = False
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    await self._queue.put(event)
                    if isinstance(event, Done | Failed):
                        ended = True
                        break
            if not ended:
                logger.error("an answer ended without done or error", extra=FACTS)
        except ChatError as error:
            logger.error("an answer raised %s", error.code, extra=FACTS)
        except Exception as error:
            logger.error("an answer failed", exc_info=error, extra=FACTS)
        if not ended:
            await self._queue.put(INTERNAL_ERROR)
        await self._queue.put(None)
