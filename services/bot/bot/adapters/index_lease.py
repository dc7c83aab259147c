"""Keep an index open for those who still read it after another was put into service."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from bot.chat.ports.index import IndexState
from corpus.reader import Index


class HeldIndex:
    """An opened index and the number of its readers; closed once retired and unread."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._lock = Lock()  # swaps happen in a thread, readers come and go in the event loop
        self._readers = 0
        self._retired = False

    def take(self) -> None:
        """One more reader; only while it is in service."""
        with self._lock:
            self._readers += 1

    def give_back(self) -> None:
        """One reader less."""
        with self._lock:
            self._readers -= 1
            self._close_when_unused()

    def retire(self) -> None:
        """It is no longer in service."""
        with self._lock:
            self._retired = True
            self._close_when_unused()

    def _close_when_unused(self) -> None:
        if self._retired and not self._readers:
            self.index.close()


class FolderIndexLease:
    """`with source.lease() as state:`; enter it once. What it gave stays as it was."""

    def __init__(self, take: Callable[[], tuple[HeldIndex | None, IndexState]]) -> None:
        self._take = take
        self._held: HeldIndex | None = None

    def __enter__(self) -> IndexState:
        self._held, state = self._take()
        return state

    def __exit__(self, *_: object) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.give_back()
