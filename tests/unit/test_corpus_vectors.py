"""Vectors: what a server may send, how they are stored, and the one cosine of a chunk."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunk_vectors import CRUMB, CRUMB_WEIGHT, WHOLE, ChunkVectors
from corpus.embedding import EmbeddingClient, read_vectors, request_body
from corpus.errors import EmbedderUnavailable, EmbeddingInputTooLong, EmbeddingRejected
from corpus.settings import EmbeddingSettings
from corpus.vectors import Vector, decode, encode, mean_unit, unit
from corpus.windows import WINDOW_CHARS, windows


def answer(*vectors: Any, indexes: list[Any] | None = None) -> bytes:
    places = list(range(len(vectors))) if indexes is None else indexes
    return json.dumps(
        {"data": [{"index": i, "embedding": v} for i, v in zip(places, vectors, strict=True)]}
    ).encode()


def one_hot(place: int, dimension: int = 3) -> Vector:
    return np.eye(dimension, dtype=np.float32)[place]


def test_vectors_are_paired_by_index_and_scaled() -> None:
    vectors = read_vectors(200, answer([0, 3, 4], [2, 0, 0], indexes=[1, 0]), 2, 3)
    assert [vector.tolist() for vector in vectors] == [
        [1.0, 0.0, 0.0],
        pytest.approx([0.0, 0.6, 0.8]),
    ]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (answer([1, 2]), 1),
        (answer([1, 2, 3, 4]), 1),
        (answer([]), 1),
        (answer([0, 0, 0]), 1),
        (answer([None, None, None]), 1),
        (answer([1, None, 2]), 1),
        (answer(["a", "b", "c"]), 1),
        (answer([[1, 2, 3], [4, 5, 6]]), 1),
        (answer(5), 1),
        (answer(None), 1),
        (answer([1, 0, 0]), 2),
        (answer([1, 0, 0], [1, 0, 0]), 1),
        (answer([1, 0, 0], [1, 0, 0], indexes=[0, 0]), 2),
        (answer([1, 0, 0], [1, 0, 0], indexes=[1, 2]), 2),
        (b'{"data":[{"index":0,"embedding":[NaN,1,2]}]}', 1),
        (b'{"data":[{"index":0,"embedding":[1,-Infinity,2]}]}', 1),
        (b'{"data":[{"index":0,"embedding":[1, nan ]}]}', 1),
        (b'{"data":[]}', 1),
    ],
)
def test_unusable_vectors_are_rejected_though_the_status_is_200(body: bytes, count: int) -> None:
    """EMB-02"""
    with pytest.raises(EmbeddingRejected):
        read_vectors(200, body, count, 3)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"5", b'"x"', b"{}", b'{"data":5}', b'{"data":[5]}', b"<html>",
     b'{"data":[{"index":"x","embedding":[1]}]}', b'{"data":[{"embedding":[1]}]}', b"\xff\xfe"],
)  # fmt: skip
def test_what_is_not_understood_counts_as_no_server(body: bytes) -> None:
    with pytest.raises(EmbedderUnavailable):
        read_vectors(200, body, 1, 3)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (500, b"input (600 tokens) is too large to process", EmbeddingInputTooLong),
        (400, b'{"error":{"type":"exceed_context_size_error"}}', EmbeddingInputTooLong),
        (400, b"maximum context length is 512", EmbeddingInputTooLong),
        (413, b"", EmbeddingInputTooLong),
        (503, b'{"error":{"message":"Loading model"}}', EmbedderUnavailable),
        (500, b"\xff", EmbedderUnavailable),
        (404, b"", EmbedderUnavailable),
    ],
)
def test_a_bad_status_says_what_to_do(status: int, body: bytes, error: type[Exception]) -> None:
    """EMB-01"""
    with pytest.raises(error) as caught:
        read_vectors(status, body, 1, 3)
    if isinstance(caught.value, EmbedderUnavailable):
        assert caught.value.status == status


@pytest.mark.parametrize("texts", [[], [""], ["   "], ["a", "\n"], ["\t"]])
def test_a_blank_text_is_never_sent(texts: list[str]) -> None:
    """EMB-04: it hangs or crashes servers."""
    with pytest.raises(ValueError, match="blank"):
        request_body("m", texts)


def test_the_body_is_what_servers_of_openai_shape_take() -> None:
    assert request_body("m", ("a", "b")) == {
        "model": "m",
        "input": ["a", "b"],
        "encoding_format": "float",
    }


def client(handler: Callable[[httpx.Request], httpx.Response]) -> EmbeddingClient:
    settings = EmbeddingSettings(endpoint="http://embedder.invalid", dimension=3)
    return EmbeddingClient(settings, transport=httpx.MockTransport(handler))


def test_the_client_embeds_and_counts() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/tokenize":
            return httpx.Response(200, json={"tokens": [1, 2, 3]})
        assert json.loads(request.content)["input"] == ["a"]
        return httpx.Response(200, content=answer([0, 2, 0]))

    with client(handler) as embedder:
        assert embedder.embed(["a"])[0].tolist() == [0, 1, 0]
        assert embedder.count_tokens("abc") == 3


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"tokens":5}'])
def test_a_server_that_cannot_tokenize_is_no_server(body: bytes) -> None:
    with (
        client(lambda request: httpx.Response(200, content=body)) as embedder,
        pytest.raises(EmbedderUnavailable, match="tokenize"),
    ):
        embedder.count_tokens("abc")


def test_a_connection_closed_between_requests_is_tried_once_more() -> None:
    calls = []

    def handler(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        if len(calls) in {1, 3, 4}:
            raise httpx.RemoteProtocolError("closed")
        return httpx.Response(200, content=answer([1, 0, 0]))

    with client(handler) as embedder:
        embedder.embed(["a"])
        assert len(calls) == 2
        with pytest.raises(EmbedderUnavailable):
            embedder.embed(["a"])
        assert len(calls) == 4


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("no"), httpx.ReadTimeout(""), httpx.ReadError("x")]
)
def test_a_server_out_of_reach_is_named_by_its_address(error: Exception) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error

    with (
        client(handler) as embedder,
        pytest.raises(EmbedderUnavailable, match=r"embedder\.invalid") as caught,
    ):
        embedder.embed(["a"])
    assert caught.value.status is None


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20))
def test_a_stored_vector_comes_back_bit_by_bit(values: list[float]) -> None:
    vector = np.array(values, np.float32)
    blob = encode(vector)
    assert len(blob) == 4 * len(values)
    assert decode(blob).tobytes() == vector.astype("<f4").tobytes()


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=8))
def test_a_vector_is_of_length_one_or_refused(values: list[float]) -> None:
    try:
        vector = unit(values)
    except EmbeddingRejected:
        assert max(map(abs, values)) < 1e-6
    else:
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)


def test_the_mean_of_windows_is_of_length_one_too() -> None:
    assert mean_unit([one_hot(0), one_hot(1)]).tolist() == pytest.approx([0.5**0.5, 0.5**0.5, 0])


def test_a_chunk_has_half_its_own_cosine_and_half_its_best_window() -> None:
    vectors = ChunkVectors(
        2,
        3,
        [(0, WHOLE, one_hot(0)), (0, 1, one_hot(1)), (0, 2, one_hot(0)), (1, WHOLE, one_hot(2))],
    )
    assert vectors.cosines(one_hot(0)).tolist() == [1.0, -1.0]
    assert vectors.cosines(one_hot(1)).tolist() == [0.5, -1.0]
    assert vectors.complete.tolist() == [True, False]
    assert (vectors.best_window(0, one_hot(1)), vectors.best_window(0, one_hot(0))) == (0, 1)
    assert vectors.best_window(1, one_hot(0)) is None


def test_the_breadcrumb_has_a_share_of_its_own_where_there_is_one() -> None:
    rows = [(row, part, one_hot(0)) for row in (0, 1) for part in (WHOLE, 1)]
    vectors = ChunkVectors(2, 3, [*rows, (1, CRUMB, one_hot(1))])
    assert vectors.cosines(one_hot(0)).tolist() == pytest.approx([1, 1 - CRUMB_WEIGHT])
    assert vectors.cosines(one_hot(1)).tolist() == pytest.approx([0, CRUMB_WEIGHT])


def test_an_index_without_chunks_or_vectors_has_cosines_too() -> None:
    assert ChunkVectors(0, 0, []).cosines(one_hot(0)).tolist() == []
    assert ChunkVectors(2, 3, []).cosines(one_hot(0)).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("text", ["", "  \n ", "---", "# *", "| - | - |", "```\n```"])
def test_a_text_without_words_has_no_window(text: str) -> None:
    assert windows(text) == []


def test_a_short_text_is_one_window() -> None:
    assert windows(" Payments: Stripe. ") == ["Payments: Stripe."]


SENTENCE = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=90)


@given(st.lists(SENTENCE, min_size=1, max_size=40), st.sampled_from([". ", "\n", "? ", ".\n\n"]))
def test_windows_lose_no_word_and_stay_short(sentences: list[str], end: str) -> None:
    text = end.join(sentences)
    found = windows(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(window) <= WINDOW_CHARS for window in found)


def test_a_sentence_longer_than_a_window_stays_whole() -> None:
    text = "palabra " * 100
    assert windows(f"Corta. {text}. Fin.")[1].startswith("palabra")


@pytest.mark.parametrize("value", [1e38, 1e200, 1e308])
def test_values_whose_length_overflows_are_scaled_or_refused(value: float) -> None:
    """EMB-02: `[1e38] * 384` once came back as a vector of zeros."""
    try:
        vector = unit([value] * 384)
    except EmbeddingRejected:
        assert value > 1e100
    else:
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
