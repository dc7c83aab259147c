"""What the application needs from outside, as small protocols. Fakes live in tests/fakes.py."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from bot.chat.calibrations import OwnCalibration
from bot.chat.events import Route, Sources
from corpus.model import Language
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
    calibration: OwnCalibration | None = None
    """The gate fitted to this content and embedder; without it the shipped one decides."""
    calibration_note: str | None = None
    """Why there is none, or what has changed since it was fitted: one line for logs and health."""


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


class KnownKey(Struct, frozen=True, kw_only=True):
    """What a kept answer answers; `bot.chat.known` makes it."""

    identity: str
    """Hash of all an answer depends on besides its question: index, prompt, model, settings."""
    language: Language
    question: str
    """Normalised: two spellings of one question are equal."""


class KnownAnswer(Struct, frozen=True, kw_only=True):
    """A finished answer of the model's, ready to be given again."""

    sources: Sources
    text: str


class KnownStore(Protocol):
    """Keeps finished answers; never fails."""

    def find(self, key: KnownKey) -> KnownAnswer | None:
        """The answer kept under exactly this key."""
        ...

    async def keep(self, key: KnownKey, answer: KnownAnswer) -> None:
        """Keep an answer in place of an earlier one."""
        ...

    async def retain(self, identity: str) -> None:
        """Forget the answers of every other identity: index, prompt or model has changed."""
        ...


class KnownStores(Struct, frozen=True, kw_only=True):
    """Finished answers by how long they are kept."""

    suggested: KnownStore
    """Until index, prompt or model change."""
    repeats: KnownStore
    """For `known_answers.ttl_minutes`."""


class Conversations(Protocol):
    """Mints and knows conversation ids."""

    async def resume(self, conversation_id: str | None) -> str:
        """That id where it is known and alive, a new one otherwise."""
        ...


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


class Prefix(Struct, frozen=True, kw_only=True):
    """The part of a prompt that many questions share: the exact text of the system message."""

    text: str


class Restored(Struct, frozen=True, kw_only=True):
    """What `PromptStates.restore` did; hand it to `answered` after the answer."""

    kind: Literal["hit", "miss", "held"]
    """`held`: the slot held it already. After `miss` the whole prompt has to be evaluated."""
    source: Literal["page", "conversation"] | None = None
    tokens: int = 0
    """Tokens the server should now find in its cache."""
    ms: float = 0.0


class Warmed(Struct, frozen=True, kw_only=True):
    """The last item of `PromptStates.warm`: the slot holds the prefix and nothing behind it."""

    tokens: int
    saved: bool
    """Whether it is on disk too; False where there is no room or the disk refuses."""


class StateStats(Struct, frozen=True, kw_only=True):
    """Prompt states now, and how they were used since the start."""

    enabled: bool
    pages: int = 0
    """States on disk that fit the chat server in service."""
    conversations: int = 0
    bytes: int = 0
    cap_bytes: int = 0
    room_tokens: int = 0
    """About so many tokens can still be saved before something else has to go."""
    hits: int = 0
    partials: int = 0
    misses: int = 0
    problem: str | None = None
    """Why they are off or nothing is saved: one line for logs and health."""


class PromptStates(Protocol):
    """Evaluated prompt prefixes, kept on disk and put back into a chat server's only slot.

    What is on disk serves every chat server that it fits; what the slot holds is each server's own.

    Whoever calls `connect`, `restore` or `warm` holds the ticket of that server. Nothing here fails
    an answer: without a state the prompt is evaluated as if there were none.
    """

    @property
    def enabled(self) -> bool:
        """Whether states are used; False for good or until the chat server is another one."""
        ...

    async def connect(self) -> bool:
        """Find out which model is served; done by `restore` and `warm` where it is needed."""
        ...

    def held_tokens(self, prefix: Prefix, conversation_id: str | None = None) -> int:
        """Tokens of such a prompt that the slot is known to hold now; nothing is asked for it."""
        ...

    async def restore(self, prefix: Prefix, conversation_id: str | None = None) -> Restored:
        """Put the longest known beginning of a prompt into the slot.

        The conversation's own state goes before its page's, if it was made with this very prefix. A
        different conversation that the slot still holds is saved first, if it is not yet.
        """
        ...

    def warm(
        self, prefix: Prefix, *, make_room: bool = True
    ) -> AsyncGenerator[PromptProgress | Warmed, None]:
        """Evaluate a prefix alone and save it. Iterate it inside `contextlib.aclosing`.

        Leaving frees the model after the running batch. With `make_room=False` nothing is evicted
        for it.

        Raises:
            ModelError: the server failed; as with LanguageModel.stream.
        """
        ...

    def answered(
        self, restored: Restored, finished: Finished, prefix: Prefix, conversation_id: str | None
    ) -> Literal["hit", "partial", "miss"]:
        """After a whole answer: judge and count what was reused, note what the slot holds now.

        The conversation's own state is saved behind it, while nobody waits.
        Without this call (a failure, a visitor who left) the slot counts as unknown.
        """
        ...

    def has(self, prefix: Prefix) -> bool:
        """Whether its state is on disk for the chat server in service."""
        ...

    async def forget(self, conversation_id: str) -> None:
        """Delete a conversation's state; also done when its TTL is over."""
        ...

    async def retain(self, prefixes: Collection[Prefix]) -> None:
        """Delete the states of all other prefixes: the index has changed."""
        ...

    def stats(self) -> StateStats:
        """For health and info."""
        ...


class ChatServer(Struct, frozen=True, kw_only=True):
    """One server of the language model, which answers one question at a time."""

    model: LanguageModel
    states: PromptStates | None = None
    """None where no prompt state is kept; bot.chat.states.NoStates stands in."""


class Ports(Struct, frozen=True, kw_only=True):
    """All of them; `create_app(settings, ports)` takes fakes here."""

    model: LanguageModel
    embedder: QueryEmbedder
    index: IndexSource
    limiter: Limiter
    conversations: Conversations
    reindexer: Reindexer
    answers: Answers
    journal: VoteJournal | None = None
    """None where votes are only counted."""
    shared: SharedState | None = None
    """None where everything is in this process."""
    states: PromptStates | None = None
    """Of `model`'s server, as in ChatServer."""
    more_servers: tuple[ChatServer, ...] = ()
    """Further servers of the same model: each answers one more visitor at a time."""
    known: KnownStores | None = None
    """None where every question is answered anew."""

    @property
    def chat_servers(self) -> tuple[ChatServer, ...]:
        """Every server of the language model; bot.chat counts them in this order, from 0."""
        return (ChatServer(model=self.model, states=self.states), *self.more_servers)
