"""One question to one stream of events; the only place that knows the order of things."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import Struct

from bot.chat import catalogue, history, phrases
from bot.chat.admission import Admission, Ticket
from bot.chat.errors import ChatError, Restarting
from bot.chat.events import Done, Event, Failed, Start
from bot.chat.generate import Declined, Generator
from bot.chat.ports import Finished, IndexState, Message, Ports
from bot.chat.retrieve import Retrieved, Retriever
from bot.chat.search import Hit
from bot.chat.smalltalk import SmallTalk, recognise
from bot.chat.sources import listed, sources_of
from bot.chat.turn import Turn
from corpus.language import detect_language
from corpus.model import Language
from corpus.reader import Index
from corpus.settings import Settings
from corpus.text import clean

log = logging.getLogger("bot.chat")

NEAREST_PAGES = 3
SUGGESTIONS_IN_REFUSAL = 3


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


class ChatService:
    """Answers questions; one instance serves all visitors."""

    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        self._admission = Admission(settings.server.queue_size)
        self._retriever = Retriever(settings, ports.embedder)
        self._generator = Generator(settings, ports.model, self._check_open)
        self._draining = False

    def admit(self) -> Ticket:
        """Reserve a place before any byte is sent.

        Raises:
            Busy: the queue is full.
            Restarting: the server is going down.
        """
        self._check_open()
        return self._admission.admit()

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
            languages=("en", "es"),
            suggested_questions={
                str(language): asked for language, asked in persona.suggested_questions.items()
            },
        )

    async def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        """Start, then what the answer takes, then Done or Failed; the ticket is always released."""
        past = history.normalise(ask.history)
        turn = Turn(self._language(ask, past))
        try:
            yield Start(conversation_id=await self._ports.conversations.resume(ask.conversation_id))
            async with aclosing(self._route(ask, past, turn, ticket)) as events:
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
        self, ask: Ask, past: tuple[Message, ...], turn: Turn, ticket: Ticket
    ) -> AsyncGenerator[Event, None]:
        question = clean(ask.question).strip()
        if not ask.use_retrieval:
            async with aclosing(self._generator.answer((), past, question, turn, ticket)) as events:
                async for event in events:
                    if not isinstance(event, Declined):
                        yield event
            return
        spoken = recognise(question, self._settings.persona.name)
        if spoken.kind is not None:
            for event in turn.fixed(self._small_talk(spoken.kind, turn.language), spoken.kind):
                yield event
            return
        with self._ports.index.lease() as state:
            async with aclosing(self._search(state, spoken.rest, past, turn, ticket)) as events:
                async for event in events:
                    yield event

    async def _search(
        self,
        state: IndexState,
        question: str,
        past: tuple[Message, ...],
        turn: Turn,
        ticket: Ticket,
    ) -> AsyncGenerator[Event, None]:
        index = state.index
        if index is None:
            for event in turn.fixed(phrases.NO_INDEX[turn.language], "refusal"):
                yield event
            return
        if (asked := catalogue.read_question(question, index)) is not None:
            found = catalogue.answer(asked, index, turn.language)
            turn.retrieved()
            yield listed(found.documents)
            for event in turn.fixed(found.text, "catalogue"):
                yield event
            return
        retrieved = await self._retriever.retrieve(index, state, question, past, turn.language)
        log.info(
            "retrieved",
            extra={
                "probability": round(retrieved.decision.probability, 3),
                "answerable": retrieved.decision.answerable,
                "dense": retrieved.evidence.dense,
                "ms": turn.retrieved(),
            },
        )
        if not retrieved.decision.answerable:
            for event in self._refuse(index, retrieved, turn):
                yield event
            return
        hits = retrieved.evidence.hits
        yield sources_of(index, hits, retrieved.query, retrieved.vector)
        async with aclosing(self._generator.answer(hits, past, question, turn, ticket)) as answered:
            async for item in answered:
                if isinstance(item, Declined):
                    for event in self._refuse(index, retrieved, turn, item.finished):
                        yield event
                else:
                    yield item

    def _refuse(
        self, index: Index, retrieved: Retrieved, turn: Turn, finished: Finished | None = None
    ) -> list[Event]:
        """A kind no with the nearest pages: as sources, and by name in the text."""
        nearest: dict[str, Hit] = {}
        for hit in retrieved.evidence.hits:
            if not hit.passage.document.generated:
                nearest.setdefault(hit.passage.document.path, hit)
        hits = list(nearest.values())[:NEAREST_PAGES]
        suggested = self._settings.persona.suggested_questions.get(turn.language, ())
        text = phrases.refusal(
            turn.language,
            [hit.passage.document.title for hit in hits],
            suggested[:SUGGESTIONS_IN_REFUSAL],
        )
        fixed = turn.fixed(text, "refusal", finished)
        if finished is not None:  # the model declined: these passages were shown already
            return fixed
        return [sources_of(index, hits, retrieved.query, retrieved.vector), *fixed]

    def _small_talk(self, kind: SmallTalk, language: Language) -> str:
        persona = self._settings.persona
        if kind == "identity":
            return phrases.identity(language, persona.name, persona.topics.get(language, ()))
        texts = {"greeting": phrases.GREETING, "thanks": phrases.THANKS, "goodbye": phrases.GOODBYE}
        return texts[kind][language].format(name=persona.name)

    def _check_open(self) -> None:
        if self._draining:
            raise Restarting("the server is shutting down")
