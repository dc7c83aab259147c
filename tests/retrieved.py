"""What a question found, without an index: for what is decided behind the search."""

from __future__ import annotations

from bot.chat.gate import Decision
from bot.chat.retrieved import Retrieved
from bot.chat.search import Evidence
from bot.chat.time_questions import time_question


def retrieved(query: str, *, logit: float = 1.0, dense: bool = False) -> Retrieved:
    """No hits; answerable where the gate's log odds are above 0."""
    return Retrieved(
        query=query,
        vector=None,
        evidence=Evidence(hits=(), dense=dense),
        decision=Decision(answerable=logit > 0, logit=logit),
        time=time_question(query),
    )
