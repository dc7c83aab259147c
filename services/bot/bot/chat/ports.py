"""What the application needs from outside, as small protocols. Fakes live in tests/fakes.py."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from corpus.reader import Index
from corpus.vectors import Vector


class Message(Struct, frozen=True, kw_only=True):
    """One message of the prompt or of the history."""

    role: Literal["system", "user", "assistant"]
    content: str


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of generated text."""

    text: str


class PromptProgress(Struct, frozen=True, kw_only=True):
    """Prompt tokens evaluated so far and in all."""

    processed: int
    total: int


class Finished(Struct, frozen=True, kw_only=True):
    """The model is done; token counts and timings as the server reports them."""

    finish_reason: Literal["stop", "length"]
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    evaluated_tokens: int = 0


ModelEvent = TextDelta | PromptProgress | Finished


class LanguageModel(Protocol):
    """A chat model. Every failure is a bot.chat.errors.ModelError."""

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        """Generate; closing the generator frees the model within a second."""
        ...

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the model's own tokenizer; an overestimate when it can't be asked."""
        ...

    async def check(self) -> None:
        """Return when the model can answer; raise ModelLoading or ModelUnavailable otherwise."""
        ...


class QueryEmbedder(Protocol):
    """Embeds questions. Every failure is a corpus.errors.EmbeddingError."""

    async def embed_query(self, text: str) -> Vector:
        """Unit vector of a question (the adapter adds the prefix)."""
        ...

    async def probe(self) -> Vector:
        """Unit vector of corpus.model.PROBE_TEXT: which model is behind the endpoint?"""
        ...


class IndexState(Struct, frozen=True, kw_only=True):
    """The index in service."""

    index: Index | None
    problem: str | None
    """Why there is none, or why search is by keywords only: one line for logs and health."""
    dense: bool
    """Whether the vectors may be compared with the embedder's."""


class IndexSource(Protocol):
    """Holds the opened index and swaps it when the pointer moves."""

    def lease(self) -> IndexLease:
        """The index in service, kept open until the lease is released."""
        ...

    def state(self) -> IndexState:
        """What health and info report."""
        ...


class IndexLease(Protocol):
    """`with source.lease() as state:` keeps that index open though another is published."""

    def __enter__(self) -> IndexState: ...

    def __exit__(self, *_: object) -> None: ...


class Verdict(Struct, frozen=True, kw_only=True):
    """A limiter's answer; the fields become RateLimit headers."""

    allowed: bool
    limit: int
    remaining: int
    retry_after_seconds: float
    refused_by: Literal["visitor", "site"] = "visitor"
    """Whose allowance is spent, where it is refused: the visitor's (429), or all visitors' (503)."""


class Limiter(Protocol):
    """Counts requests of one key."""

    async def check(self, key: str) -> Verdict:
        """Take one request from the key's allowance."""
        ...


@runtime_checkable
class AddressLimiter(Limiter, Protocol):
    """A limiter that makes its keys itself: those of one process mean nothing to its replicas.

    It also sees what a ready-made key hides: the network around an IPv6 address.
    """

    async def check_address(self, address: str) -> Verdict:
        """Take one request from the allowance of an address; the address itself is not kept."""
        ...


class Conversations(Protocol):
    """Mints and knows conversation ids."""

    async def resume(self, conversation_id: str | None) -> str:
        """That id where it is known and alive, a new one otherwise."""
        ...


class StateUnavailable(Exception):
    """The state that replicas share can't be used; for health and logs, never for a visitor."""

    code = "redis-error"

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SharedState(Protocol):
    """What replicas share: allowances and conversation ids."""

    async def check(self) -> None:
        """Return when it takes reads and writes; raise StateUnavailable otherwise."""
        ...


class ReindexReport(Struct, frozen=True, kw_only=True):
    """What `/api/reindex` answers."""

    indexed_files: int
    total_chunks: int
    duration_ms: int


class Reindexer(Protocol):
    """Runs the indexer."""

    async def run(self) -> ReindexReport:
        """Build and publish; raise ReindexFailed with the owner's message."""
        ...


class Ports(Struct, frozen=True, kw_only=True):
    """All of them; `create_app(settings, ports)` takes fakes here."""

    model: LanguageModel
    embedder: QueryEmbedder
    index: IndexSource
    limiter: Limiter
    conversations: Conversations
    reindexer: Reindexer
    shared: SharedState | None = None
    """None where everything is in this process."""
