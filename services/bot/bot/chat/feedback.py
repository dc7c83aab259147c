"""Votes on answers: an id for each answer that may be voted on, and what one vote changes.

Of a question only a salted hash is kept, so that twenty votes on one question can be told from votes
on twenty; its text only where the owner stores questions (docs/decisions/0013-votes-are-counts.md).
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from bot.chat.events import Done, Event, Route, Sources
from bot.chat.ports.feedback import Answers, RatedAnswer, Vote, VoteJournal
from corpus.settings import FeedbackSettings
from corpus.text import words

ID_BYTES = 24  # 192 bits from the system's generator; ASVS 11.5.1 asks for 128 and refuses UUIDs
HASH_BYTES = 16
UNRATED: frozenset[Route] = frozenset({"greeting", "thanks", "goodbye", "identity"})
"""Small talk. A wrong "I don't have that" is worth a vote; a greeting is not."""

REMEMBERED_QUESTIONS = 10_000


class Outcome(Struct, frozen=True, kw_only=True):
    """What a vote has changed."""

    replaced: Vote | None
    """The vote on the same answer that counts no more."""
    new_question: bool
    """Whether it is the first vote of its kind on this question that this bot has seen today."""


class Feedback:
    """Mints the ids and takes the votes of one bot."""

    def __init__(
        self, settings: FeedbackSettings, answers: Answers, journal: VoteJournal | None
    ) -> None:
        self._keeps_questions = settings.store == "questions"
        self._answers = answers
        self._journal = journal
        self._voted: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def sign(
        self, question: str, events: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[Event, None]:
        """The same events; `done` carries an id where the answer may be voted on."""
        documents: tuple[str, ...] = ()
        async with aclosing(events) as stream:
            async for event in stream:
                if isinstance(event, Sources):
                    documents = event.documents
                elif isinstance(event, Done) and event.route not in UNRATED:
                    answer_id = await self._mint(question, event.route, documents)
                    event = replace(event, answer_id=answer_id)
                yield event

    async def take(self, answer_id: str, vote: Vote) -> Outcome | None:
        """Count a vote in place of an earlier one on the same answer; None for an unknown answer."""
        voted = await self._answers.vote(answer_id, replace(vote, comment=""))
        if voted is None:
            return None
        if self._journal is not None:
            await self._journal.write(answer_id, voted.answer, vote)
        kind = (voted.answer.question_hash, vote.rating)
        new_question = kind not in self._voted
        self._voted[kind] = None
        self._voted.move_to_end(kind)
        if len(self._voted) > REMEMBERED_QUESTIONS:
            self._voted.popitem(last=False)
        return Outcome(replaced=voted.replaced, new_question=new_question)

    async def _mint(self, question: str, route: Route, documents: tuple[str, ...]) -> str:
        answer = RatedAnswer(
            question_hash=question_hash(question, await self._answers.salt()), route=route
        )
        if self._keeps_questions:
            answer = replace(answer, question=question, documents=documents)
        answer_id = secrets.token_urlsafe(ID_BYTES)
        await self._answers.remember(answer_id, answer)
        return answer_id


def question_hash(question: str, salt: bytes) -> str:
    """The same for questions that differ in capitals, accents, marks and spaces only.

    Keyed: without the salt a list of likely questions finds none of them.
    """
    normal = " ".join(words(question)).encode()
    return blake2b(normal, key=salt[:64], digest_size=HASH_BYTES).hexdigest()
