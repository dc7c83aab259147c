"""Work for nobody in particular, such as warming: on an idle model only, and gone when a visitor comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from bot.chat.admission import Admission, Choose, Ticket, longest_unused


class BackgroundTurn(Ticket):
    """The ticket of background work: its turn is now, and the block's end gives it back."""

    def __init__(self, admission: Admission, task: asyncio.Task[Any]) -> None:
        super().__init__(admission, self)
        self._task = task
        self.interrupted = False
        """A visitor came before the work was done."""

    def interrupt(self) -> None:
        """Cancel the work, once."""
        if not self.interrupted:
            self.interrupted = True
            self._task.cancel()

    def expected_seconds(self) -> float:
        """Nothing to wait for."""
        return 0.0

    async def wait_turn(
        self, choose: Choose = longest_unused
    ) -> AsyncGenerator[tuple[int, float], None]:
        """Return at once."""
        nobody_before: tuple[tuple[int, float], ...] = ()
        for place in nobody_before:
            yield place

    def move(self) -> bool:
        """Never: the block has the one server that was lent."""
        return False

    def release(self) -> None:
        """Do nothing: the block gives the server back."""


@asynccontextmanager
async def background(
    admission: Admission, *, idle_seconds: float = 0.0, choose: Choose = longest_unused
) -> AsyncGenerator[BackgroundTurn, None]:
    """Run the block once no visitor was here for `idle_seconds`, one block at a time.

    The block has the chat server `turn.server`. The moment a visitor is admitted whom no other server
    is left for (or the bot goes down) the block's task is cancelled; that cancellation ends here, and
    `turn.interrupted` tells of it. A visitor waits for the server until the block is left, 2 s at the
    most. Inside, `turn` serves as the ticket of an answer; a ticket of `admit` would be such a visitor.

    Raises:
        Restarting: the server is going down.
    """
    await admission.idle(idle_seconds)
    task = asyncio.current_task()
    assert task is not None
    cancelled_before = task.cancelling()
    turn = BackgroundTurn(admission, task)
    turn.server = admission.lend(turn, choose)
    try:
        yield turn
    except asyncio.CancelledError:
        # One cancellation of the task is ours; any more are somebody else's and go on.
        if not turn.interrupted or task.cancelling() - 1 > cancelled_before:
            raise
    finally:
        admission.loan.take_back(turn)
        if turn.interrupted:
            task.uncancel()
