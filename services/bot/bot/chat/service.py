"""One question to one stream of events; the only place that knows the order of things."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import Struct

from bot.chat import history, phrases
from bot.chat.admission import Admission, Ticket
from bot.chat.asked import Asked
from bot.chat.context import Context
from bot.chat.dispatch import Dispatcher
from bot.chat.errors import ChatError, Restarting
from bot.chat.events import Done, Event, Failed, Start
from bot.chat.generate import Answered, Declined, Generator, Task
from bot.chat.grounded import Grounded
from bot.chat.ports import Ports
from bot.chat.ports.index import IndexState
from bot.chat.ports.model import Message
from bot.chat.prepared import Prepared
from bot.chat.smalltalk import recognise
from bot.chat.smalltalk_frames import SmallTalk
from bot.chat.states import NoStates
from bot.chat.turn import Turn
from bot.chat.warming import Warmer, Warmth
from corpus.language import detect_language
from corpus.model import LANGUAGES, Language
from corpus.settings import Settings
from corpus.text import clean

log = logging.getLogger("bot.chat")


class Ask(Struct, frozen=True, kw_only=True):
    """What a visitor wants to know, as it came in."""

    question: str
    history: tuple[Message, ...] = ()
    conversation_id: str | None = None
    browser_language: Language | None = None
    use_retrieval: bool = True
    """False sends the question to the model without passages: for the owner's experiments."""


class Info(Struct, frozen=True, kw_only=True):
    """What `/api/info` tells about this bot."""

    name: str
    model: str
    persona: str
    topics: dict[str, tuple[str, ...]]
    languages: tuple[Language, ...]
    suggested_questions: dict[str, tuple[str, ...]]
    warmth: Warmth = Warmth(enabled=False)
    """How many pages answer at once, of how many."""


class ChatService:
    """Answers questions; one instance serves all visitors."""

    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        server = settings.server
        chat_servers = ports.chat_servers
        self._admission = Admission(
            server.queue_size, len(chat_servers), queue_seconds=server.queue_seconds
        )
        states = tuple(each.states or NoStates() for each in chat_servers)
        self._dispatcher = Dispatcher(
            [
                Generator(settings, each.model, its_states, self._check_open)
                for each, its_states in zip(chat_servers, states, strict=True)
            ]
        )
        self._prepared = Prepared(settings, ports.known)
        self.warmer = Warmer(
            settings, states, ports.index, self._admission, self._prepared, self._answer_suggested
        )
        self._grounded = Grounded(
            settings,
            ports,
            self._dispatcher,
            self._prepared,
            on_page=self.warmer.asked,
        )
        self._draining = False

    def admit(self, visitor: str | None = None) -> Ticket:
        """Reserve a place before any byte is sent; `visitor` is the key turns are counted by.

        Raises:
            Busy: the queue is full, or this visitor's share of it.
            Restarting: the server is going down.
        """
        self._check_open()
        return self._admission.admit(visitor)

    def drain(self) -> None:
        """Refuse new questions and end running answers with a retryable error."""
        self._draining = True
        self._admission.wake_all()

    async def info(self) -> Info:
        """What the widget shows before the first question."""
        persona = self._settings.persona
        return Info(
            name=persona.name,
            model=self._settings.provider.model,
            persona=phrases.IDENTITY["en"].format(name=persona.name),
            topics={str(language): topics for language, topics in persona.topics.items()},
            languages=LANGUAGES,
            suggested_questions=self._suggested(),
            warmth=self.warmer.warmth(),
        )

    def _suggested(self) -> dict[str, tuple[str, ...]]:
        with self._ports.index.lease() as state:
            shown = {
                language: self._prepared.shown(state.index, language) for language in LANGUAGES
            }
        return {str(language): questions for language, questions in shown.items() if questions}

    async def _answer_suggested(
        self, state: IndexState, question: str, language: Language, ticket: Ticket
    ) -> None:
        """Have the answer to a suggested question ready."""
        asked = Asked(question=question, past=(), conversation_id=None, first=True, suggested=True)
        turn = Turn(language)
        async with aclosing(self._grounded.answer(state, asked, turn, ticket)) as events:
            async for _ in events:
                pass

    async def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        """Start, then what the answer takes, then Done or Failed; the ticket is always released."""
        past = history.normalise(ask.history)
        turn = Turn(self._language(ask, past))
        try:
            conversation_id = await self._ports.conversations.resume(ask.conversation_id)
            yield Start(conversation_id=conversation_id)
            async with aclosing(self._route(ask, past, turn, ticket, conversation_id)) as events:
                async for event in events:
                    if isinstance(event, Done):
                        log.info("answered", extra={"route": event.route, "ms": turn.elapsed_ms()})
                    yield event
        except ChatError as error:
            log.warning("answer failed", extra={"code": error.code, "ms": turn.elapsed_ms()})
            yield Failed(
                code=error.code,
                message=phrases.error_message(error.code, turn.language),
                retryable=error.retryable,
            )
        finally:
            ticket.release()

    def _language(self, ask: Ask, past: Sequence[Message]) -> Language:
        """Of the question, else of the questions before, else of the browser, else configured."""
        for text in (ask.question, *reversed(history.questions(past))):
            if found := detect_language(text):
                return found
        return ask.browser_language or self._settings.rag.default_language

    async def _route(
        self,
        ask: Ask,
        past: tuple[Message, ...],
        turn: Turn,
        ticket: Ticket,
        conversation_id: str,
    ) -> AsyncGenerator[Event, None]:
        question = clean(ask.question).strip()
        if not ask.use_retrieval:
            task = Task(question=question, context=Context(), past=past)
            async with aclosing(self._dispatcher.answer(task, turn, ticket)) as events:
                async for event in events:
                    if isinstance(event, Answered):
                        yield turn.done("answer", event.finished)
                    elif not isinstance(event, Declined):
                        yield event
            return
        spoken = recognise(question, self._settings.persona.name, self._holds)
        if spoken.kind is not None:
            for event in turn.fixed(self._small_talk(spoken.kind, turn.language), spoken.kind):
                yield event
            return
        asked = Asked(
            question=spoken.rest,
            past=past,
            conversation_id=conversation_id,
            first=not past and not ask.history,
        )
        with self._ports.index.lease() as state:
            async with aclosing(self._grounded.answer(state, asked, turn, ticket)) as events:
                async for event in events:
                    yield event

    def _holds(self, word: str) -> bool:
        with self._ports.index.lease() as state:
            return state.index is None or state.index.holds(word)

    def _small_talk(self, kind: SmallTalk, language: Language) -> str:
        persona = self._settings.persona
        if kind == "identity":
            return phrases.identity(language, persona.name, persona.topics.get(language, ()))
        texts = {"greeting": phrases.GREETING, "thanks": phrases.THANKS, "goodbye": phrases.GOODBYE}
        return texts[kind][language].format(name=persona.name)

    def _check_open(self) -> None:
        if self._draining:
            raise Restarting("the server is shutting down")
