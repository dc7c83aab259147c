"""Visitors' votes on answers."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from bot.chat.events import Route

Rating = Literal["up", "down"]
Reason = Literal["wrong", "incomplete", "unclear", "outdated", "other"]


class Vote(Struct, frozen=True, kw_only=True):
    """What a visitor says of one answer."""

    rating: Rating
    reason: Reason | None = None
    """Only with `down`."""
    comment: str = ""
    """Only where the owner takes comments."""


class RatedAnswer(Struct, frozen=True, kw_only=True):
    """What is remembered of an answer while it may be voted on."""

    question_hash: str
    route: Route
    question: str = ""
    """Empty, as are the documents, unless the owner stores questions."""
    documents: tuple[str, ...] = ()


class VotedAnswer(Struct, frozen=True, kw_only=True):
    """An answer that was voted on, and the vote that the new one takes the place of."""

    answer: RatedAnswer
    replaced: Vote | None


class Answers(Protocol):
    """Remembers answers and the one vote on each, for `feedback.ttl_seconds`; never fails."""

    async def salt(self) -> bytes:
        """Random bytes that question hashes are made with; other ones each day."""
        ...

    async def remember(self, answer_id: str, answer: RatedAnswer) -> None:
        """Keep an answer under its id."""
        ...

    async def vote(self, answer_id: str, vote: Vote) -> VotedAnswer | None:
        """Keep the vote in place of an earlier one; None for an id that is not known, or no more."""
        ...


class VoteJournal(Protocol):
    """Where votes go with their questions, for an owner who has asked for it; never fails."""

    async def write(self, answer_id: str, answer: RatedAnswer, vote: Vote) -> None:
        """Add one line; what can't be written is said in the log."""
        ...
