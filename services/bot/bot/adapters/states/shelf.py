"""One state from the slot to the disk, or back: what can go wrong on either side ends here."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from bot.adapters.states.connection import Connection
from bot.adapters.states.disk import Disk
from bot.adapters.states.files import STATE
from bot.adapters.states.slot import (
    ServerBroke,
    SlotError,
    SlotRefused,
    SlotServer,
    SlotsUnsupported,
)
from corpus.token_estimate import estimated_tokens

log = logging.getLogger("bot.states")
ELSEWHERE = "what the chat server saved is not in states_path: it must be its --slot-save-path"


class Shelf:
    """Moves states between the slot and the store; raises nothing but CancelledError."""

    def __init__(self, server: SlotServer, disk: Disk, connection: Connection) -> None:
        self._server = server
        self._disk = disk
        self._connection = connection

    async def fits(self, text: str) -> bool:
        """Whether the state of a text could be saved without driving out one in use."""
        if not await self._disk.ready():
            return False
        self._disk.spared()
        tokens = estimated_tokens(text)
        try:
            return await self._disk.run(
                partial(self._disk.store.make_room, "p", tokens, evict=False)
            )
        except OSError as error:
            self._disk.failed(f"the disk refuses ({error.strerror})")
            return False

    async def put(self, name: str) -> int:
        """Put a state into the slot; its tokens, or 0 where there is none that can be used.

        A state that the server refuses or breaks off with is deleted: it must not do so again.
        """
        store = self._disk.store
        entry = await self._disk.run(partial(store.usable, name))
        if entry is None:
            return 0
        try:
            if await self._server.restore(name + STATE) == entry.tokens:
                return entry.tokens
            log.warning("a prompt state held something else and is deleted")
        except SlotRefused:
            log.warning("a prompt state was refused by the chat server and is deleted")
        except ServerBroke:
            log.warning("the chat server broke off with a prompt state, which is deleted")
            self._connection.lost()
        except SlotsUnsupported as error:
            self._connection.refuse(str(error))
            return 0
        except SlotError:
            self._connection.lost()
            return 0
        await self._disk.run(partial(store.discard, name))
        return 0

    async def save(self, name: str, tokens: int, *, exactly: bool) -> bool:
        """Write what the slot holds; with `exactly` only if it holds so many tokens."""
        if not await self._disk.ready():
            return False
        store, draft = self._disk.store, self._disk.store.draft()
        try:
            saved = await self._write(name, draft, tokens, exactly)
        except FileNotFoundError:
            self._disk.failed(ELSEWHERE)
        except OSError as error:
            self._disk.failed(f"the disk refuses ({error.strerror})")
        except SlotRefused:
            self._disk.failed("the chat server can't write to its --slot-save-path")
        except SlotsUnsupported as error:
            self._disk.spared()
            self._connection.refuse(str(error))
        except SlotError:
            self._disk.spared()
            self._connection.lost()
        except asyncio.CancelledError:
            self._disk.spared()
            self._disk.later(partial(store.drop_draft, draft))
            raise
        else:
            if saved:
                self._disk.succeeded()
            else:
                self._disk.spared()
            return saved
        self._disk.later(partial(store.drop_draft, draft))
        return False

    async def _write(self, name: str, draft: str, tokens: int, exactly: bool) -> bool:
        store = self._disk.store
        if not await self._disk.run(partial(store.make_room, name[0], tokens)):
            return False
        saved = await self._server.save(draft + STATE)
        if exactly and not tokens <= saved.n_saved <= tokens + 1:
            await self._disk.run(partial(store.drop_draft, draft))
            return False
        return await self._disk.run(
            partial(store.keep, draft, name, tokens=saved.n_saved, written_bytes=saved.n_written)
        )
