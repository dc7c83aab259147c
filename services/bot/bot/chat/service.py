"""One question to one stream of events; the only place that knows the order of things."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from time import perf_counter

from msgspec import Struct

from bot.chat import catalogue, history, phrases, prompt
from bot.chat.admission import Admission, Ticket
from bot.chat.citations import CitationFilter
from bot.chat.errors import ChatError, ContextOverflow, ModelEmpty, Restarting
from bot.chat.events import (
    Chunk,
    Done,
    Event,
    Failed,
    Progress,
    Queued,
    Route,
    Start,
    Timings,
    Usage,
)  # fmt: skip
from bot.chat.ports import Finished, IndexState, Message, Ports, PromptProgress, TextDelta
from bot.chat.retrieve import Retrieved, Retriever
from bot.chat.search import Hit
from bot.chat.smalltalk import SmallTalk, recognise
from bot.chat.sources import listed, sources_of, supporting
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


class _Turn:
    """Clock and facts of one answer while it runs."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self.started = perf_counter()
        self.retrieval_ms = 0.0
        self.queue_ms = 0.0
        self.first_token_ms = 0.0

    def elapsed_ms(self) -> float:
        return round((perf_counter() - self.started) * 1000, 1)

    def timings(self, finished: Finished | None = None) -> Timings:
        return Timings(
            retrieval_ms=self.retrieval_ms,
            queue_ms=self.queue_ms,
            first_token_ms=self.first_token_ms,
            total_ms=self.elapsed_ms(),
            cached_tokens=finished.cached_tokens if finished else 0,
            evaluated_tokens=finished.evaluated_tokens if finished else 0,
        )


class ChatService:
    """Answers questions; one instance serves all visitors."""

    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._settings = settings
        self._ports = ports
        self._admission = Admission(settings.server.queue_size)
        self._retriever = Retriever(settings, ports.embedder)
        self._draining = False

    def admit(self) -> Ticket:
        """Reserve a place before any byte is sent.

        Raises:
            Busy: the queue is full.
            Restarting: the server is going down.
        """
        if self._draining:
            raise Restarting("the server is shutting down")
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
        language = self._language(ask, past)
        turn = _Turn(language)
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
                message=phrases.error_message(error.code, language),
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
        self, ask: Ask, past: tuple[Message, ...], turn: _Turn, ticket: Ticket
    ) -> AsyncGenerator[Event, None]:
        question = clean(ask.question).strip()
        if not ask.use_retrieval:
            async with aclosing(self._generate((), past, question, turn, ticket)) as events:
                async for event in events:
                    yield event
            return
        spoken = recognise(question)
        if spoken.kind is not None:
            for event in self._fixed(
                self._small_talk(spoken.kind, turn.language), spoken.kind, turn
            ):
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
        turn: _Turn,
        ticket: Ticket,
    ) -> AsyncGenerator[Event, None]:
        index = state.index
        if index is None:
            for event in self._fixed(phrases.NO_INDEX[turn.language], "refusal", turn):
                yield event
            return
        if (asked := catalogue.read_question(question, index)) is not None:
            found = catalogue.answer(asked, index, turn.language)
            turn.retrieval_ms = turn.elapsed_ms()
            yield listed(found.documents)
            for event in self._fixed(found.text, "catalogue", turn):
                yield event
            return
        retrieved = await self._retriever.retrieve(index, state, question, past, turn.language)
        turn.retrieval_ms = turn.elapsed_ms()
        log.info(
            "retrieved",
            extra={
                "probability": round(retrieved.decision.probability, 3),
                "answerable": retrieved.decision.answerable,
                "dense": retrieved.evidence.dense,
                "ms": turn.retrieval_ms,
            },
        )
        if not retrieved.decision.answerable:
            for event in self._refuse(index, retrieved, turn):
                yield event
            return
        sources = sources_of(index, retrieved.evidence.hits, retrieved.query, retrieved.vector)
        yield sources
        async with aclosing(
            self._generate(retrieved.evidence.hits, past, question, turn, ticket, index, retrieved)
        ) as events:
            async for event in events:
                yield event

    async def _generate(
        self,
        hits: Sequence[Hit],
        past: tuple[Message, ...],
        question: str,
        turn: _Turn,
        ticket: Ticket,
        index: Index | None = None,
        retrieved: Retrieved | None = None,
    ) -> AsyncGenerator[Event, None]:
        queued_at = perf_counter()
        async with aclosing(ticket.wait_turn()) as places:
            async for position, eta in places:
                self._check_draining()
                yield Queued(position=position, eta_seconds=eta)
        turn.queue_ms = round((perf_counter() - queued_at) * 1000, 1)
        self._check_draining()
        window: int | None = None
        for attempt in (1, 2):
            messages, kept = await prompt.fit(
                self._settings.persona, hits, past, question, turn.language,
                provider=self._settings.provider, model=self._ports.model, window_tokens=window,
            )  # fmt: skip
            try:
                async with aclosing(self._stream(messages, kept, turn)) as events:
                    async for event in events:
                        if isinstance(event, _NotHeld) and index and retrieved:
                            for refusal in self._refuse(index, retrieved, turn, event.finished):
                                yield refusal
                            return
                        if not isinstance(event, _NotHeld):
                            yield event
                return
            except ContextOverflow as error:
                # The tokenizer estimate was too low, or the server's window is smaller than ours.
                if attempt == 2:
                    raise
                window = error.window_tokens or self._settings.provider.context_size * 3 // 4

    async def _stream(
        self, messages: tuple[Message, ...], hits: Sequence[Hit], turn: _Turn
    ) -> AsyncGenerator[Event | _NotHeld, None]:
        """Chunks with checked citations, then Done; `_NotHeld` instead when the model declines."""
        filtered = CitationFilter(len(hits), "\n".join(hit.passage.chunk.text for hit in hits))
        opening = _Opening(active=bool(hits))
        said = ""
        finished: Finished | None = None
        async with aclosing(self._ports.model.stream(messages)) as deltas:
            async for delta in deltas:
                self._check_draining()
                if isinstance(delta, PromptProgress):
                    yield Progress(processed=delta.processed, total=delta.total)
                elif isinstance(delta, Finished):
                    finished = delta
                elif isinstance(delta, TextDelta) and (text := opening.feed(delta.text)):
                    if not turn.first_token_ms:
                        turn.first_token_ms = turn.elapsed_ms()
                    if shown := filtered.feed(text):
                        said += shown
                        yield Chunk(content=shown)
        if opening.declined:
            yield _NotHeld(finished=finished)
            return
        if tail := filtered.feed(opening.close()) + filtered.close():
            said += tail
            yield Chunk(content=tail)
        if not said.strip():
            raise ModelEmpty("the model finished without a word")
        if hits and not filtered.cited:
            yield Chunk(content=f" [{supporting(hits, said)}]")
        yield Done(
            usage=Usage(
                input_tokens=finished.input_tokens if finished else 0,
                output_tokens=finished.output_tokens if finished else 0,
            ),
            finish_reason=finished.finish_reason if finished else "stop",
            route="answer",
            timings=turn.timings(finished),
        )

    def _refuse(
        self, index: Index, retrieved: Retrieved, turn: _Turn, finished: Finished | None = None
    ) -> list[Event]:
        """A kind no with the nearest pages: as sources, and by name in the text."""
        nearest: dict[str, Hit] = {}
        for hit in retrieved.evidence.hits:
            if not hit.passage.document.generated:
                nearest.setdefault(hit.passage.document.path, hit)
        hits = list(nearest.values())[:NEAREST_PAGES]
        text = phrases.refusal(
            turn.language,
            [hit.passage.document.title for hit in hits],
            self._settings.persona.suggested_questions.get(turn.language, ())[
                :SUGGESTIONS_IN_REFUSAL
            ],
        )
        fixed = self._fixed(text, "refusal", turn, finished)
        if finished is not None:  # the model declined: these passages were shown already
            return fixed
        return [sources_of(index, hits, retrieved.query, retrieved.vector), *fixed]

    def _fixed(
        self, text: str, route: Route, turn: _Turn, finished: Finished | None = None
    ) -> list[Event]:
        if not turn.first_token_ms:
            turn.first_token_ms = turn.elapsed_ms()
        usage = Usage(
            input_tokens=finished.input_tokens if finished else 0,
            output_tokens=finished.output_tokens if finished else 0,
        )
        return [
            Chunk(content=text),
            Done(usage=usage, finish_reason="fixed", route=route, timings=turn.timings(finished)),
        ]

    def _small_talk(self, kind: SmallTalk, language: Language) -> str:
        persona = self._settings.persona
        if kind == "identity":
            return phrases.identity(language, persona.name, persona.topics.get(language, ()))
        texts = {"greeting": phrases.GREETING, "thanks": phrases.THANKS, "goodbye": phrases.GOODBYE}
        return texts[kind][language].format(name=persona.name)

    def _check_draining(self) -> None:
        if self._draining:
            raise Restarting("the server is shutting down")


class _NotHeld(Struct, frozen=True, kw_only=True):
    """The model found no answer in the passages."""

    finished: Finished | None


class _Opening:
    """Holds back the first characters until they can't be the model's NO_ANSWER any more."""

    def __init__(self, *, active: bool) -> None:
        self._held = ""
        self._active = active
        self.declined = False

    def feed(self, text: str) -> str:
        if self.declined:
            return ""
        if not self._active:
            return text
        self._held += text
        start = self._held.lstrip(" \n\"'`*([")
        if start.startswith(prompt.NO_ANSWER):
            self.declined = True
            return ""
        if prompt.NO_ANSWER.startswith(start):
            return ""
        self._active = False
        return self._held

    def close(self) -> str:
        """What was held when the stream ended; short answers may end inside the window."""
        return self._held if self._active and not self.declined else ""
