"""What the application needs from outside, as small protocols; fakes live in tests/fakes.py."""

from __future__ import annotations

from msgspec import Struct

from bot.chat.ports.feedback import Answers, VoteJournal
from bot.chat.ports.index import IndexSource, QueryEmbedder, Reindexer
from bot.chat.ports.known import KnownStores
from bot.chat.ports.model import LanguageModel
from bot.chat.ports.sharing import Conversations, Limiter, SharedState
from bot.chat.ports.states import PromptStates


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
