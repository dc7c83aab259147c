"""Votes in Redis: any replica takes the vote on an answer of any other, once, and for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.redis_feedback import RedisAnswers
from bot.chat.feedback import question_hash
from bot.chat.ports.feedback import RatedAnswer, Vote, VotedAnswer
from corpus.settings import FeedbackSettings
from tests.redis_server import RedisServer, eventually, replica, serve_redis

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

ID = "A1b2_-" * 5
RATED = RatedAnswer(question_hash="0f" * 16, route="answer")
UP = Vote(rating="up")
WRONG = Vote(rating="down", reason="wrong")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    for running in serve_redis(tmp_path):
        running.timeout_seconds = 30.0  # a busy machine must not look like a dead Redis
        yield running


async def test_replicas_share_answers_and_the_vote_on_each(server: RedisServer) -> None:
    async with replica(server.settings()) as one, replica(server.settings()) as two:
        assert isinstance(one.answers, RedisAnswers)
        await one.answers.remember(ID, RATED)
        assert await two.answers.vote(ID, UP) == VotedAnswer(answer=RATED, replaced=None)
        assert await one.answers.vote(ID, WRONG) == VotedAnswer(answer=RATED, replaced=UP)
        assert await two.answers.vote("B" * 32, UP) is None


async def test_of_votes_at_the_same_time_each_is_counted_in_the_place_of_another(
    server: RedisServer,
) -> None:
    async with replica(server.settings()) as one, replica(server.settings()) as two:
        await one.answers.remember(ID, RATED)
        votes = [UP, WRONG] * 20
        found = await asyncio.gather(
            *(bot.answers.vote(ID, vote) for bot, vote in zip([one, two] * 20, votes, strict=True))
        )
        replaced = [each.replaced for each in found if each]
        assert len(replaced) == 40
        assert replaced.count(None) == 1
        # 20 votes of each kind came in, and one of all stands at the end.
        assert sorted([replaced.count(UP), replaced.count(WRONG)]) == [19, 20]


async def test_replicas_hash_alike_and_the_salt_is_the_secret_of_the_day(
    server: RedisServer,
) -> None:
    async with replica(server.settings()) as one, replica(server.settings()) as two:
        salt = await one.answers.salt()
        assert len(salt) == 32
        assert await two.answers.salt() == salt
        (day,) = server.names("rl:day:")
        assert 0 < server.admin.pttl(day) <= 48 * 3600 * 1000
        server.admin.flushall()
        assert await two.answers.salt() != salt


async def test_answers_and_votes_end(server: RedisServer) -> None:
    """P4: every key has its time; a vote does not prolong the answer's."""
    settings = replace(server.settings(), feedback=FeedbackSettings(ttl_seconds=600))
    async with replica(settings) as bot:
        await bot.answers.remember(ID, RATED)
        (answer,) = server.names("conv:answer:")
        server.admin.pexpire(answer, 300_000)
        assert await bot.answers.vote(ID, UP) is not None
        assert 0 < server.admin.pttl(answer) <= 300_000
        (vote,) = server.names("conv:vote:")
        assert 0 < server.admin.pttl(vote) <= 600_000
        server.admin.pexpire(answer, 1)
        await eventually(lambda: _gone(server, answer))
        assert await bot.answers.vote(ID, UP) is None


async def _gone(server: RedisServer, name: str) -> bool:
    return server.admin.get(name) is None


async def test_redis_holds_neither_ids_nor_words(server: RedisServer) -> None:
    """P1: who reads a dump can't vote, and learns no question."""
    async with replica(server.settings()) as bot:
        hashed = question_hash("¿Con qué se paga?", await bot.answers.salt())
        await bot.answers.remember(ID, replace(RATED, question_hash=hashed))
        await bot.answers.vote(ID, WRONG)
        names = server.names("conv:")
        assert len(names) == 2
        held = " ".join([*names, *(str(server.admin.get(name)) for name in names)])
        assert ID not in held
        assert "paga" not in held
        assert hashed in held


async def test_without_redis_a_bot_takes_votes_on_its_own_answers(server: RedisServer) -> None:
    """Nobody sees an error; what was minted meanwhile can be voted on afterwards as well."""
    settings = server.settings()
    async with (
        replica(settings, rest_seconds=0.1) as one,
        replica(settings, rest_seconds=0.1) as two,
    ):
        server.stop()
        assert len(await one.answers.salt()) == 32
        await one.answers.remember(ID, RATED)
        assert await one.answers.vote(ID, UP) == VotedAnswer(answer=RATED, replaced=None)
        assert await two.answers.vote(ID, UP) is None
        server.start()
        await asyncio.sleep(0.15)
        assert await one.answers.vote(ID, WRONG) == VotedAnswer(answer=RATED, replaced=UP)


async def test_what_is_no_answer_of_ours_makes_no_error(server: RedisServer) -> None:
    async with replica(server.settings()) as bot:
        await bot.answers.remember(ID, RATED)
        (name,) = server.names("conv:answer:")
        server.admin.set(name, "no JSON")
        assert await bot.answers.vote(ID, UP) is None
