"""One question, as everything behind the small talk is given it."""

from __future__ import annotations

from msgspec import Struct

from bot.chat.ports.model import Message


class Asked(Struct, frozen=True, kw_only=True):
    """One question within its conversation."""

    question: str
    past: tuple[Message, ...]
    conversation_id: str | None
    """None where nobody will go on from the answer."""
    first: bool = False
    """Nothing was said before, so that the answer suits everybody who asks the same."""
    suggested: bool = False
    """The bot asks itself, to have the answer ready."""
