"""A model lent to background work: given back when a visitor comes, or taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

GRACE_SECONDS = 2.0  # to let go of the model; llama-server frees its slot within one


class Borrower(Protocol):
    """Background work on a model nobody waits for."""

    def interrupt(self) -> None:
        """A visitor is here: give the model back as soon as you can."""
        ...


class Loan:
    """At most one borrower at a time; one that does not let go in time counts as gone."""

    def __init__(self, returned: Callable[[], None], grace_seconds: float = GRACE_SECONDS) -> None:
        """`returned` is called when the model is back."""
        self._returned = returned
        self._grace_seconds = grace_seconds
        self._borrower: Borrower | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody has the model."""
        return self._borrower is not None

    def lend(self, borrower: Borrower) -> None:
        """Give the model; the caller has seen that nobody has it."""
        self._borrower = borrower

    def take_back(self, borrower: Borrower) -> None:
        """The borrower has let go; nothing happens when the model was taken from it before."""
        if self._borrower is borrower:
            self._borrower = None
            self._returned()

    def interrupt(self) -> None:
        """Tell the borrower to let go, where there is one."""
        if (borrower := self._borrower) is not None:
            borrower.interrupt()
            # One that hangs must not keep visitors away from the model.
            loop = asyncio.get_running_loop()
            loop.call_later(self._grace_seconds, self.take_back, borrower)
