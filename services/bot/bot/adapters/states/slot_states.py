"""Prompt states of one chat server: restore, warm, judge, and one conversation after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from functools import partial
from time import perf_counter

from msgspec.structs import replace

from bot.adapters.states.connection import Connection
from bot.adapters.states.files import new_name
from bot.adapters.states.fingerprint import page_name
from bot.adapters.states.folder import StatesFolder
from bot.adapters.states.kept import Holding
from bot.adapters.states.shelf import Shelf
from bot.adapters.states.slot import Evaluated, SlotServer
from bot.chat.ports.model import Finished, PromptProgress
from bot.chat.ports.states import Prefix, Restored, StateStats, Warmed
from bot.chat.states import Outcome, judge

log = logging.getLogger("bot.states")
NOTHING = Holding()
STRIKES = 3
"""After so many restored states in a row that the server did not reuse, it never will: a sliding
window, or a template that puts something before the system text."""


class SlotStates:
    """A bot.chat.ports.PromptStates over llama-server's slot 0. Open it before use, close it after."""

    def __init__(self, server: SlotServer, folder: StatesFolder) -> None:
        """`folder` is open for as long as this is."""
        self._server = server
        self._folder = folder
        self._store = folder.store
        self._disk = folder.disk
        self._connection = Connection(server)
        self._shelf = Shelf(server, self._disk, self._connection)
        self._kept = folder.kept
        self._lock = asyncio.Lock()
        self._uses = 0
        """Counts what changes the slot, so that a save knows whether somebody came in between."""
        self._strikes = 0
        self._keeping: asyncio.Task[None] | None = None
        """Saves the conversation just answered, so that nobody waits for it later."""
        self._counts: dict[Outcome, int] = {"hit": 0, "partial": 0, "miss": 0}
        self.holding = NOTHING

    async def __aenter__(self) -> SlotStates:
        await self._server.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await self.settled()
        await self._server.aclose()

    @property
    def enabled(self) -> bool:
        """Whether the chat server is not known to be unfit."""
        return self._connection.refusal is None

    def used(self) -> None:
        """Somebody uses the slot: what it holds is unknown until `answered` says so."""
        self._uses += 1
        self.holding = NOTHING

    async def connect(self) -> bool:
        """Find out which model is served."""
        async with self._lock:
            return await self._connect()

    def held_tokens(self, prefix: Prefix, conversation_id: str | None = None) -> int:
        """Tokens of such a prompt that lie in the slot."""
        fingerprint, held = self._connection.fingerprint, self.holding
        if not fingerprint or held.page != page_name(fingerprint, prefix.text):
            return 0
        if conversation_id is not None and held.conversation == conversation_id:
            return held.tokens
        return held.page_tokens

    async def restore(self, prefix: Prefix, conversation_id: str | None = None) -> Restored:
        """Put the longest known beginning of a prompt into the slot; fails as a miss."""
        began = perf_counter()
        async with self._lock:
            restored = await self._restore(prefix, conversation_id)
        ms = (perf_counter() - began) * 1000
        return Restored(kind=restored.kind, source=restored.source, tokens=restored.tokens, ms=ms)

    async def warm(
        self, prefix: Prefix, *, make_room: bool = True
    ) -> AsyncGenerator[PromptProgress | Warmed, None]:
        """Evaluate a prefix alone and save it; raises ModelError."""
        async with self._lock:
            ready = await self._connect() and (make_room or await self._shelf.fits(prefix.text))
            if ready:
                await self._keep_held(None)
                self.used()
            use = self._uses
        if not ready:
            yield Warmed(tokens=0, saved=False)
            return
        tokens = 0
        # No lock while the caller has its turn: whoever uses the slot meanwhile is noticed.
        async with aclosing(self._server.evaluate(prefix.text)) as events:
            async for event in events:
                if isinstance(event, Evaluated):
                    tokens = event.tokens
                else:
                    yield event
        async with self._lock:
            saved = self._uses == use and await self._save_page(prefix, tokens)
        yield Warmed(tokens=tokens, saved=saved)

    def answered(
        self, restored: Restored, finished: Finished, prefix: Prefix, conversation_id: str | None
    ) -> Outcome:
        """Judge, count, note what the slot holds, and begin to save the conversation."""
        outcome = judge(restored, finished.cached_tokens)
        self._counts[outcome] += 1
        fingerprint = self._connection.fingerprint
        if not fingerprint:
            return outcome
        page = page_name(fingerprint, prefix.text)
        self.holding = Holding(
            page=page,
            page_tokens=self._store.tokens(page) or 0,
            conversation=conversation_id,
            tokens=finished.input_tokens,
        )
        if restored.kind == "hit" and restored.source == "page":
            self._strike(page, outcome)
        if conversation_id is not None and (self._keeping is None or self._keeping.done()):
            self._keeping = asyncio.create_task(self._keep_soon())
        return outcome

    async def settled(self) -> None:
        """Return once the conversation answered last is saved, or will not be."""
        if self._keeping is not None:
            await asyncio.wait([self._keeping])

    def has(self, prefix: Prefix) -> bool:
        """Whether its state is on disk for the chat server in service."""
        fingerprint = self._connection.fingerprint
        return (
            bool(fingerprint)
            and self._store.tokens(page_name(fingerprint, prefix.text)) is not None
        )

    async def forget(self, conversation_id: str) -> None:
        """Delete a conversation's state."""
        if self.holding.conversation == conversation_id:
            self.holding = NOTHING
        if (name := self._kept.pop(conversation_id)) is not None:
            await self._disk.run(partial(self._store.discard, name))

    async def retain(self, prefixes: Collection[Prefix]) -> None:
        """Delete the states of all other prefixes; nothing before the server is known."""
        async with self._lock:
            if fingerprint := self._connection.fingerprint:
                names = {page_name(fingerprint, prefix.text) for prefix in prefixes}
                await self._disk.run(partial(self._store.retain, names))

    def stats(self) -> StateStats:
        """For health and info."""
        store = self._store
        free = max(0, store.cap_bytes - store.used_bytes)
        return StateStats(
            enabled=self.enabled,
            pages=store.count("p"),
            conversations=store.count("c"),
            bytes=store.used_bytes,
            cap_bytes=store.cap_bytes,
            room_tokens=int(free / store.bytes_per_token()),
            hits=self._counts["hit"],
            partials=self._counts["partial"],
            misses=self._counts["miss"],
            problem=self._connection.refusal or self._disk.problem,
        )

    async def _connect(self) -> bool:
        there = await self._connection.check()
        if there != "same":
            self.used()
        if there == "new":
            self._strikes = 0
            self._store.fingerprint = self._connection.fingerprint
        return there != "none"

    async def _restore(self, prefix: Prefix, conversation_id: str | None) -> Restored:
        if not await self._connect():
            return Restored(kind="miss")
        page = page_name(self._connection.fingerprint, prefix.text)
        held = self.holding
        if conversation_id is not None and (held.conversation, held.page) == (
            conversation_id,
            page,
        ):
            return Restored(kind="held", source="conversation", tokens=held.tokens)
        await self._keep_held(conversation_id)
        if kept := self._kept.get(conversation_id, page):
            self.used()
            if await self._shelf.put(kept.name):
                self.holding = kept.holding
                return Restored(kind="hit", source="conversation", tokens=kept.holding.tokens)
        if self.holding.page == page:
            return Restored(kind="held", source="page", tokens=self.holding.page_tokens)
        self.used()
        if not (tokens := await self._shelf.put(page)):
            return Restored(kind="miss")
        self.holding = Holding(page=page, page_tokens=tokens)
        return Restored(kind="hit", source="page", tokens=tokens)

    async def _save_page(self, prefix: Prefix, tokens: int) -> bool:
        if not (fingerprint := self._connection.fingerprint):
            return False
        page = page_name(fingerprint, prefix.text)
        self.holding = Holding(page=page, page_tokens=tokens)
        # What does not count as many tokens as the prefix may hold somebody's question.
        return await self._shelf.save(page, tokens, exactly=True)

    async def _keep_soon(self) -> None:
        async with self._lock:
            await self._keep_held(None)

    async def _keep_held(self, unless: str | None) -> None:
        """Save the conversation in the slot, which another one is about to drive out or soon may."""
        self._folder.drop_expired()
        held = self.holding
        if held.conversation is None or held.conversation == unless or held.saved:
            return
        name = new_name("c")
        if not await self._shelf.save(name, held.tokens, exactly=False):
            return
        if self.holding is not held:  # forgotten meanwhile, or somebody else's words were saved
            self._folder.discard_later(name)
            return
        self.holding = replace(held, saved=True)
        old = self._kept.put(held.conversation, name, self.holding)
        if old is not None:
            self._folder.discard_later(old)

    def _strike(self, page: str, outcome: Outcome) -> None:
        if outcome == "hit":
            self._strikes = 0
            return
        log.warning("a restored prompt state was not reused and is deleted")
        self._folder.discard_later(page)
        self._strikes += 1
        if self._strikes >= STRIKES:
            self._connection.refuse("this model does not reuse restored states")
