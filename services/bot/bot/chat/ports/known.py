"""Finished answers that may be given again."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from bot.chat.events import Sources
from corpus.model import Language


class KnownKey(Struct, frozen=True, kw_only=True):
    """What a kept answer answers; `bot.chat.known` makes it."""

    identity: str
    """Hash of all an answer depends on besides its question: index, prompt, model, settings."""
    language: Language
    question: str
    """Normalised: two spellings of one question are equal."""


class KnownAnswer(Struct, frozen=True, kw_only=True):
    """A finished answer of the model's, ready to be given again."""

    sources: Sources
    text: str


class KnownStore(Protocol):
    """Keeps finished answers; never fails."""

    def find(self, key: KnownKey) -> KnownAnswer | None:
        """The answer kept under exactly this key."""
        ...

    async def keep(self, key: KnownKey, answer: KnownAnswer) -> None:
        """Keep an answer in place of an earlier one."""
        ...

    async def retain(self, identity: str) -> None:
        """Forget the answers of every other identity: index, prompt or model has changed."""
        ...


class KnownStores(Struct, frozen=True, kw_only=True):
    """Finished answers by how long they are kept."""

    suggested: KnownStore
    """Until index, prompt or model change."""
    repeats: KnownStore
    """For `known_answers.ttl_minutes`."""
