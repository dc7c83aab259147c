"""The fields we read of llama-server's JSON (build 11434); everything else in it is skipped."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class Delta(Struct):
    """What one chunk adds; `reasoning_content` is left out: nobody is to see it (LLM-05)."""

    content: str | None = None


class Choice(Struct):
    """The only choice: we ask for one."""

    delta: Delta = msgspec.field(default_factory=Delta)
    finish_reason: str | None = None


class Progress(Struct):
    """Prompt tokens evaluated so far, once a batch."""

    total: int
    processed: int
    cache: int = 0


class CachedTokens(Struct):
    """How much of the prompt was in the cache."""

    cached_tokens: int = 0


class Usage(Struct):
    """Token counts of the whole answer, in the last chunk."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: CachedTokens = msgspec.field(default_factory=CachedTokens)


class Timings(Struct):
    """`cache_n` prompt tokens were reused, `prompt_n` evaluated."""

    cache_n: int = 0
    prompt_n: int = 0


class Chunk(Struct):
    """One event of the stream; an error has only `error`."""

    choices: list[Choice] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    timings: Timings | None = None
    prompt_progress: Progress | None = None
    error: Any = None


class Refusal(Struct):
    """An error document."""

    class Details(Struct):
        """Of a prompt that is too large."""

        n_ctx: int | None = None

    error: Details


def window_tokens(body: bytes) -> int | None:
    """The window an overflow error names, where it does."""
    try:
        return msgspec.json.decode(body, type=Refusal).error.n_ctx
    except msgspec.DecodeError:
        return None
