"""Answers that may be voted on, in this process's memory."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from bot.chat.ports.feedback import RatedAnswer, Vote, VotedAnswer
from corpus.settings import FeedbackSettings

MAX_ANSWERS = 10_000
SALT_BYTES = 32
SALT_SECONDS = 24 * 3600


class _Kept(Struct, kw_only=True):
    answer: RatedAnswer
    until: float
    vote: Vote | None = None


class LocalAnswers:
    """A bot.chat.ports.Answers for one process; of too many the oldest goes first."""

    def __init__(
        self,
        settings: FeedbackSettings,
        *,
        max_answers: int = MAX_ANSWERS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._ttl_seconds = settings.ttl_seconds
        self._max_answers = max_answers
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._salt = b""
        self._salt_until = 0.0

    async def salt(self) -> bytes:
        """Random bytes of this process, new ones after a day."""
        now = self._clock()
        if not self._salt or now >= self._salt_until:
            self._salt = secrets.token_bytes(SALT_BYTES)
            self._salt_until = now + SALT_SECONDS
        return self._salt

    async def remember(self, answer_id: str, answer: RatedAnswer) -> None:
        """Keep an answer under its id."""
        now = self._clock()
        self._expire(now)
        self._kept[answer_id] = _Kept(answer=answer, until=now + self._ttl_seconds)
        while len(self._kept) > self._max_answers:
            self._kept.popitem(last=False)

    async def vote(self, answer_id: str, vote: Vote) -> VotedAnswer | None:
        """Keep the vote in place of an earlier one; it never awaits, so no two votes mix."""
        self._expire(self._clock())
        kept = self._kept.get(answer_id)
        if kept is None:
            return None
        replaced, kept.vote = kept.vote, vote
        return VotedAnswer(answer=kept.answer, replaced=replaced)

    def __len__(self) -> int:
        """Answers kept now."""
        return len(self._kept)

    def _expire(self, now: float) -> None:
        # Minted in this order and never prolonged, so the first is the first to go.
        while self._kept:
            oldest, kept = next(iter(self._kept.items()))
            if now < kept.until:
                return
            del self._kept[oldest]
