"""Evaluated prompt prefixes, kept for a chat server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Literal, Protocol

from msgspec import Struct

from bot.chat.ports.model import Finished, PromptProgress


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
