"""Prompt states as the settings want them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bot.adapters.states.folder import StatesFolder
from bot.adapters.states.slot import SlotServer
from bot.adapters.states.slot_states import SlotStates
from bot.adapters.states.store import StateStore
from corpus.settings import Settings

MEGABYTE = 1_000_000


@asynccontextmanager
async def open_states(settings: Settings) -> AsyncGenerator[tuple[SlotStates, ...], None]:
    """One for each server of the default provider; none where the settings name no folder or room."""
    provider = settings.provider
    if not provider.states_path or not provider.states_megabytes:
        yield ()
        return
    store = StateStore(Path(provider.states_path), provider.states_megabytes * MEGABYTE)
    ttl_seconds = settings.conversations.ttl_seconds
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(StatesFolder(store, ttl_seconds=ttl_seconds))
        states = [
            await stack.enter_async_context(SlotStates(SlotServer(server), folder))
            for server in provider.servers()
        ]
        yield tuple(states)
