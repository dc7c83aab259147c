"""Questions to vectors by the embedding llama-server, at next to no cost while that is down."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

import httpx
import msgspec

from bot.adapters.breaker import CircuitBreaker
from bot.adapters.upstream import Upstream, send
from corpus.embedding import EMBEDDINGS_ROUTE, read_vectors, request_body
from corpus.errors import EmbedderUnavailable, EmbeddingInputTooLong, EmbeddingRejected
from corpus.model import PROBE_TEXT
from corpus.settings import EmbeddingSettings
from corpus.vectors import Vector

# What a search needs of a question stands in its first sentences; a longer text could exceed the
# model's 512 tokens and would then have no vector at all.
MAX_QUESTION_CHARS = 1200
REMEMBERED_QUESTIONS = 256
MAX_CONNECTIONS = 16
SAME_MODEL_COSINE = 0.999


class LlamaEmbedder(Upstream):
    """A bot.chat.ports.QueryEmbedder. Open it before use and close it after."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        on_recovery: Callable[[], None] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(settings.endpoint, MAX_CONNECTIONS)
        self._settings = settings
        self._on_recovery = on_recovery
        self._breaker = CircuitBreaker(clock=clock)
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._last_probe: Vector | None = None

    async def embed_query(self, text: str) -> Vector:
        """Unit vector of a question, within `query_timeout_seconds`; the last 256 are remembered.

        Raises:
            EmbeddingError: search by keywords instead. EmbedderUnavailable comes at once while
                the server is known to be down.
        """
        question = text.strip()[:MAX_QUESTION_CHARS]
        if not question:
            raise EmbeddingRejected("a blank question has no vector")
        known = self._known.get(question)
        if known is not None:
            self._known.move_to_end(question)
            return known
        vector = await self._embed(self._settings.query_prefix + question)
        self._known[question] = vector
        if len(self._known) > REMEMBERED_QUESTIONS:
            self._known.popitem(last=False)
        return vector

    async def probe(self) -> Vector:
        """Unit vector of PROBE_TEXT, which carries its own prefix; always asked anew.

        Where it differs from the last one, another model is at work and the remembered questions
        are forgotten.
        """
        vector = await self._embed(PROBE_TEXT)
        if self._last_probe is not None and float(self._last_probe @ vector) < SAME_MODEL_COSINE:
            self._known.clear()
        self._last_probe = vector
        return vector

    async def _embed(self, text: str) -> Vector:
        if not self._breaker.allows():
            raise EmbedderUnavailable("the embedding server is down, next try in some seconds")
        try:
            vector = await self._request(text)
        except (EmbedderUnavailable, EmbeddingRejected):
            self._breaker.failed()
            raise
        except EmbeddingInputTooLong:
            self._breaker.succeeded()
            raise
        except BaseException:
            self._breaker.abandoned()
            raise
        recovered = self._breaker.succeeded()
        if recovered and self._on_recovery is not None:
            self._on_recovery()
        return vector

    async def _request(self, text: str) -> Vector:
        if self._http is None:
            raise EmbedderUnavailable("the client of the embedding server is not open")
        request = self._http.build_request(
            "POST",
            EMBEDDINGS_ROUTE,
            content=msgspec.json.encode(request_body(self._settings.model, [text])),
            headers={"content-type": "application/json"},
        )
        try:
            async with asyncio.timeout(self._settings.query_timeout_seconds):
                response = await send(self._http, request)
                try:
                    body = await response.aread()
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise EmbedderUnavailable(
                f"the embedding server took more than {self._settings.query_timeout_seconds:g} s"
            ) from error
        except httpx.HTTPError as error:
            raise EmbedderUnavailable(
                f"no embedding server at {self._settings.endpoint}: {type(error).__name__}"
            ) from error
        return read_vectors(response.status_code, body, 1, self._settings.dimension)[0]
