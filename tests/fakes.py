"""Fakes of the ports: real classes with a queue, no patching. Also a scripted ChatService."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np

from bot.adapters.conversations import LocalConversations
from bot.adapters.feedback import LocalAnswers
from bot.adapters.limiter import LocalLimiter
from bot.chat.admission import Admission, Ticket
from bot.chat.errors import Restarting
from bot.chat.events import (
    Chunk,
    Done,
    Event,
    Failed,
    Queued,
    SourcePassage,
    Sources,
    Start,
    Timings,
    Usage,
)
from bot.chat.ports import Ports
from bot.chat.ports.feedback import Answers, VoteJournal
from bot.chat.ports.index import IndexLease, IndexState, ReindexReport
from bot.chat.ports.model import Finished, Message, ModelEvent, TextDelta
from bot.chat.ports.sharing import Limiter
from bot.chat.prepared import Prepared
from bot.chat.service import Ask, ChatService, Info
from bot.chat.states import NoStates
from bot.chat.warming import Warmer
from corpus.reader import Index
from corpus.settings import ConversationSettings, FeedbackSettings, RateLimitSettings, Settings
from corpus.vectors import Vector

HANG = "hang"
"""In a script: wait for ever (until cancelled)."""


class Gate:
    """In a script: wait until the test, in whatever thread, has opened it."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def open(self) -> None:
        """Let what waits go on."""
        self._open.set()

    async def wait(self) -> None:
        """Return when it is open."""
        while not self._open.is_set():  # noqa: ASYNC110  (opened from another thread)
            await asyncio.sleep(0.001)


Step = float | str | Gate | Exception
PATIENT = RateLimitSettings(requests_per_minute=60_000, burst=10_000)


async def _pause(step: float | str | Gate) -> None:
    if isinstance(step, Gate):
        await step.wait()
    else:
        await (asyncio.Event().wait() if step == HANG else asyncio.sleep(float(step)))


class FakeModel:
    """A LanguageModel that plays queued scripts: events, pauses in seconds, HANG, gates, exceptions."""

    def __init__(self) -> None:
        self.scripts: deque[Sequence[ModelEvent | Step]] = deque()
        self.prompts: list[tuple[Message, ...]] = []
        self.running = 0
        self.problem: Exception | str | None = None
        """What `check` raises; HANG makes it hang."""

    def enqueue(self, *script: ModelEvent | Step) -> None:
        """The next call plays this."""
        self.scripts.append(script)

    def enqueue_text(self, *pieces: str) -> None:
        """The next call generates these pieces and finishes."""
        finished = Finished(finish_reason="stop", input_tokens=100, output_tokens=len(pieces))
        self.enqueue(*(TextDelta(text=piece) for piece in pieces), finished)

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        self.prompts.append(messages)
        script = self.scripts.popleft() if self.scripts else ()
        self.running += 1
        try:
            for step in script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float | str | Gate):
                    await _pause(step)
                else:
                    yield step
        finally:
            self.running -= 1

    async def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def check(self) -> None:
        if isinstance(self.problem, Exception):
            raise self.problem
        if self.problem == HANG:
            await _pause(HANG)


class FakeEmbedder:
    """A QueryEmbedder: queued vectors or exceptions for questions, a fixed vector otherwise."""

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension
        self.queue: deque[Vector | Exception] = deque()
        self.questions: list[str] = []
        self.probes = 0
        self.problem: Exception | str | None = None

    async def embed_query(self, text: str) -> Vector:
        self.questions.append(text)
        answer = self.queue.popleft() if self.queue else self._fixed()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def probe(self) -> Vector:
        self.probes += 1
        if isinstance(self.problem, Exception):
            raise self.problem
        if self.problem == HANG:
            await _pause(HANG)
        return self._fixed()

    def _fixed(self) -> Vector:
        vector = np.zeros(self.dimension, np.float32)
        vector[0] = 1.0
        return vector


class FakeIndex:
    """An IndexSource over one index (or none); counts open leases."""

    def __init__(
        self, index: Index | None = None, *, problem: str | None = None, dense: bool = True
    ) -> None:
        self.current = IndexState(index=index, problem=problem, dense=dense)
        self.leases = 0

    def lease(self) -> IndexLease:
        return _FakeLease(self)

    def state(self) -> IndexState:
        return self.current


class _FakeLease:
    def __init__(self, source: FakeIndex) -> None:
        self._source = source

    def __enter__(self) -> IndexState:
        self._source.leases += 1
        return self._source.current

    def __exit__(self, *_: object) -> None:
        self._source.leases -= 1


class FakeReindexer:
    """A Reindexer with queued outcomes."""

    def __init__(self) -> None:
        self.queue: deque[ReindexReport | Exception] = deque()
        self.runs = 0

    async def run(self) -> ReindexReport:
        self.runs += 1
        outcome = self.queue.popleft() if self.queue else ReindexReport(
            indexed_files=3, total_chunks=12, duration_ms=40
        )  # fmt: skip
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def fake_ports(
    *,
    model: FakeModel | None = None,
    embedder: FakeEmbedder | None = None,
    index: FakeIndex | None = None,
    limiter: Limiter | None = None,
    reindexer: FakeReindexer | None = None,
    answers: Answers | None = None,
    journal: VoteJournal | None = None,
) -> Ports:
    """Ports of fakes; the limiter lets everything pass unless one is given."""
    return Ports(
        model=model or FakeModel(),
        embedder=embedder or FakeEmbedder(),
        index=index or FakeIndex(),
        limiter=LocalLimiter(PATIENT) if limiter is None else limiter,
        conversations=LocalConversations(ConversationSettings()),
        answers=LocalAnswers(FeedbackSettings()) if answers is None else answers,
        journal=journal,
        reindexer=reindexer or FakeReindexer(),
    )


async def _nothing(*_: object) -> None:
    """No answer is prepared."""


class ScriptedChat(ChatService):
    """A ChatService that plays scripts of events, pauses and exceptions, one answer at a time."""

    def __init__(self, settings: Settings, ports: Ports) -> None:
        self._ports_in_use = ports
        server = settings.server
        self._admission_line = Admission(server.queue_size, queue_seconds=server.queue_seconds)
        self.warmer = Warmer(
            settings,
            [NoStates()],
            ports.index,
            self._admission_line,
            Prepared(settings, None),
            _nothing,
        )
        self._restarting = asyncio.Event()
        self.scripts: deque[Sequence[Event | Step]] = deque()
        self.asks: list[Ask] = []
        self.open_answers = 0
        self.refuse_with: Exception | None = None

    def enqueue(self, *script: Event | Step) -> None:
        """The next answer plays this after its start event."""
        self.scripts.append(script)

    def admit(self, visitor: str | None = None) -> Ticket:
        if self.refuse_with:
            raise self.refuse_with
        if self._restarting.is_set():
            raise Restarting
        return self._admission_line.admit(visitor)

    @property
    def admitted(self) -> int:
        """Places taken now."""
        return self._admission_line.admitted

    async def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        self.asks.append(ask)
        script = self.scripts.popleft() if self.scripts else GOOD_ANSWER
        self.open_answers += 1
        try:
            yield Start(
                conversation_id=await self._ports_in_use.conversations.resume(ask.conversation_id)
            )
            async for position, eta_seconds in ticket.wait_turn():
                yield Queued(position=position, eta_seconds=eta_seconds)
            for step in script:
                if self._restarting.is_set():
                    yield Failed(code="restarting", message="Restarting.", retryable=True)
                    return
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float | str | Gate):
                    if await self._interrupted(step):
                        yield Failed(code="restarting", message="Restarting.", retryable=True)
                        return
                else:
                    yield step
        finally:
            self.open_answers -= 1
            ticket.release()

    async def _interrupted(self, step: float | str | Gate) -> bool:
        """Wait for the step or for `drain`, whichever is first."""
        drained, passed = (
            asyncio.create_task(work) for work in (self._restarting.wait(), _pause(step))
        )
        try:
            await asyncio.wait({drained, passed}, return_when=asyncio.FIRST_COMPLETED)
            return drained.done()
        finally:
            drained.cancel()
            passed.cancel()

    async def info(self) -> Info:
        return Info(
            name="Marea",
            model="qwen2.5-1.5b-instruct",
            persona="Marea",
            topics={"en": ("web",), "es": ("web",)},
            languages=("en", "es"),
            suggested_questions={"en": ("What do you build?",), "es": ("¿Qué hacéis?",)},
        )

    def drain(self) -> None:
        self._restarting.set()


SOURCES = Sources(
    documents=("clothes-shop.md",),
    passages=(
        SourcePassage(
            n=1,
            title="Clothes shop",
            section="Payments",
            url="/projects/clothes-shop#payments",
            lang="en",
            kind="project",
            quote="Payments: Stripe.",
        ),
    ),
)
DONE = Done(
    usage=Usage(input_tokens=100, output_tokens=2),
    finish_reason="stop",
    route="answer",
    timings=Timings(total_ms=12.0),
)
GOOD_ANSWER: tuple[Event, ...] = (
    SOURCES,
    Chunk(content="Con Stripe "),
    Chunk(content="[1]."),
    DONE,
)


def settings_in(folder: Path) -> Settings:
    """Settings whose index lives in `folder`."""
    from msgspec.structs import replace

    settings = Settings()
    return replace(settings, rag=replace(settings.rag, index_path=str(folder)))
