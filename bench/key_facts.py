"""Whether an answer holds the facts a labelled question asks for, compared as `chat-bot eval` does."""

from __future__ import annotations

from bot.evaluation.facts import folded, holds, share

__all__ = ["folded", "holds", "share"]
