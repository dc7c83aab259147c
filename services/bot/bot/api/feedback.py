"""`POST /api/feedback`: thumbs up or down under an answer."""

from __future__ import annotations

import logging
from typing import Annotated

import msgspec
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import RawBody
from msgspec import Meta, Struct

from bot.api.metrics import Metrics
from bot.api.problems import ProblemRaised
from bot.api.requests import ConversationId, decode
from bot.chat.feedback import Feedback
from bot.chat.ports.feedback import Rating, Reason, Vote
from corpus.settings import Settings
from corpus.text import clean

logger = logging.getLogger("bot.feedback")

MAX_BODY_BYTES = 4096  # 300 characters written as \ud83d\ude00 are 3,600 bytes
MAX_COMMENT_CHARS = 300
AnswerId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{22,43}\Z")]


class VoteRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body; whoever has an answer's id may vote on that answer."""

    answer_id: AnswerId
    rating: Rating
    reason: Reason | None = None
    comment: Annotated[str, Meta(max_length=MAX_COMMENT_CHARS)] | None = None
    conversation_id: ConversationId | None = None
    """Widgets send it; the answer's id says all, so it is not looked at."""


DECODER = msgspec.json.Decoder(VoteRequest)


@post(
    "/api/feedback",
    operation_id="RateAnswer",
    status_code=204,
    request_max_body_size=MAX_BODY_BYTES,
)
async def rate_answer(
    body: RawBody,
    feedback: NamedDependency[Feedback],
    metrics: NamedDependency[Metrics],
    settings: NamedDependency[Settings],
) -> Response[None]:
    """Count one vote."""
    wanted = decode(DECODER, body)
    vote = to_vote(wanted, free_text=settings.feedback.free_text)
    outcome = await feedback.take(wanted.answer_id, vote)
    if outcome is None:
        raise ProblemRaised("unknown-answer")
    metrics.voted(vote, outcome)
    logger.info("vote %s %s", vote.rating, vote.reason or "")
    return Response(content=None, status_code=204)


def to_vote(wanted: VoteRequest, *, free_text: bool) -> Vote:
    """The vote, its comment cleaned of hidden and control characters.

    Raises:
        ProblemRaised: 400 for a reason with a thumb up, or a comment where the owner takes none.
    """
    if wanted.reason is not None and wanted.rating == "up":
        raise ProblemRaised("invalid-request", "A reason goes with `down` only")
    if wanted.comment is not None and not free_text:
        raise ProblemRaised("invalid-request", "Comments are not taken here")
    return Vote(
        rating=wanted.rating, reason=wanted.reason, comment=clean(wanted.comment or "").strip()
    )
