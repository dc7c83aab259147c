"""Conversation ids in Redis: minted by the server, shared by replicas, gone after their time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.redis_conversations import RedisConversations
from bot.adapters.redis_state import State
from corpus.settings import ConversationSettings
from tests.redis_server import RedisServer, eventually, replica, serve_redis

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    for running in serve_redis(tmp_path):
        running.timeout_seconds = 30.0  # a busy machine must not look like a dead Redis
        yield running


def of(bot: State) -> RedisConversations:
    assert isinstance(bot.conversations, RedisConversations)
    return bot.conversations


async def test_replicas_know_each_others_ids_and_count_the_turns(server: RedisServer) -> None:
    async with replica(server.settings()) as one, replica(server.settings()) as two:
        minted, turn = await of(one).take_turn(None)
        assert (len(minted), turn) == (32, 1)
        turns = [await of(bot).take_turn(minted) for bot in (two, one, two)]
        assert turns == [(minted, 2), (minted, 3), (minted, 4)]
        assert await one.conversations.resume(minted) == minted


async def test_turns_at_the_same_time_are_all_counted(server: RedisServer) -> None:
    async with replica(server.settings()) as bot:
        minted = await bot.conversations.resume(None)
        turns = await asyncio.gather(*(of(bot).take_turn(minted) for _ in range(50)))
        assert sorted(turn for _, turn in turns) == list(range(2, 52))


@pytest.mark.parametrize(
    "foreign",
    ["", "x", "A" * 32, "../../etc/passwd", "\x00", "ñ" * 4000, "None", "A" * 31 + "\n", "*" * 32],
)
async def test_an_id_nobody_minted_gives_a_new_one(server: RedisServer, foreign: str) -> None:
    """E13: can't be chosen, and an unknown id looks like a foreign one."""
    async with replica(server.settings()) as bot:
        minted = await bot.conversations.resume(foreign)
        assert minted != foreign
        assert await bot.conversations.resume(foreign) not in {foreign, minted}
        assert len(server.names("conv:")) == 2


async def test_an_id_lives_from_its_last_use(server: RedisServer) -> None:
    """P4."""
    settings = replace(server.settings(), conversations=ConversationSettings(ttl_seconds=600))
    async with replica(settings) as bot:
        minted = await bot.conversations.resume(None)
        (key,) = server.names("conv:")
        for _ in range(3):
            server.admin.pexpire(key, 300_000)
            assert await bot.conversations.resume(minted) == minted
            assert 300_000 < server.admin.pttl(key) <= 600_000
        server.admin.pexpire(key, 1)
        await eventually(lambda: gone(server, key))
        assert await bot.conversations.resume(minted) != minted
        assert len(server.names("conv:")) == 1


async def gone(server: RedisServer, key: str) -> bool:
    return not server.admin.exists(key)


async def test_flushed_redis_starts_a_new_conversation(server: RedisServer) -> None:
    """F8."""
    async with replica(server.settings()) as bot:
        minted = await bot.conversations.resume(None)
        server.admin.flushall()
        fresh = await bot.conversations.resume(minted)
        assert fresh != minted
        assert await bot.conversations.resume(fresh) == fresh


async def test_without_redis_a_conversation_goes_on_under_another_id(server: RedisServer) -> None:
    """RL-06: and a third one once Redis is back; nobody sees an error."""
    async with replica(server.settings(), rest_seconds=0.1) as bot:
        minted = await bot.conversations.resume(None)
        server.stop()
        local = await bot.conversations.resume(minted)
        assert local != minted
        assert await bot.conversations.resume(local) == local
        server.start()
        await asyncio.sleep(0.15)
        shared = await bot.conversations.resume(local)
        assert len({minted, local, shared}) == 3
        assert len(server.names("conv:")) == 1


async def test_redis_holds_neither_ids_nor_words(server: RedisServer) -> None:
    """P1: who reads a dump can't go on with anybody's conversation."""
    async with replica(server.settings()) as bot:
        minted = await bot.conversations.resume(None)
        (key,) = server.names("conv:")
        assert minted not in key
        assert server.admin.get(key) == "1"


async def test_ten_thousand_ids_stay_bounded(server: RedisServer) -> None:
    """A15: each one has its end, all differ, and memory has a limit that makes no error."""
    async with replica(server.settings()) as bot:
        before = int(server.admin.info("memory")["used_memory"])
        minted: set[str] = set()
        for _ in range(100):
            minted |= set(
                await asyncio.gather(*(bot.conversations.resume(None) for _ in range(100)))
            )
        assert len(minted) == 10_000
        assert len(server.names("conv:")) == 10_000
        each = (int(server.admin.info("memory")["used_memory"]) - before) / 10_000
        assert each < 250
        assert all(0 < server.admin.pttl(key) <= 3600_000 for key in server.names("conv:")[::50])
        server.admin.config_set("maxmemory", "2mb")
        fresh = [await bot.conversations.resume(None) for _ in range(200)]
        assert await bot.conversations.resume(fresh[-1]) == fresh[-1]
        assert len(server.names("conv:")) < 10_000
        assert bot.shared is not None
        await bot.shared.check()
