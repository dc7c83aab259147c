"""Ask the embedding server for vectors, and refuse what can't be used.

The wire format lives in `request_body` and `read_vectors`, without any I/O, so that the bot's async
client (bot.adapters.embedder) and the synchronous client here speak it identically.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from corpus.errors import EmbedderUnavailable, EmbeddingInputTooLong, EmbeddingRejected
from corpus.settings import EmbeddingSettings
from corpus.vectors import Vector, unit

EMBEDDINGS_ROUTE = "/v1/embeddings"
TOKENIZE_ROUTE = "/tokenize"
NOT_A_NUMBER = re.compile(rb"[\[,]\s*-?(?:nan|inf(?:inity)?)\s*[,\]]", re.IGNORECASE)
TOO_LONG_SIGNS = ("too large to process", "exceed_context_size", "maximum context length")


def request_body(model: str, texts: Sequence[str]) -> dict[str, Any]:
    """Body of one embeddings request; blank inputs are the caller's mistake (they hang servers)."""
    if not texts or any(not text.strip() for text in texts):
        raise ValueError("a blank text must not be sent to the embedding server")
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def read_vectors(status: int, body: bytes, count: int, dimension: int | None) -> list[Vector]:
    """Vectors of one answer in the order of the inputs, paired by `index`, each of unit length.

    Raises:
        EmbeddingInputTooLong: the server said so.
        EmbedderUnavailable: any other status than 200, or not the expected JSON.
        EmbeddingRejected: wrong number, duplicate or missing indexes, or unusable values.
    """
    if status != 200:
        text = body[:2000].decode("utf-8", "replace")
        if any(sign in text for sign in TOO_LONG_SIGNS) or status == 413:
            raise EmbeddingInputTooLong("the embedding server refused a text as too long")
        unavailable = EmbedderUnavailable(f"the embedding server answered {status}")
        unavailable.status = status
        raise unavailable
    try:
        items = msgspec.json.decode(body)["data"]
        by_index = {int(item["index"]): item["embedding"] for item in items}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        if NOT_A_NUMBER.search(body):  # no JSON, but what Python servers write for such a vector
            raise EmbeddingRejected("the embedding server sent NaN or infinite values") from error
        raise EmbedderUnavailable("the embedding server's answer is not understood") from error
    if len(items) != count or sorted(by_index) != list(range(count)):
        raise EmbeddingRejected(
            f"the embedding server sent {len(items)} vectors for {count} texts, "
            "or numbered them wrongly"
        )
    return [unit(by_index[index], dimension) for index in range(count)]


class EmbeddingClient:
    """Synchronous client for jobs and benchmarks; close it or use it as a context manager."""

    def __init__(
        self, settings: EmbeddingSettings, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._settings = settings
        self._http = httpx.Client(
            base_url=settings.endpoint,
            timeout=httpx.Timeout(settings.timeout_seconds, connect=5.0),
            # Reading the system's certificates takes 50 ms, and http has no use for them (measured)
            verify=settings.endpoint.startswith("https:"),
            transport=transport,
        )

    def __enter__(self) -> EmbeddingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector a text, prefix already included by the caller."""
        status, body = self._post(EMBEDDINGS_ROUTE, request_body(self._settings.model, texts))
        return read_vectors(status, body, len(texts), self._settings.dimension)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as the embedding model's own tokenizer counts them."""
        status, body = self._post(TOKENIZE_ROUTE, {"content": text})
        try:
            tokens = msgspec.json.decode(body)["tokens"]
            return len(tokens)
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(
                f"the embedding server can't tokenize (status {status})"
            ) from error

    def _post(self, route: str, body: dict[str, Any]) -> tuple[int, bytes]:
        content = msgspec.json.encode(body)
        headers = {"content-type": "application/json"}
        for attempt in (1, 2):
            try:
                response = self._http.post(route, content=content, headers=headers)
                return response.status_code, response.content
            except httpx.RemoteProtocolError as error:
                # llama-server closes idle keep-alive connections: one fresh try (facts: measured)
                if attempt == 2:
                    raise EmbedderUnavailable(f"no embedding server: {error}") from error
            except httpx.HTTPError as error:
                raise EmbedderUnavailable(
                    f"no embedding server at {self._settings.endpoint}: "
                    f"{str(error) or type(error).__name__}"
                ) from error
        raise AssertionError("unreachable")
