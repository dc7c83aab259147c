"""Judging how much of a restored prompt was reused, and the states that are none."""

from __future__ import annotations

from contextlib import aclosing
from typing import Literal

import pytest

from bot.chat.ports.model import Finished
from bot.chat.ports.states import Prefix, PromptStates, Restored, StateStats, Warmed
from bot.chat.states import NoStates, judge

PREFIX = Prefix(text="rules and page")


@pytest.mark.parametrize(
    ("kind", "tokens", "cached", "outcome"),
    [
        ("hit", 1000, 1000, "hit"),
        ("hit", 1000, 1200, "hit"),
        ("hit", 1000, 984, "hit"),  # the header of an answer in the saved state
        ("hit", 1000, 983, "partial"),
        ("hit", 1000, 500, "partial"),
        ("hit", 1000, 499, "miss"),
        ("held", 1000, 1000, "hit"),
        ("held", 1000, 0, "miss"),
        ("held", 0, 300, "hit"),  # evaluated with its question, so that its own length is unknown
        ("held", 0, 0, "miss"),
        ("miss", 0, 0, "miss"),
        ("miss", 0, 800, "miss"),
    ],
)
def test_the_servers_own_count_decides(
    kind: Literal["hit", "held", "miss"], tokens: int, cached: int, outcome: str
) -> None:
    assert judge(Restored(kind=kind, tokens=tokens), cached) == outcome


@pytest.mark.anyio
async def test_without_states_every_prompt_is_evaluated() -> None:
    states: PromptStates = NoStates("switched off")
    assert not states.enabled
    assert not await states.connect()
    restored = await states.restore(PREFIX, "conversation")
    assert restored == Restored(kind="miss")
    async with aclosing(states.warm(PREFIX)) as events:
        assert [event async for event in events] == [Warmed(tokens=0, saved=False)]
    finished = Finished(finish_reason="stop", input_tokens=9, output_tokens=1)
    assert states.answered(restored, finished, PREFIX, None) == "miss"
    assert not states.has(PREFIX)
    await states.forget("conversation")
    await states.retain([PREFIX])
    assert states.stats() == StateStats(enabled=False, problem="switched off")
