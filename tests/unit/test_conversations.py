"""Conversation ids: minted here, kept for a while, never taken from a client."""

from __future__ import annotations

import pytest

from bot.adapters.conversations import LocalConversations
from corpus.settings import ConversationSettings
from tests.clock import Clock

pytestmark = pytest.mark.anyio


def kept(clock: Clock, *, ttl: int = 60, most: int = 100) -> LocalConversations:
    return LocalConversations(ConversationSettings(ttl_seconds=ttl, max_active=most), clock=clock)


async def test_known_id_goes_on() -> None:
    conversations = kept(Clock())
    minted = await conversations.resume(None)
    assert await conversations.resume(minted) == minted
    assert len(minted) == 32


@pytest.mark.parametrize(
    "foreign", ["", "x", "A" * 32, "../../etc/passwd", "\x00", "ñ" * 4000, "None", "{}"]
)
async def test_id_nobody_minted_gives_a_new_one(foreign: str) -> None:
    conversations = kept(Clock())
    minted = await conversations.resume(foreign)
    assert minted != foreign
    assert foreign not in {minted, await conversations.resume(foreign)}


async def test_id_lives_from_its_last_use() -> None:
    """P4: forgotten after the TTL, in memory too."""
    clock = Clock()
    conversations = kept(clock, ttl=60)
    minted = await conversations.resume(None)
    for _ in range(5):
        clock.now += 59
        assert await conversations.resume(minted) == minted
    clock.now += 60
    other = await conversations.resume(minted)
    assert other != minted
    assert len(conversations) == 1


async def test_longest_unused_goes_first() -> None:
    conversations = kept(Clock(), most=3)
    first, second = [await conversations.resume(None) for _ in range(2)]
    await conversations.resume(first)
    for _ in range(2):
        await conversations.resume(None)
    assert await conversations.resume(first) == first
    assert await conversations.resume(second) != second
    assert len(conversations) == 3


async def test_ids_never_repeat() -> None:
    conversations = kept(Clock(), most=2000)
    assert len({await conversations.resume(None) for _ in range(2000)}) == 2000
