"""What the model was told in a running conversation, word for word, so that a follow-up only adds to it.

The client sends back what was shown, with the visitor's citation numbers; the model's cache holds what
was said, with its own. A prompt that differs in one early token is evaluated from there again: 25–35 ms
a token with a 1.5B model. So the exact messages are remembered, in memory only, as long as the
conversation lives; where they are gone, or another bot has them, the client's history is used.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from time import monotonic

from msgspec import Struct

from bot.chat.context import Excerpt
from bot.chat.ports.model import Message
from corpus.text import clean

MOST_THREADS = 256
MOST_THREAD_CHARS = 6_000
"""Then a new prompt is made of the page and the last turns: about half of a 4,096-token window."""


class Thread(Struct, frozen=True, kw_only=True):
    """One conversation on one page, as the model knows it."""

    page_key: str
    messages: tuple[Message, ...]
    """Everything after the system message, the last answer as generated included."""
    excerpts: tuple[Excerpt, ...]
    """Excerpts of earlier turns in the order of their numbers."""
    question: str
    """The last one, as the visitor asked it."""
    shown: str
    """The last answer, as the visitor saw it."""

    def continues(self, past: Sequence[Message]) -> bool:
        """Whether a client's history ends with this thread's last turn."""
        said = [clean(message.content).strip() for message in past[-2:]]
        return said == [clean(self.question).strip(), clean(self.shown).strip()]


class Threads:
    """The running conversations of this bot, the least recently used forgotten first."""

    def __init__(self, ttl_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._threads: OrderedDict[str, tuple[float, Thread]] = OrderedDict()

    def find(self, conversation_id: str, past: Sequence[Message]) -> Thread | None:
        """The thread that `past` continues, or None."""
        self._forget_old()
        held = self._threads.get(conversation_id)
        if held is None or not held[1].continues(past):
            return None
        return held[1]

    def keep(self, conversation_id: str, thread: Thread) -> None:
        """Remember the thread after a complete answer; one that grew too long is forgotten."""
        self._threads.pop(conversation_id, None)
        if sum(len(message.content) for message in thread.messages) <= MOST_THREAD_CHARS:
            self._threads[conversation_id] = (self._clock(), thread)
        self._forget_old()

    def _forget_old(self) -> None:
        oldest = self._clock() - self._ttl_seconds
        while self._threads:
            conversation_id, (used, _) = next(iter(self._threads.items()))
            if used > oldest and len(self._threads) <= MOST_THREADS:
                break
            del self._threads[conversation_id]
