"""Answers that may be voted on, in Redis: a vote may reach another replica than its answer came from."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from bot.adapters.feedback import LocalAnswers
from bot.adapters.redis_keys import fetch_day_secret
from bot.adapters.redis_link import RedisLink
from bot.chat.ports.feedback import RatedAnswer, Vote, VotedAnswer
from bot.chat.ports.sharing import StateUnavailable
from corpus.settings import FeedbackSettings


class RedisAnswers:
    """A bot.chat.ports.Answers; `local` has what was remembered while Redis was away.

        conv:answer:{hash}   what a RatedAnswer holds
        conv:vote:{hash}     the vote on it

    Plain GET and SET below `conv:`, which the access list allows already: an older list must not
    make Redis refuse, or all limits would fall back to the bot's own.
    """

    def __init__(self, settings: FeedbackSettings, link: RedisLink, local: LocalAnswers) -> None:
        self._lifetime_ms = settings.ttl_seconds * 1000
        self._link = link
        self._local = local

    async def salt(self) -> bytes:
        """The secret of the day, which all replicas have."""
        try:
            return (await self._link.run(lambda: fetch_day_secret(self._link.redis))).secret
        except StateUnavailable:
            return await self._local.salt()

    async def remember(self, answer_id: str, answer: RatedAnswer) -> None:
        """Keep an answer under its id, in this process while Redis fails."""
        key, value = f"conv:answer:{_hash(answer_id)}", msgspec.json.encode(answer)
        try:
            await self._link.run(
                lambda: self._link.redis.set(key, value, px=self._lifetime_ms),
            )
        except StateUnavailable:
            await self._local.remember(answer_id, answer)

    async def vote(self, answer_id: str, vote: Vote) -> VotedAnswer | None:
        """Keep the vote; while Redis fails only this process's own answers are known."""
        try:
            voted = await self._link.run(lambda: self._vote(_hash(answer_id), vote))
        except StateUnavailable:
            voted = None
        return voted or await self._local.vote(answer_id, vote)

    async def _vote(self, name: str, vote: Vote) -> VotedAnswer | None:
        redis = self._link.redis
        answer: Any = await redis.get(f"conv:answer:{name}")
        if answer is None:
            return None
        # One command writes the vote and gives the one before: of two at once each is seen.
        before: Any = await redis.set(
            f"conv:vote:{name}", msgspec.json.encode(vote), px=self._lifetime_ms, get=True
        )
        return VotedAnswer(
            answer=msgspec.json.decode(answer, type=RatedAnswer),
            replaced=None if before is None else msgspec.json.decode(before, type=Vote),
        )


def _hash(answer_id: str) -> str:
    """So that a dump of Redis lets nobody vote."""
    return blake2b(answer_id.encode(), digest_size=16).hexdigest()
