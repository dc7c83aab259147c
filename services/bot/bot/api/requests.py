"""Read the body of `POST /api/chat`: strictly, bounded, and never a 500.

The body is decoded here and not by the framework, which converts laxly (`"false"` passes as a
boolean) and knows no duplicate keys. A typed decoder stops at the first wrong byte, so 100,000 open
brackets cost microseconds and no recursion (measured).
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from bot.api.problems import ProblemRaised
from bot.chat.ports.model import Message
from bot.chat.service import Ask
from corpus.model import Language
from corpus.text import clean

MAX_MESSAGES = 50  # a client that keeps more drops the oldest; the model is shown 5 turns anyway
LANGUAGE_RANGE = re.compile(
    r"\s*(es|en)(?:-[A-Za-z0-9-]{1,20})?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?"
)

T = TypeVar("T")
# `\Z`, not `$`: `$` lets a final line feed pass. 128 random bits are 22 characters of base64url.
ConversationId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{22,43}\Z")]


class ChatMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One message as the client sends it; `system` is ours alone."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Meta(min_length=1)]


class ChatRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body; a sampling parameter or any other field is refused, not ignored."""

    messages: Annotated[tuple[ChatMessage, ...], Meta(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool = True
    conversation_id: ConversationId | None = None


DECODER = msgspec.json.Decoder(ChatRequest)


def read_request(body: bytes) -> ChatRequest:
    """The request in `body`.

    Raises:
        ProblemRaised: 400 with what is wrong and where.
    """
    request = decode(DECODER, body)
    if any("\x00" in message.content for message in request.messages):
        raise ProblemRaised("invalid-request", "A message holds the character U+0000")
    return request


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """What `decoder` makes of the body, in which every key stands once.

    Raises:
        ProblemRaised: 400 with what is wrong and where.
    """
    try:
        decoded = decoder.decode(body)
        json.loads(body, object_pairs_hook=_each_key_once)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ProblemRaised("invalid-request", _explain(error)) from error
    return decoded


def to_ask(request: ChatRequest, *, max_question_chars: int, accept_language: str) -> Ask:
    """The question with its history, cleaned of hidden and control characters.

    Raises:
        ProblemRaised: 400 when there is no question, 422 when it is too long (never cut:
            AISVS 2.1.4).
    """
    *earlier, last = request.messages
    if last.role != "user":
        raise ProblemRaised("invalid-request", "The last message must be the user's")
    question = clean(last.content).strip()
    if not question:
        raise ProblemRaised("invalid-question", "The question is empty")
    if len(question) > max_question_chars:
        raise ProblemRaised(
            "question-too-long",
            f"A question may have {max_question_chars} characters, this one has {len(question)}",
            limit=max_question_chars,
        )
    history = [Message(role=item.role, content=clean(item.content).strip()) for item in earlier]
    return Ask(
        question=question,
        history=tuple(message for message in history if message.content),
        conversation_id=request.conversation_id,
        browser_language=preferred_language(accept_language),
    )


def preferred_language(accept_language: str) -> Language | None:
    """The better liked of `es` and `en` in an Accept-Language header, None without either."""
    best: Language | None = None
    best_weight = 0.0
    for item in accept_language[:200].split(","):
        if match := LANGUAGE_RANGE.fullmatch(item.lower()):
            weight = float(match[2] or 1)
            if weight > best_weight:
                best, best_weight = ("es" if match[1] == "es" else "en"), weight
    return best


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return found


def _explain(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "The JSON is nested too deeply"
    return f"{error}"[:1].upper() + f"{error}"[1:]
