"""What llama-server is asked and what its stream means, without any I/O.

Recorded from build 11434 (tests/data/llama_stream.http). The request is built from constants and
the configuration only: fields a client could pass have led to memory errors in llama-server
(CVE-2026-21869, CVE-2026-134540), so nothing of a visitor's JSON but the text gets there.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from bot.adapters.llamacpp_chunks import Chunk, Timings, Usage, window_tokens
from bot.adapters.think_filter import ThinkFilter
from bot.chat.errors import (
    ContextOverflow,
    ModelEmpty,
    ModelError,
    ModelInterrupted,
    ModelLoading,
    ModelUnavailable,
)
from bot.chat.ports.model import Finished, Message, ModelEvent, PromptProgress, TextDelta
from corpus.settings import ProviderSettings

CHAT_ROUTE = "/v1/chat/completions"
TOKENIZE_ROUTE = "/tokenize"
TEMPLATE_ROUTE = "/apply-template"
COMPLETION_ROUTE = "/completion"
HEALTH_ROUTE = "/health"
END = "[DONE]"
QUESTION = "the-question-of-a-visitor"
"""Stands where a question will, to find what every prompt has in front of it."""
OVERFLOW_SIGNS = ("exceed_context_size_error", "Context size has been exceeded")


def chat_body(provider: ProviderSettings, messages: tuple[Message, ...]) -> dict[str, Any]:
    """Body of one streamed chat request."""
    return {
        "model": provider.model,
        "messages": [{"role": each.role, "content": each.content} for each in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": provider.max_tokens,
        "temperature": provider.temperature,
        "top_k": provider.top_k,
        "top_p": provider.top_p,
        "repeat_penalty": provider.repeat_penalty,
        "cache_prompt": True,
        "return_progress": True,
        # Templates of thinking models switch it off by this; the others ignore it (measured).
        "chat_template_kwargs": {"enable_thinking": False},
    }


def template_body(text: str) -> dict[str, Any]:
    """Body of a request for the prompt that has this system message and `QUESTION` behind it."""
    return {
        "messages": [
            {"role": "system", "content": text},
            {"role": "user", "content": QUESTION},
        ],
        "add_generation_prompt": False,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def tokens_body(prompt: str) -> dict[str, Any]:
    """Body of a request for a prompt's tokens as the chat route reads it."""
    return {"content": prompt, "add_special": True, "parse_special": True}


def evaluation_body(tokens: list[int]) -> dict[str, Any]:
    """Body of a request that evaluates tokens and keeps nothing else in the slot.

    What the slot holds of them already is not evaluated again; one token is sampled and not evaluated.
    """
    return {
        "prompt": tokens,
        "n_predict": 0,
        "temperature": 0.0,
        "cache_prompt": True,
        "response_fields": ["tokens_evaluated"],
    }


def refusal(status: int, body: bytes) -> ModelError:
    """The error an answer other than 200 stands for; no text of it is taken over."""
    text = body.decode("utf-8", "replace")
    if any(sign in text for sign in OVERFLOW_SIGNS):
        return ContextOverflow(window_tokens(body))
    if status == 503:
        return ModelLoading("the model server is loading its model")
    return ModelUnavailable(f"the model server answered {status}")


class Answer:
    """Reads the payloads of one stream and knows how far the answer has come."""

    def __init__(self) -> None:
        self.spoken = False
        """Something the visitor may see has arrived."""
        self.ended = False
        """[DONE] has arrived; nothing follows."""
        self._filter = ThinkFilter()
        self._finish_reason: Literal["stop", "length"] | None = None
        self._usage = Usage()
        self._timings: Timings | None = None

    @property
    def finished(self) -> bool:
        """The text is complete; at most the token counts are missing."""
        return self.ended or self._finish_reason is not None

    def read(self, payload: str) -> list[ModelEvent]:
        """Events of one payload.

        Raises:
            ModelError: the payload is an error, or not understood; which kind depends on whether
                the visitor has seen a word.
        """
        if payload.strip() == END:
            self.ended = True
            return []
        try:
            chunk = msgspec.json.decode(payload, type=Chunk)
        except msgspec.DecodeError as error:
            raise self.broken("the model server's stream is not understood") from error
        if chunk.error is not None:
            if not self.spoken and any(sign in payload for sign in OVERFLOW_SIGNS):
                raise ContextOverflow(window_tokens(payload.encode()))
            raise self.broken("the model server reported an error in its stream")
        self._usage = chunk.usage or self._usage
        self._timings = chunk.timings or self._timings
        events: list[ModelEvent] = []
        if chunk.prompt_progress is not None and not self.spoken:
            progress = chunk.prompt_progress
            events.append(PromptProgress(processed=progress.processed, total=progress.total))
        for choice in chunk.choices:
            events += self._text(self._filter.feed(choice.delta.content or ""))
            if choice.finish_reason is not None:
                self._finish_reason = "length" if choice.finish_reason == "length" else "stop"
                events += self._text(self._filter.end())
        return events

    def end(self) -> Finished:
        """The last event, once the stream is over.

        Raises:
            ModelError: it is not an end: the stream was cut, or there is nothing to show.
        """
        if not self.finished:
            raise self.broken("the model server broke off")
        if not self.spoken:
            raise ModelEmpty("the model finished without a word")
        cached, evaluated = self._usage.prompt_tokens_details.cached_tokens, 0
        if self._timings is not None:
            cached, evaluated = self._timings.cache_n, self._timings.prompt_n
        return Finished(
            finish_reason=self._finish_reason or "stop",
            input_tokens=self._usage.prompt_tokens,
            output_tokens=self._usage.completion_tokens,
            cached_tokens=cached,
            evaluated_tokens=evaluated,
        )

    def broken(self, reason: str) -> ModelError:
        """The error of a stream that stops here."""
        return ModelInterrupted(reason) if self.spoken else ModelUnavailable(reason)

    def _text(self, text: str) -> list[ModelEvent]:
        if not self.spoken:
            text = text.lstrip()  # thoughts leave blank lines behind
        if not text:
            return []
        self.spoken = True
        return [TextDelta(text=text)]
