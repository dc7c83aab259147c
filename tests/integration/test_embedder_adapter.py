"""The question embedder against a real HTTP server that speaks llama-server's wire format."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from bot.adapters.embedder import LlamaEmbedder
from corpus.errors import (
    EmbedderUnavailable,
    EmbeddingError,
    EmbeddingInputTooLong,
    EmbeddingRejected,
)
from corpus.model import PROBE_TEXT
from corpus.settings import EmbeddingSettings
from tests.clock import Clock
from tests.fake_llama import FakeLlama, Reply, server_error

pytestmark = pytest.mark.anyio
DIMENSION = 8


@pytest.fixture
def fake() -> Iterator[FakeLlama]:
    with FakeLlama(dimension=DIMENSION) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def embedder(fake: FakeLlama, clock: Clock) -> AsyncIterator[LlamaEmbedder]:
    async with LlamaEmbedder(embedding_settings(fake), clock=clock) as client:
        yield client


def embedding_settings(fake: FakeLlama, seconds: float = 60.0) -> EmbeddingSettings:
    return EmbeddingSettings(
        endpoint=fake.url, model="e-1", dimension=DIMENSION, query_timeout_seconds=seconds
    )


def vector_body(*values: Any) -> bytes:
    return json.dumps({"data": [{"index": 0, "embedding": list(values)}]}).encode()


async def test_question_gets_its_prefix_and_a_unit_vector(
    fake: FakeLlama, embedder: LlamaEmbedder
) -> None:
    vector = await embedder.embed_query("  ¿Qué es?  ")
    assert np.isclose(np.linalg.norm(vector), 1.0)
    assert fake.embedding_requests == [
        {"model": "e-1", "input": ["query: ¿Qué es?"], "encoding_format": "float"}
    ]


async def test_question_asked_again_costs_nothing(fake: FakeLlama, embedder: LlamaEmbedder) -> None:
    first = await embedder.embed_query("hola")
    assert np.array_equal(await embedder.embed_query("hola "), first)
    assert len(fake.embedding_requests) == 1
    for number in range(256):
        await embedder.embed_query(f"question {number}")
    await embedder.embed_query("hola")
    assert len(fake.embedding_requests) == 258


async def test_probe_is_sent_as_it_is_and_always_anew(
    fake: FakeLlama, embedder: LlamaEmbedder
) -> None:
    await embedder.probe()
    await embedder.probe()
    assert [request["input"] for request in fake.embedding_requests] == [[PROBE_TEXT]] * 2


async def test_remembered_vectors_of_another_model_are_forgotten(
    fake: FakeLlama, embedder: LlamaEmbedder
) -> None:
    """EMB-05: the server came back with another model of the same dimension."""
    await embedder.probe()
    await embedder.embed_query("hola")
    fake.vector_of = lambda text: [float(n + 1) for n in range(DIMENSION)]
    await embedder.probe()
    assert (await embedder.embed_query("hola"))[-1] > 0.5


async def test_long_question_is_cut_and_blank_one_never_sent(
    fake: FakeLlama, embedder: LlamaEmbedder
) -> None:
    """EMB-01, EMB-04."""
    await embedder.embed_query("x" * 5000)
    assert len(fake.embedding_requests[0]["input"][0]) == len("query: ") + 1200
    for blank in ("", "   ", "\n\t"):
        with pytest.raises(EmbeddingRejected):
            await embedder.embed_query(blank)
    assert len(fake.embedding_requests) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(body=vector_body(*[None] * DIMENSION)), EmbeddingRejected),
        (Reply(body=vector_body(*[float("nan")] * DIMENSION)), EmbeddingError),
        (Reply(body=vector_body(*[0.0] * DIMENSION)), EmbeddingRejected),
        (Reply(body=vector_body(1.0, 2.0)), EmbeddingRejected),
        (Reply(body=b'{"data":[]}'), EmbeddingRejected),
        (Reply(body=b"<html>"), EmbedderUnavailable),
        (Reply(body=b'{"data":null}'), EmbedderUnavailable),
        (Reply(status=500), EmbedderUnavailable),
        (Reply(status=503), EmbedderUnavailable),
        (
            Reply(
                status=500,
                body=json.dumps(server_error("input is too large to process")).encode(),
            ),
            EmbeddingInputTooLong,
        ),
        (Reply(drop=True), EmbedderUnavailable),
    ],
)
async def test_unusable_answers_are_embedding_errors(
    fake: FakeLlama, embedder: LlamaEmbedder, reply: Reply, error: type[EmbeddingError]
) -> None:
    """EMB-02: HTTP 200 with null, NaN, zeros or a wrong length is never a vector."""
    fake.enqueue_embedding(reply)
    with pytest.raises(error):
        await embedder.embed_query("hola")
    assert len(fake.embedding_requests) == 1
    assert np.isclose(np.linalg.norm(await embedder.embed_query("hola")), 1.0)


async def test_slow_server_is_given_up_in_time(fake: FakeLlama) -> None:
    """F2 of the embedder: keywords take over after `query_timeout_seconds`."""
    took: list[float] = []
    async with LlamaEmbedder(embedding_settings(fake, seconds=0.2)) as embedder:
        # The best of three: a busy machine may stall one of them for as long as the default.
        while (
            len(took) < 3 and min(took, default=60.0) >= EmbeddingSettings().query_timeout_seconds
        ):
            fake.enqueue_embedding(Reply(hold="headers"))
            began = time.monotonic()
            with pytest.raises(EmbedderUnavailable, match=r"took more than 0\.2 s"):
                await embedder.embed_query("hola")
            took.append(time.monotonic() - began)
    assert 0.15 < min(took) < EmbeddingSettings().query_timeout_seconds


async def test_stale_kept_connection_is_tried_once_more(
    fake: FakeLlama, embedder: LlamaEmbedder
) -> None:
    await embedder.embed_query("one")
    fake.enqueue_embedding(Reply(drop=True))
    await embedder.embed_query("two")
    assert (len(fake.embedding_requests), fake.connections) == (3, 2)
    fake.enqueue_embedding(Reply(drop=True), Reply(drop=True))
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("three")
    assert len(fake.embedding_requests) == 5


async def test_dead_server_costs_nothing_until_one_call_finds_it_back(
    fake: FakeLlama, embedder: LlamaEmbedder, clock: Clock
) -> None:
    """F10: opens, fails fast, probes half-open, closes. F11: no call while open."""
    fake.enqueue_embedding(*(Reply(status=500) for _ in range(4)))
    for number in range(50):
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query(f"q{number}")
    assert len(fake.embedding_requests) == 3
    clock.now += 5.1
    for number in range(50):
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query(f"q{number}")
    assert len(fake.embedding_requests) == 4
    clock.now += 5.1
    await embedder.embed_query("back")
    await embedder.embed_query("and well")
    assert len(fake.embedding_requests) == 6


async def test_only_one_visitor_at_a_time_waits_for_the_probe(
    fake: FakeLlama, embedder: LlamaEmbedder, clock: Clock
) -> None:
    """F10: half open means one call, also when that call is abandoned."""
    fake.enqueue_embedding(*(Reply(status=500) for _ in range(3)), Reply(hold="headers"))
    for number in range(3):
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query(f"q{number}")
    clock.now += 5.1
    waiting = asyncio.create_task(embedder.embed_query("probe"))
    assert await asyncio.to_thread(fake.wait_until, lambda: len(fake.embedding_requests) == 4)
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("meanwhile")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await embedder.embed_query("next")
    assert len(fake.embedding_requests) == 5


async def test_recovery_is_told_once(fake: FakeLlama) -> None:
    told: list[str] = []
    settings = embedding_settings(fake)
    async with LlamaEmbedder(settings, on_recovery=lambda: told.append("back")) as embedder:
        await embedder.embed_query("a")
        assert not told
        fake.enqueue_embedding(Reply(status=503))
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("b")
        await embedder.embed_query("b")
        await embedder.embed_query("c")
    assert told == ["back"]


async def test_no_server_is_unavailable() -> None:
    with FakeLlama() as gone:
        settings = embedding_settings(gone)
    async with LlamaEmbedder(settings) as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query("hola")
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("after the end")
