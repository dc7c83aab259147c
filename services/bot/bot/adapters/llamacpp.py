"""llama-server as the language model: streams with deadlines, and lets go of the slot at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import httpx
import msgspec

from bot.adapters.llamacpp_wire import (
    CHAT_ROUTE,
    HEALTH_ROUTE,
    TOKENIZE_ROUTE,
    Answer,
    chat_body,
    refusal,
)
from bot.adapters.sse_frames import FrameDecoder, FrameTooLong
from bot.adapters.upstream import Upstream, body_pieces, read_beginning, send
from bot.chat.errors import ModelError, ModelTimeout, ModelUnavailable
from bot.chat.ports.model import Message, ModelEvent
from corpus.settings import ProviderSettings
from corpus.token_estimate import estimated_tokens

GAP_SECONDS = 20.0  # between two tokens; the slowest supported model makes one in 0.1 s
CHECK_SECONDS = 2.0
TOKENIZE_SECONDS = 2.0
MAX_CONNECTIONS = 32  # answers come one at a time; the rest is counting and health
JSON_HEADERS = {"content-type": "application/json"}


class LlamaServer(Upstream):
    """A bot.chat.ports.LanguageModel. Open it before use and close it after."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        gap_seconds: float = GAP_SECONDS,
        check_seconds: float = CHECK_SECONDS,
        on_stream: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_stream` is called before each generation: what the slot held is gone then."""
        super().__init__(provider.endpoint, MAX_CONNECTIONS)
        self._provider = provider
        self._gap_seconds = gap_seconds
        self._check_seconds = check_seconds
        self._on_stream = on_stream

    async def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[ModelEvent, None]:
        """Generate. Iterate it inside `contextlib.aclosing`: leaving frees the model at once.

        Raises:
            ModelError: see bot.chat.errors; the classes say whether a word has been seen.
        """
        answer = Answer()
        deadlines = _Deadlines(self._provider, self._gap_seconds)
        frames = FrameDecoder()
        body = chat_body(self._provider, messages)
        self._on_stream()
        with _as_model_errors(answer):
            async with asyncio.timeout_at(deadlines.next):
                response = await self._post(CHAT_ROUTE, body)
            try:
                if response.status_code != 200:
                    async with asyncio.timeout_at(deadlines.next):
                        raise refusal(response.status_code, await read_beginning(response))
                # No timeout may span a `yield`: it would cancel whoever holds the generator.
                async with aclosing(body_pieces(response)) as pieces:
                    # Nothing is read after [DONE], so that a server which then dawdles costs nothing;
                    # the price is a new connection for each answer.
                    while not answer.ended:
                        async with asyncio.timeout_at(deadlines.next):
                            piece = await anext(pieces, None)
                        if piece is None:
                            break
                        deadlines.check()
                        for payload in frames.feed(piece):
                            events = answer.read(payload)
                            for event in events:
                                yield event
                            deadlines.moved(answer.spoken)
            except (TimeoutError, httpx.HTTPError):
                if not answer.finished:  # else only the token counts are lost
                    raise
            finally:
                # Closing an unfinished answer closes its connection, which is what makes
                # llama-server stop; httpcore shields it from cancellation.
                await response.aclose()
            yield answer.end()

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text` by /tokenize, or an overestimate where it doesn't answer in 2 s."""
        try:
            async with asyncio.timeout(TOKENIZE_SECONDS):
                response = await self._post(TOKENIZE_ROUTE, {"content": text})
                try:
                    body = await response.aread()
                finally:
                    await response.aclose()
            return len(msgspec.json.decode(body)["tokens"])
        except (TimeoutError, httpx.HTTPError, msgspec.DecodeError, KeyError, TypeError):
            return estimated_tokens(text)

    async def check(self) -> None:
        """Return when the model can answer, by /health, within 2 s.

        Raises:
            ModelLoading, ModelUnavailable: it can't.
        """
        try:
            async with asyncio.timeout(self._check_seconds):
                response = await send(self._client, self._client.build_request("GET", HEALTH_ROUTE))
                try:
                    body = await read_beginning(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise ModelUnavailable("the model server's health check timed out") from error
        except httpx.HTTPError as error:
            raise ModelUnavailable("the model server can't be reached") from error
        if response.status_code != 200:
            raise refusal(response.status_code, body)

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            raise ModelUnavailable("the client of the model server is not open")
        return self._http

    async def _post(self, route: str, body: dict[str, Any]) -> httpx.Response:
        request = self._client.build_request(
            "POST", route, content=msgspec.json.encode(body), headers=JSON_HEADERS
        )
        return await send(self._client, request)


class _Deadlines:
    """When to give up: first word, next token, whole answer; seconds on the loop's clock."""

    def __init__(self, provider: ProviderSettings, gap_seconds: float) -> None:
        self._now = asyncio.get_running_loop().time
        self._gap_seconds = gap_seconds
        self._end = self._now() + provider.total_seconds
        self.next = min(self._end, self._now() + provider.first_token_seconds)

    def moved(self, spoken: bool) -> None:
        """An event has come; prompt progress alone leaves the wait for the first word as it is."""
        if spoken:
            self.next = min(self._end, self._now() + self._gap_seconds)

    def check(self) -> None:
        """Raise TimeoutError when late: a server that only sends pings never makes us wait."""
        if self._now() > self.next:
            raise TimeoutError


@contextmanager
def _as_model_errors(answer: Answer) -> Iterator[None]:
    try:
        yield
    except ModelError:
        raise
    except TimeoutError as error:
        raise ModelTimeout("the model took longer than allowed") from error
    except (httpx.HTTPError, FrameTooLong) as error:
        raise answer.broken("the model server can't be reached or broke off") from error
