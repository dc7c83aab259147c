"""Prompt states as the settings want them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.adapters.states.slot import SlotServer
from bot.adapters.states.slot_states import SlotStates
from bot.adapters.states.store import StateStore
from corpus.settings import Settings

MEGABYTE = 1_000_000


@asynccontextmanager
async def open_states(settings: Settings) -> AsyncGenerator[SlotStates | None, None]:
    """The states of the default provider; None where the settings name no folder or no room."""
    provider = settings.provider
    if not provider.states_path or not provider.states_megabytes:
        yield None
        return
    store = StateStore(Path(provider.states_path), provider.states_megabytes * MEGABYTE)
    ttl_seconds = settings.conversations.ttl_seconds
    async with SlotStates(SlotServer(provider), store, ttl_seconds=ttl_seconds) as states:
        yield states
