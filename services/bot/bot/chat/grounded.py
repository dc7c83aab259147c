"""Answer one question from the site's content: search, decide, let the model speak, name the sources."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import date

from bot.chat.admission import Ticket
from bot.chat.asked import Asked
from bot.chat.at_once import AtOnce
from bot.chat.dispatch import Dispatcher
from bot.chat.errors import ModelLoading, ModelTimeout, ModelUnavailable, WaitedTooLong
from bot.chat.events import Chunk, Event, Sources
from bot.chat.extracts import Reason
from bot.chat.found import Found
from bot.chat.generate import Answered, Declined, Task
from bot.chat.halves import left_open
from bot.chat.known import Recording
from bot.chat.ports import Ports
from bot.chat.ports.index import IndexState
from bot.chat.ports.model import Finished
from bot.chat.prepared import Prepared
from bot.chat.reading import Reading
from bot.chat.retrieve import Retriever
from bot.chat.threads import Threads
from bot.chat.today import utc_today
from bot.chat.turn import Turn
from corpus.reader import Page
from corpus.settings import Settings

log = logging.getLogger("bot.chat")


class Grounded:
    """Everything between the small talk and the model."""

    def __init__(
        self,
        settings: Settings,
        ports: Ports,
        dispatcher: Dispatcher,
        prepared: Prepared,
        *,
        on_page: Callable[[Page], None],
        today: Callable[[], date] = utc_today,
    ) -> None:
        """`on_page` is told which page each answer rests on."""
        self._settings = settings
        self._retriever = Retriever(settings, ports.embedder, today=today)
        self._dispatcher = dispatcher
        self._prepared = prepared
        self._at_once = AtOnce(prepared, today)
        self._reading = Reading(
            settings.rag, Threads(settings.conversations.ttl_seconds), today=today
        )
        self._on_page = on_page

    async def answer(
        self, state: IndexState, asked: Asked, turn: Turn, ticket: Ticket
    ) -> AsyncGenerator[Event, None]:
        """The events from the sources to the last one.

        Raises:
            ChatError: see bot.chat.errors.
        """
        if (ready := self._at_once.answer(state.index, asked, turn)) is not None:
            for event in ready:
                yield event
            return
        assert state.index is not None
        retrieved = await self._retriever.retrieve(
            state.index, state, asked.question, asked.past, turn.language
        )
        log.info(
            "retrieved",
            extra={
                "probability": round(retrieved.decision.probability, 3),
                "answerable": retrieved.decision.answerable,
                "dense": retrieved.evidence.dense,
                "ms": turn.retrieved(),
            },
        )
        found = Found(index=state.index, retrieved=retrieved)
        if (listing := retrieved.listing) is not None:
            text = listing.text + found.remarks(turn.language)
            for event in (found.listed(listing), *turn.fixed(text, "catalogue")):
                yield event
            return
        if not retrieved.decision.answerable:
            for event in found.refusal(self._offered(found, turn), turn):
                yield event
            return
        task, page = self._reading.task(
            found, found.question(asked.question), asked.past, asked.conversation_id, turn.language
        )
        # What was found without the embedder, or counts to this very day, is no answer for later.
        lasting = asked.first and not task.notes and retrieved.evidence.dense == state.dense
        recording = Recording()
        async with aclosing(self._speak(found, task, page, turn, ticket)) as events:
            async for event in events:
                if (answer := recording.take(event)) is not None and lasting:
                    await self._prepared.keep(
                        state.index, asked.question, turn.language, answer,
                        suggested=asked.suggested,
                    )  # fmt: skip
                yield event

    def _offered(self, found: Found, turn: Turn) -> tuple[str, ...]:
        return self._prepared.shown(found.index, turn.language)

    def _declined(self, found: Found, turn: Turn, finished: Finished) -> list[Event]:
        """What is said where the model found no answer."""
        if found.retrieved.unanswered and (quoted := found.quoted_half(turn, finished)):
            return quoted
        return found.refusal(self._offered(found, turn), turn, finished)

    async def _speak(
        self, found: Found, task: Task, page: Page | None, turn: Turn, ticket: Ticket
    ) -> AsyncGenerator[Event, None]:
        """The model's answer; the passages themselves where it can't be had in time."""
        shown = found.sources(task.context, task.context.found_labels)
        yield shown
        reason: Reason = "busy"
        if ticket.expected_seconds() <= self._settings.server.queue_seconds:
            spoken = False
            try:
                async with aclosing(
                    self._let_speak(found, task, page, turn, ticket, shown)
                ) as events:
                    async for event in events:
                        spoken = spoken or isinstance(event, Chunk)
                        yield event
                return
            except (WaitedTooLong, ModelUnavailable, ModelLoading, ModelTimeout) as error:
                if spoken:
                    raise
                log.warning("answered with passages", extra={"code": error.code})
                reason = "busy" if isinstance(error, WaitedTooLong) else "down"
        for event in found.extracts(turn, reason):
            yield event

    async def _let_speak(
        self,
        found: Found,
        task: Task,
        page: Page | None,
        turn: Turn,
        ticket: Ticket,
        shown: Sources,
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(self._dispatcher.answer(task, turn, ticket)) as items:
            async for item in items:
                if isinstance(item, Declined):
                    for event in self._declined(found, turn, item.finished):
                        yield event
                elif isinstance(item, Answered):
                    used = found.sources(item.context, item.cited)
                    if used != shown:
                        yield used
                    still_open = left_open(task.question, item.said)
                    if remarks := found.remarks(turn.language, still_open):
                        yield Chunk(content=remarks)
                    if page is not None:
                        self._on_page(page)
                        self._reading.remember(task, page, item)
                    yield turn.done("answer", item.finished)
                else:
                    yield item
