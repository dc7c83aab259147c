"""A visitor who leaves: the answer is cancelled once, so that its clean-up comes to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from bot.api.stream import AnswerStream
from bot.chat.admission import Admission
from bot.chat.events import Chunk, Event
from tests.patience import until

pytestmark = pytest.mark.anyio


class Answer:
    """Speaks once, then waits; closing the model's connection takes it a moment."""

    def __init__(self) -> None:
        self.closing = self.closed = False
        self.may_close = asyncio.Event()

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            yield Chunk(content="one")
            await asyncio.Event().wait()
        finally:
            self.closing = True
            await self.may_close.wait()
            self.closed = True


@pytest.mark.parametrize("interrupted", [False, True])
async def test_closing_the_model_is_not_broken_off_by_a_second_end(interrupted: bool) -> None:
    admission, answer = Admission(8), Answer()
    stream = AnswerStream(answer.events(), admission.admit())
    async with aclosing(stream.body()) as body:
        frames = [await anext(body), await anext(body)]
        assert b"one" in frames[1]
        if interrupted:
            stream.interrupt()
            await until(lambda: answer.closing)
    await until(lambda: answer.closing)
    ending = asyncio.create_task(stream.close())
    await asyncio.sleep(0)
    answer.may_close.set()
    await ending
    assert answer.closed
    assert admission.admitted == 0
