"""The stored form of a vector: float32, little-endian, unit length. See docs/corpus-format.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import EmbeddingRejected

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


def encode(vector: Vector) -> bytes:
    """`dim` float32 values, little-endian."""
    return vector.astype("<f4").tobytes()


def decode(blob: bytes) -> Vector:
    """Inverse of `encode`; the caller checks the length against the index's dimension."""
    return np.frombuffer(blob, "<f4")


def unit(values: Sequence[Any] | Vector, dimension: int | None = None) -> Vector:
    """Check one raw vector and scale it to length 1.

    Raises:
        EmbeddingRejected: a value is missing or not finite, the norm is 0, or the length is not
            `dimension` (llama-server has answered all of these with HTTP 200:
            ggml-org/llama.cpp#14812).
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingRejected("the embedding server sent a vector that is not numbers") from error
    if vector.ndim != 1 or vector.size == 0:
        raise EmbeddingRejected(f"the embedding server sent a vector of shape {vector.shape}")
    if dimension is not None and vector.size != dimension:
        raise EmbeddingRejected(
            f"the embedding server sent {vector.size} dimensions where {dimension} are expected: "
            "is another model loaded?"
        )
    if not np.isfinite(vector).all():
        raise EmbeddingRejected("the embedding server sent a vector with NaN or infinite values")
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(vector))
    if norm < 1e-6:
        raise EmbeddingRejected("the embedding server sent a vector of zeros")
    if not np.isfinite(norm):
        raise EmbeddingRejected("the embedding server sent a vector whose length is not finite")
    return (vector / norm).astype(np.float32)


def mean_unit(vectors: Sequence[Vector]) -> Vector:
    """Mean of unit vectors, scaled back to length 1: one vector for a text read in windows."""
    return unit(np.mean(np.stack(vectors), axis=0))
