"""Count tokens as the embedding model does, or safely too many when it can't be asked."""

from __future__ import annotations

from collections.abc import Callable

from corpus.embedding import EmbeddingClient
from corpus.errors import EmbedderUnavailable

# multilingual-e5 reads 3.5 to 4.5 characters of English or Spanish prose as one token and 2 to 2.5 of
# code and addresses. The estimate takes the low end: passages come out shorter, never too long for
# the window (the rare list of numbers below it is embedded in windows).
CHARS_PER_TOKEN = 2.5

CountTokens = Callable[[str], int]


def estimated_tokens(text: str) -> int:
    """Upper estimate for prose and code."""
    return int(-(-len(text) // CHARS_PER_TOKEN))


class TokenCounter:
    """Counts through the server's `/tokenize`, each text once; estimates after its first failure."""

    def __init__(self, client: EmbeddingClient | None) -> None:
        self._client = client
        self._counts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Tokens of `text`; never raises."""
        if self._client is None:
            return estimated_tokens(text)
        count = self._counts.get(text)
        if count is None:
            try:
                count = self._client.count_tokens(text)
            except EmbedderUnavailable:
                # Not every server can tokenize, and waiting for a time-out per block would take hours
                self._client = None
                return estimated_tokens(text)
            self._counts[text] = count
        return count
