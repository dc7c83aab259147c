"""Bring a client's history into the one form a chat template takes: user, assistant, user, …"""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.ports.model import Message
from corpus.text import clean

MOST_TURNS = 5  # pairs of question and answer kept; older ones are dropped


def normalise(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The last `MOST_TURNS` whole turns, alternating, oldest first.

    A question without an answer (a failed or interrupted turn) is dropped, as is an empty answer with
    its question and an answer nobody asked for. System messages of a client are never kept.
    """
    turns: list[tuple[Message, Message]] = []
    question: Message | None = None
    for message in messages:
        text = clean(message.content).strip()
        if message.role == "user":
            question = Message(role="user", content=text) if text else None
        elif message.role == "assistant" and question is not None:
            if text:
                turns.append((question, Message(role="assistant", content=text)))
            question = None
    return tuple(message for turn in turns[-MOST_TURNS:] for message in turn)


def questions(history: Sequence[Message]) -> list[str]:
    """What the visitor asked before, oldest first."""
    return [message.content for message in history if message.role == "user"]
