"""The HTTP side of prompt states: the slot API of llama-server (build 11434), and its identity.

    POST /slots/0?action=save     {"filename"}  200 n_saved, n_written; 500 "Unable to save slot"
    POST /slots/0?action=restore  {"filename"}  200 n_restored; 400, and the slot is empty then
    POST /slots/0?action=erase                  200 n_erased

501 without `--slot-save-path`. While the slot works the action waits for it. A truncated state file
kills the server (measured): whoever names a file here has checked it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, TypeVar

import httpx
import msgspec
from msgspec import Struct

from bot.adapters.llamacpp_wire import (
    COMPLETION_ROUTE,
    QUESTION,
    TEMPLATE_ROUTE,
    TOKENIZE_ROUTE,
    evaluation_body,
    refusal,
    template_body,
    tokens_body,
)
from bot.adapters.states.fingerprint import (
    PROBE_RANKS,
    PROBE_TEXT,
    Identity,
    ModelMeta,
    Props,
    ServedModels,
)
from bot.adapters.upstream import Upstream, read_beginning, send
from bot.chat.errors import ModelError, ModelTimeout, ModelUnavailable
from bot.chat.ports.model import PromptProgress
from corpus.settings import ProviderSettings

ACTION_SECONDS = 10.0
"""An action waits for the batch that runs: 3 s with a 1.5B model; reading a state takes 0.05 s."""
ASK_SECONDS = 5.0
PROBE_SECONDS = 15.0
PIECE_TOKENS = 64
"""Of one evaluation: a batch of the server, 1 s with a 1.5B model on two CPUs. Requests of one batch cost
3 ms each."""
MAX_CONNECTIONS = 4
STATIC_MARKERS = ("", "<__media__>")  # before April 2026 it was not random (llama.cpp#21962)
HEADERS = {"content-type": "application/json", "connection": "close"}
"""A connection for each request: none is sent twice, so that a state that kills the server is known
as the one that did."""
Answer = TypeVar("Answer", bound=Struct)


class SlotError(Exception):
    """The server could not do it; our own words, safe for a log."""


class SlotRefused(SlotError):
    """It answered with an error: the file, the disk or the slot is the reason."""


class SlotsUnsupported(SlotError):
    """It has no slot API, or not the one slot that states are made for."""


class ServerGone(SlotError):
    """It can't be reached; nothing was done."""


class ServerBroke(SlotError):
    """It broke off while it was at it: it may have died of that very file."""


class Saved(Struct):
    """Answer of `save`."""

    n_saved: int
    n_written: int


class Read(Struct):
    """Answer of `restore`."""

    n_restored: int


class Evaluated(Struct, frozen=True):
    """A prefix lies in the slot."""

    tokens: int


class _Candidate(Struct):
    id: int
    logprob: float


class _Position(Struct):
    top_logprobs: list[_Candidate] = []


class _Completion(Struct):
    completion_probabilities: list[_Position] = []


class _Templated(Struct):
    prompt: str


class _Tokens(Struct):
    tokens: list[int]


class _Evaluation(Struct):
    tokens_evaluated: int


class SlotServer(Upstream):
    """The chat server, seen from its slot. Open it before use and close it after."""

    def __init__(
        self,
        provider: ProviderSettings,
        *,
        action_seconds: float = ACTION_SECONDS,
    ) -> None:
        super().__init__(provider.endpoint, MAX_CONNECTIONS)
        self._provider = provider
        self._action_seconds = action_seconds

    async def props(self) -> Props:
        """What runs there now; raises SlotError."""
        return await self._json("GET", "/props", None, Props, ASK_SECONDS)

    async def identify(self, props: Props) -> Identity:
        """Everything a fingerprint needs. The slot is used for it and holds nothing of worth after.

        Raises:
            SlotsUnsupported: states can't be used with this server.
            SlotError: it failed.
        """
        if props.total_slots != 1:
            raise SlotsUnsupported(f"the chat server has {props.total_slots} slots instead of 1")
        if props.media_marker in STATIC_MARKERS:
            raise SlotsUnsupported("the chat server is too old: its restarts would go unnoticed")
        await self._check_supported()
        models = await self._json("GET", "/v1/models", None, ServedModels, ASK_SECONDS)
        meta = next((model.meta for model in models.data if model.meta), ModelMeta())
        question = {
            "prompt": PROBE_TEXT, "n_predict": 1, "n_probs": PROBE_RANKS, "temperature": 0.0,
            "cache_prompt": False,
        }  # fmt: skip
        said = await self._json("POST", "/completion", question, _Completion, PROBE_SECONDS)
        ranks = tuple(
            (candidate.id, round(candidate.logprob, 2))
            for position in said.completion_probabilities[:1]
            for candidate in position.top_logprobs
        )
        if not ranks:
            raise SlotsUnsupported("the chat server does not say how likely its tokens are")
        return Identity(props=props, meta=meta, sha256=self._provider.sha256 or "", probe=ranks)

    async def save(self, filename: str) -> Saved:
        """Write what the slot holds; raises SlotError."""
        return await self._act("save", filename, Saved)

    async def restore(self, filename: str) -> int:
        """Tokens the slot holds now; raises SlotError, and then the slot holds nothing known."""
        return (await self._act("restore", filename, Read)).n_restored

    async def evaluate(self, text: str) -> AsyncGenerator[PromptProgress | Evaluated, None]:
        """Evaluate a system message and the header of the question behind it; closing frees the model.

        Each piece is a request of its own: of one request llama-server reads two batches more after its
        client has gone (measured, 1.7 s with a 1.5B model), and here there is nothing more to read.

        Raises:
            ModelError: see bot.chat.errors.
        """
        end = asyncio.get_running_loop().time() + self._provider.first_token_seconds
        try:
            # No timeout may span a `yield`: it would cancel whoever holds the generator.
            async with asyncio.timeout_at(end):
                tokens = await self._prefix_tokens(text)
            yield PromptProgress(processed=0, total=len(tokens))
            for done in range(PIECE_TOKENS, len(tokens) + PIECE_TOKENS, PIECE_TOKENS):
                piece = tokens[:done]
                async with asyncio.timeout_at(end):
                    await self._ask(COMPLETION_ROUTE, evaluation_body(piece), _Evaluation)
                yield PromptProgress(processed=len(piece), total=len(tokens))
            yield Evaluated(len(tokens))
        except ModelError:
            raise
        except TimeoutError as error:
            raise ModelTimeout("the model took longer than allowed") from error
        except (SlotError, httpx.HTTPError, msgspec.DecodeError) as error:
            raise ModelUnavailable("the model server can't be reached or broke off") from error

    async def _prefix_tokens(self, text: str) -> list[int]:
        """What every prompt with this system message begins with, as the server itself reads it."""
        templated = await self._ask(TEMPLATE_ROUTE, template_body(text), _Templated)
        prefix = templated.prompt.rpartition(QUESTION)[0]
        return (await self._ask(TOKENIZE_ROUTE, tokens_body(prefix), _Tokens)).tokens

    async def _ask(self, route: str, body: dict[str, Any], kind: type[Answer]) -> Answer:
        status, content = await self._exchange("POST", route, body)
        if status != 200:
            raise refusal(status, content)
        return msgspec.json.decode(content, type=kind)

    async def _check_supported(self) -> None:
        """An action that does not exist is 400 where there are slots, and 501 or 404 where not."""
        try:
            await self._json("POST", "/slots/0?action=none", {}, Read, ASK_SECONDS)
        except SlotRefused:
            return

    async def _act(self, action: str, filename: str, kind: type[Answer]) -> Answer:
        route = f"/slots/0?action={action}"
        return await self._json("POST", route, {"filename": filename}, kind, self._action_seconds)

    async def _json(
        self,
        method: str,
        route: str,
        body: dict[str, Any] | None,
        kind: type[Answer],
        seconds: float,
    ) -> Answer:
        try:
            async with asyncio.timeout(seconds):
                status, content = await self._exchange(method, route, body)
        except TimeoutError as error:
            raise SlotError("the chat server took longer than allowed") from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise ServerGone("the chat server can't be reached") from error
        except httpx.HTTPError as error:
            raise ServerBroke("the chat server broke off") from error
        if status == 503:
            raise ServerGone("the chat server is loading its model")
        if status in (404, 405, 501):
            raise SlotsUnsupported(
                "the chat server has no slot API: start it with --slot-save-path"
            )
        if status != 200:
            raise SlotRefused(f"the chat server answered {status}")
        try:
            return msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError as error:
            raise SlotRefused("the chat server's answer is not understood") from error

    async def _exchange(
        self, method: str, route: str, body: dict[str, Any] | None
    ) -> tuple[int, bytes]:
        """Status and the beginning of the body."""
        if self._http is None:
            raise ServerGone("the client of the chat server is not open")
        content = None if body is None else msgspec.json.encode(body)
        request = self._http.build_request(method, route, content=content, headers=HEADERS)
        response = await send(self._http, request)
        try:
            return response.status_code, await read_beginning(response)
        finally:
            # Closing the connection is what makes llama-server stop.
            await response.aclose()
