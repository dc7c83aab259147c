"""Answer suggested questions and evaluate pages before anybody asks: on an idle model, gone at a visitor.

A page of 700 tokens takes 10–20 s with a 1.5B model on two CPUs; restoring its saved state takes less
than 0.1 s. So the work is done while nobody waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from time import monotonic

from msgspec import Struct

from bot.chat import prompt
from bot.chat.admission import Admission, Ticket
from bot.chat.background import background
from bot.chat.context import Context
from bot.chat.errors import ModelError, Restarting
from bot.chat.ports.index import IndexSource, IndexState
from bot.chat.ports.states import Prefix, PromptStates, Warmed
from bot.chat.prepared import Prepared
from corpus.model import LANGUAGES, IndexMeta, Language
from corpus.reader import Index, Page
from corpus.settings import PersonaSettings, Settings

log = logging.getLogger("bot.chat")

AnswerSuggested = Callable[[IndexState, str, Language, Ticket], Awaitable[None]]

IDLE_SECONDS = 5.0  # a visitor who reads and asks again must not find the model at work
LOOK_SECONDS = 5.0  # between two looks at an index in which everything is warm
RETRY_SECONDS = 30.0  # after the model failed
REFUSED_SECONDS = 600.0  # after a page found no room, or the disk refused
SMOOTHING = 0.3


class Warmth(Struct, frozen=True, kw_only=True):
    """How many pages answer at once, of how many."""

    enabled: bool
    warm: int = 0
    pages: int = 0
    eta_seconds: float = 0.0
    """Of an idle model for the rest; 0 before the first page was measured."""
    working: bool = False
    """Told to hurry, and neither done nor stopped by an error."""


class Warmer:
    """The background work of one bot; `run` it as a task for the bot's whole life."""

    def __init__(
        self,
        settings: Settings,
        states: Sequence[PromptStates],
        index: IndexSource,
        admission: Admission,
        prepared: Prepared,
        answer: AnswerSuggested,
        *,
        idle_seconds: float = IDLE_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        refused_seconds: float = REFUSED_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`states` of each chat server, by its number."""
        self._settings = settings
        self._states = states
        self._index = index
        self._admission = admission
        self._prepared = prepared
        self._answer = answer
        self._idle_seconds = idle_seconds
        self._look_seconds = look_seconds
        self._retry_seconds = retry_seconds
        self._refused_seconds = refused_seconds
        self._clock = clock
        self._server = self._failures = 0
        """The server it works on while that one is free, so that the slots of others keep what they
        hold; and how many failed in a row."""
        self._asked: Counter[str] = Counter()
        self._hurry = asyncio.Event()
        self._page_seconds = 0.0
        self._followed: IndexMeta | None = None
        self._unwanted: dict[str, float] = {}
        self._built: tuple[IndexMeta, tuple[tuple[Page, Prefix], ...]] | None = None

    def asked(self, page: Page) -> None:
        """Note that a visitor was answered from this page: it goes first when it is cold."""
        self._asked[page.key] += 1

    def hurry(self) -> None:
        """Start now instead of after a while of rest, until everything is warm."""
        self._hurry.set()

    def warmth(self) -> Warmth:
        """For health, info and the command line."""
        if not any(each.enabled for each in self._states):
            return Warmth(enabled=False)
        with self._index.lease() as state:
            if state.index is None:
                return Warmth(enabled=True)
            prefixes = [prefix for _, prefix in self._prefixes(state.index)]
        warm = sum(any(each.has(prefix) for each in self._states) for prefix in prefixes)
        left = len(prefixes) - warm
        return Warmth(
            enabled=True,
            warm=warm,
            pages=len(prefixes),
            eta_seconds=round(left * self._page_seconds, 1),
            working=self._hurry.is_set(),
        )

    async def run(self) -> None:
        """Warm one page after the other, until the server goes down."""
        while True:
            if not self._settings.provider.warm_when_idle:
                await self._hurry.wait()
            pause = self._look_seconds
            try:
                pause = await self._step()
            except Restarting:
                return
            except ModelError as error:
                log.info("warming waits: %s", error.code, extra={"code": error.code})
                pause = self._elsewhere()
            if pause:
                self._hurry.clear()
                try:
                    async with asyncio.timeout(pause):
                        await self._hurry.wait()
                except TimeoutError:
                    pass

    async def _step(self) -> float:
        """Warm the next page; seconds to rest afterwards."""
        idle_seconds = 0.0 if self._hurry.is_set() else self._idle_seconds
        async with background(
            self._admission, idle_seconds=idle_seconds, choose=self._same
        ) as turn:
            with self._index.lease() as state:
                if state.index is None:
                    return self._look_seconds
                await self._prepared.follow(state.index)
                if (suggested := self._prepared.next(state.index)) is not None:
                    question, language = suggested
                    await self._answer(state, question, language, turn)
                    self._prepared.tried(question, language)
                    return 0.0
                assert turn.server is not None
                states = self._states[turn.server]
                if not await states.connect():
                    return self._elsewhere()
                await self._follow(state.index, states)
                prefix = self._next(state.index, states)
                if prefix is not None:
                    await self._warm(prefix, states)
                self._failures = 0
                if prefix is None:
                    return self._look_seconds
        return 0.0

    def _same(self, free: Sequence[int]) -> int:
        return self._server if self._server in free else free[0]

    def _elsewhere(self) -> float:
        """Go on with the next server; seconds to rest before, once all have failed in a row."""
        self._server = (self._server + 1) % len(self._states)
        self._failures += 1
        return 0.0 if self._failures % len(self._states) else self._retry_seconds

    async def _warm(self, prefix: Prefix, states: PromptStates) -> None:
        began = self._clock()
        async with aclosing(states.warm(prefix, make_room=False)) as items:
            async for item in items:
                if isinstance(item, Warmed) and not item.saved:
                    # No room, or a disk that refuses: trying again at once would never end.
                    self._unwanted[prefix.text] = self._clock() + self._refused_seconds
                    return
        taken = self._clock() - began
        self._page_seconds += (SMOOTHING if self._page_seconds else 1) * (
            taken - self._page_seconds
        )

    async def _follow(self, index: Index, states: PromptStates) -> None:
        """After a re-index, states of pages that are no more go."""
        if index.meta == self._followed:
            return
        await states.retain([prefix for _, prefix in self._prefixes(index)])
        self._followed = index.meta
        self._unwanted.clear()

    def _next(self, index: Index, states: PromptStates) -> Prefix | None:
        """The coldest wish: pages asked before, then the largest documents."""
        sizes: Counter[str] = Counter()
        for page in index.pages:
            sizes[page.document.path] += page.tokens
        now = self._clock()
        cold = [
            (page, prefix)
            for page, prefix in self._prefixes(index)
            if self._unwanted.get(prefix.text, 0.0) <= now and not states.has(prefix)
        ]
        if not cold:
            return None
        _, prefix = max(
            cold,
            key=lambda item: (
                self._asked[item[0].key],
                not item[0].document.generated,
                sizes[item[0].document.path],
                -item[0].ordinal,
            ),
        )
        return prefix

    def _prefixes(self, index: Index) -> tuple[tuple[Page, Prefix], ...]:
        """Every page's prefix; twice where the owner's own words differ between the languages."""
        if self._built is None or self._built[0] != index.meta:
            languages: tuple[Language, ...] = ("en",)
            if self._settings.persona.system_prompt_es is not None:
                languages = LANGUAGES
            prefixes = tuple(
                (page, prefix_of(self._settings.persona, page, language))
                for page in index.pages
                for language in languages
            )
            self._built = (index.meta, prefixes)
        return self._built[1]


def prefix_of(persona: PersonaSettings, page: Page, language: Language) -> Prefix:
    """What a question on this page begins with."""
    context = Context(prefix=page.passages, shared=True)
    return Prefix(text=prompt.system_text(persona, context, language))
