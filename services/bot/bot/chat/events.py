"""The events of one answer, exactly as they go over the wire: `{"type": "chunk", "content": "…"}`.

Clients exist; names and fields are fixed (docs/http-api.md).
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from corpus.model import Kind, Language

Route = Literal[
    "answer",
    "known",
    "passages",
    "refusal",
    "greeting",
    "thanks",
    "goodbye",
    "identity",
    "catalogue",
]
"""How the answer came about; only `answer` calls the language model.

`known`: an answer of the model's that was kept (bot.chat.known). `passages`: what was found, quoted,
since the model is down or its line too long (bot.chat.extracts).
"""


class Start(Struct, frozen=True, kw_only=True, tag="start"):
    """First event, before any work."""

    conversation_id: str


class Queued(Struct, frozen=True, kw_only=True, tag="queued"):
    """Another visitor's answer holds the model; sent on each change of position (1 = next)."""

    position: int
    eta_seconds: float


class SourcePassage(Struct, frozen=True, kw_only=True):
    """A passage shown to the visitor; `n` is the number `[n]` in the answer refers to."""

    n: int
    title: str
    section: str
    url: str
    lang: Language
    kind: Kind
    quote: str


class Sources(Struct, frozen=True, kw_only=True, tag="sources"):
    """What the answer rests on, before the first word; for a refusal, the nearest pages."""

    documents: tuple[str, ...]
    passages: tuple[SourcePassage, ...]


class Progress(Struct, frozen=True, kw_only=True, tag="progress"):
    """Prompt tokens evaluated so far, from the server's own counters."""

    processed: int
    total: int


class Chunk(Struct, frozen=True, kw_only=True, tag="chunk"):
    """A piece of the answer."""

    content: str


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens as the model server counted them; zeros where no model was called."""

    input_tokens: int = 0
    output_tokens: int = 0


class Timings(Struct, frozen=True, kw_only=True):
    """Milliseconds of the parts of one answer."""

    retrieval_ms: float = 0.0
    queue_ms: float = 0.0
    restore_ms: float = 0.0
    """Putting the prompt's saved state back."""
    prefill_ms: float = 0.0
    """Evaluating what was not restored, to the model's first token."""
    first_token_ms: float = 0.0
    total_ms: float = 0.0
    cached_tokens: int = 0
    evaluated_tokens: int = 0


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """Last event of a good stream."""

    usage: Usage
    finish_reason: Literal["stop", "length", "fixed"]
    """`fixed`: a prepared text, no model was called."""
    route: Route
    timings: Timings
    answer_id: str | UnsetType = UNSET
    """Under this id the answer may be voted on; left out where nobody may."""


class Failed(Struct, frozen=True, kw_only=True, tag="error"):
    """Last event of a failed stream."""

    code: str
    message: str
    retryable: bool


Event = Start | Queued | Sources | Progress | Chunk | Done | Failed
