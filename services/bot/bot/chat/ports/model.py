"""The language model: messages in, text and counts out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol

from msgspec import Struct


class Message(Struct, frozen=True, kw_only=True):
    """One message of the prompt or of the history."""

    role: Literal["system", "user", "assistant"]
    content: str


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of generated text."""

    text: str


class PromptProgress(Struct, frozen=True, kw_only=True):
    """Prompt tokens evaluated so far and in all."""

    processed: int
    total: int


class Finished(Struct, frozen=True, kw_only=True):
    """The model is done; token counts and timings as the server reports them."""

    finish_reason: Literal["stop", "length"]
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    evaluated_tokens: int = 0


ModelEvent = TextDelta | PromptProgress | Finished


class LanguageModel(Protocol):
    """A chat model. Every failure is a bot.chat.errors.ModelError."""

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        """Generate; closing the generator frees the model within a second."""
        ...

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the model's own tokenizer; an overestimate when it can't be asked."""
        ...

    async def check(self) -> None:
        """Return when the model can answer; raise ModelLoading or ModelUnavailable otherwise."""
        ...
