"""Error documents after RFC 9457: one shape, one place, for the gate and for the handlers.

`code` is the same kebab-case name as in `error` events and logs; docs/http-api.md lists them all.
The text of a foreign exception never gets in here: it may hold a question, a path or a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import msgspec
from msgspec import Struct

from bot.chat.errors import Busy, ChatError, InvalidQuestion, RateLimited, ReindexFailed

MEDIA_TYPE = "application/problem+json"

# code -> (status, title)
PROBLEMS: Mapping[str, tuple[int, str]] = {
    "invalid-request": (400, "The request is not understood"),
    "invalid-question": (400, "The question can't be answered as it is"),
    "unauthorized": (401, "The owner's token is missing or wrong"),
    "reindex-closed": (403, "Re-indexing over HTTP is closed"),
    "only-here": (403, "This is for the bot's own machine"),
    "origin-not-allowed": (403, "This site may not embed the chat"),
    "not-found": (404, "There is nothing here"),
    "unknown-answer": (404, "This answer is not known here, or no longer"),
    "method-not-allowed": (405, "The method is not allowed here"),
    "body-too-large": (413, "The request is too large"),
    "unsupported-media-type": (415, "The body must be application/json"),
    "question-too-long": (422, "The question is too long"),
    "rate-limited": (429, "Too many requests"),
    "internal-error": (500, "Something went wrong on our side"),
    "reindex-failed": (500, "The content could not be indexed"),
    "busy": (503, "Too many visitors are waiting"),
    "restarting": (503, "The server is restarting"),
    "model-error": (503, "The language model gave no usable answer"),
    "model-unavailable": (503, "The language model can't be reached"),
    "model-loading": (503, "The language model is still loading"),
    "model-interrupted": (503, "The answer broke off"),
    "model-empty": (503, "The language model gave an empty answer"),
    "context-overflow": (503, "The conversation does not fit the model's window"),
    "model-timeout": (504, "The language model took too long"),
}
DETAIL_CHARS = 300  # texts that repeat what the client made up stay short


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem document; `extra` headers such as Retry-After go beside it."""

    type: str
    title: str
    status: int
    code: str
    detail: str = ""
    instance: str = ""
    request_id: str = ""
    limit: int | None = None
    """The bound that was exceeded, where there is one."""


class ProblemRaised(Exception):
    """Ends a request with this problem."""

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        limit: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.limit = limit
        self.headers = dict(headers or {})


def document(raised: ProblemRaised, *, instance: str, request_id: str) -> Problem:
    """The document for one request; unknown codes become `internal-error`."""
    code = raised.code if raised.code in PROBLEMS else "internal-error"
    status, title = PROBLEMS[code]
    return Problem(
        type=f"urn:portfolio-bot:problem:{code}",
        title=title,
        status=status,
        code=code,
        detail=raised.detail[:DETAIL_CHARS],
        instance=instance[:DETAIL_CHARS],
        request_id=request_id,
        limit=raised.limit,
    )


def encode(problem: Problem) -> bytes:
    """The document as JSON bytes."""
    return msgspec.json.encode(problem)


def from_chat_error(error: ChatError) -> ProblemRaised:
    """The problem of an error of the application; only texts written for the reader are kept."""
    detail, headers = "", {}
    if isinstance(error, InvalidQuestion | ReindexFailed):
        detail = str(error)
    if isinstance(error, Busy | RateLimited):
        headers = {"retry-after": retry_after(error.retry_after_seconds)}
    elif error.code == "restarting":
        headers = {"retry-after": "5"}
    return ProblemRaised(error.code, detail, headers=headers)


def retry_after(seconds: float) -> str:
    """Whole seconds, rounded up and at least 1: a client that waits so long is let in."""
    return str(max(1, ceil(seconds)))
