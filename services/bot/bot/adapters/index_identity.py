"""Whether an index and the embedder in use speak of the same vectors; else one line that says so.

Two models with the same dimension compare without an error and rank at random (EMB-05;
jgravelle/jdocmunch-mcp#109, tobi/qmd#501), so names alone are not enough: the index also keeps the
vector of a fixed sentence, which the running embedder must give again.
"""

from __future__ import annotations

import numpy as np

from corpus.errors import EmbeddingError
from corpus.model import EmbeddingIdentity
from corpus.reader import Index
from corpus.settings import EmbeddingSettings
from corpus.vectors import Vector

# The same GGUF agrees with itself to 4 digits on other hardware, threads and batch sizes.
SAME_MODEL_COSINE = 0.999
CURE = "search is by keywords only; run `chat-bot reindex`"


def compare_identity(index: Index, settings: EmbeddingSettings) -> str | None:
    """None when what is recorded fits what is configured, as far as either knows."""
    made_by = index.meta.embedding
    if made_by is None or not index.has_vectors:
        return f"the index has no vectors (the embedder was down when it was built): {CURE}"
    if (made_by.model, made_by.dimension) != (settings.model, settings.dimension):
        return f"{_made(made_by)}, the configuration names {_configured(settings)}: {CURE}"
    recorded = (made_by.query_prefix, made_by.passage_prefix, made_by.pooling)
    if recorded != (settings.query_prefix, settings.passage_prefix, settings.pooling):
        return (
            f"{_made(made_by)} with prefixes or pooling other than the configured ones of "
            f"{settings.model}: {CURE}"
        )
    if made_by.sha256 and settings.sha256 and made_by.sha256 != settings.sha256:
        return (
            f"{_made(made_by)} from file {made_by.sha256[:12]}, the configuration names "
            f"{settings.model} from file {settings.sha256[:12]}: {CURE}"
        )
    return None


def compare_probe(index: Index, running: Vector, settings: EmbeddingSettings) -> str | None:
    """None when the running embedder gives the probe sentence the vector the index remembers."""
    made_by = index.meta.embedding
    if made_by is None or not made_by.probe:
        return None
    recorded = np.asarray(made_by.probe, np.float32)
    if recorded.shape == running.shape:
        norm = float(np.linalg.norm(recorded)) or 1.0
        cosine = float(recorded @ running) / norm
        if cosine >= SAME_MODEL_COSINE:
            return None
    return (
        f"{_made(made_by)}, but another model answers at {settings.endpoint} under the name "
        f"{settings.model}: {CURE}"
    )


def unusable_probe(index: Index, error: EmbeddingError, settings: EmbeddingSettings) -> str:
    """The line for an embedder whose vector of the probe sentence is refused."""
    made_by = index.meta.embedding
    assert made_by is not None, "compare_identity comes first"
    return (
        f"{_made(made_by)}, but {settings.model} at {settings.endpoint} can't be compared "
        f"({error}): search is by keywords only; load that model or run `chat-bot reindex`"
    )


def _made(identity: EmbeddingIdentity) -> str:
    return f"the index was made by {identity.model} ({identity.dimension} dimensions)"


def _configured(settings: EmbeddingSettings) -> str:
    return f"{settings.model} ({settings.dimension} dimensions)"
