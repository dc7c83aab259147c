"""What a search came to for one question, as everything behind it needs it."""

from __future__ import annotations

from msgspec import Struct

from bot.chat.catalogue import CatalogueAnswer
from bot.chat.gate import Decision
from bot.chat.search import Evidence
from bot.chat.time_questions import TimeQuestion
from bot.chat.work_history import WorkAnswer
from corpus.vectors import Vector


class Retrieved(Struct, frozen=True, kw_only=True):
    """What was searched for and what came of it."""

    query: str
    vector: Vector | None
    evidence: Evidence
    decision: Decision
    time: TimeQuestion | None = None
    """What is asked about time and work."""
    leaning: bool = False
    """Searched together with the questions before: it can't be understood without them."""
    unanswered: str = ""
    """The part of the question that the site does not answer, in the visitor's words; `query` is the
    other part."""
    listing: CatalogueAnswer | WorkAnswer | None = None
    """What the index answers to `query` without a model, where it is one part of a question of two."""
    unmentioned: tuple[str, ...] = ()
    """Technologies the question names and the site does not."""
