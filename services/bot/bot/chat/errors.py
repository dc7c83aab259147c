"""What can go wrong while answering; every class says who sees it.

    ChatError                    shown to the visitor: fixed text in their language, by `code`
    ├── InvalidQuestion          400/422: the request can't be answered as it is
    ├── RateLimited              429: this visitor asks too often
    ├── Busy                     503: the queue is full, or this visitor's share of it
    │   └── WaitedTooLong        in the stream: the turn did not come within `server.queue_seconds`
    ├── Restarting               503 or `error` event: the server is going down
    ├── ModelError               the language model gave no usable answer
    │   ├── ModelUnavailable     down or refusing; nothing was generated
    │   ├── ModelLoading         up, but still loading its weights
    │   ├── ModelTimeout         a deadline passed
    │   ├── ModelInterrupted     the stream broke off after the first word
    │   ├── ModelEmpty           it finished without a word
    │   └── ContextOverflow      prompt larger than the model's window (holds the window's size)
    └── ReindexFailed            shown to the owner only

`message` of an `error` event comes from bot.chat.phrases, never from the text of an exception:
upstream text may hold anything.
"""

from __future__ import annotations


class ChatError(Exception):
    """Base; `code` is the same in problem documents, `error` events and logs."""

    code = "internal-error"
    retryable = False


class InvalidQuestion(ChatError):
    """The request can't be answered as it is; the text says what to change."""

    code = "invalid-question"


class RateLimited(ChatError):
    """This visitor asks too often; `retry_after_seconds` says when to come back."""

    code = "rate-limited"
    retryable = True

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__("too many requests")
        self.retry_after_seconds = retry_after_seconds


class Busy(ChatError):
    """The queue for the model is full."""

    code = "busy"
    retryable = True

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__("the queue is full")
        self.retry_after_seconds = retry_after_seconds


class WaitedTooLong(Busy):
    """The turn did not come in time; the found passages can still be an answer."""


class Restarting(ChatError):
    """The server is shutting down; asking again reaches the next one."""

    code = "restarting"
    retryable = True


class ModelError(ChatError):
    """The language model gave no usable answer."""

    code = "model-error"
    retryable = True


class ModelUnavailable(ModelError):
    """The model server is down or refused before anything was generated."""

    code = "model-unavailable"


class ModelLoading(ModelError):
    """The model server is up but still loading its weights."""

    code = "model-loading"


class ModelTimeout(ModelError):
    """The first token or the whole answer took longer than the configuration allows."""

    code = "model-timeout"


class ModelInterrupted(ModelError):
    """The model server broke off after the first word."""

    code = "model-interrupted"


class ModelEmpty(ModelError):
    """The model finished without a word that may be shown."""

    code = "model-empty"


class ContextOverflow(ModelError):
    """The prompt exceeds the window; `window_tokens` is the server's own figure, or None."""

    code = "context-overflow"

    def __init__(self, window_tokens: int | None = None) -> None:
        super().__init__("the prompt exceeds the model's window")
        self.window_tokens = window_tokens


class ReindexFailed(ChatError):
    """The indexer did not finish well; the text is for the owner."""

    code = "reindex-failed"
