"""Vectors of earlier runs, taken only where they are certain to come from the same model."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from corpus.errors import CorpusError
from corpus.model import EmbeddingIdentity
from corpus.pointer import INDEX_PATTERN
from corpus.reader import Index
from corpus.vectors import Vector

# The same text through the same model differs by rounding only (batch split, threads): measured
# below 1e-5. Another model, or the same one quantised differently, is below this.
SAME_MODEL_COSINE = 0.999
UNIT_TOLERANCE = 1e-3


def is_same_model(stored: EmbeddingIdentity | None, current: EmbeddingIdentity) -> bool:
    """True when vectors of both may be compared: equal settings, and the probes agree."""
    if stored is None or len(stored.probe) != len(current.probe) or not current.probe:
        return False
    hashes_agree = None in (stored.sha256, current.sha256) or stored.sha256 == current.sha256
    same_settings = _settings_of(stored) == _settings_of(current)
    cosine = float(np.dot(np.asarray(stored.probe), np.asarray(current.probe)))
    return hashes_agree and same_settings and cosine >= SAME_MODEL_COSINE


def reusable_vectors(
    folder: Path, current: EmbeddingIdentity, distrusted: str = ""
) -> dict[str, Vector]:
    """Vectors by text hash from every index file kept in `folder` that the same model made.

    `distrusted` names a file that failed its checks. Older files count too: after a time without
    embedding server the index in service has no vectors, but the one before it may.
    """
    found: dict[str, Vector] = {}
    for path in sorted(folder.glob(INDEX_PATTERN)):
        if path.name == distrusted:
            continue
        try:
            index = Index(path)
        except CorpusError:
            continue
        try:
            if is_same_model(index.meta.embedding, current):
                found.update(_sound(index.reusable_vectors(), current.dimension))
        finally:
            index.close()
    return found


def _sound(vectors: dict[str, Vector], dimension: int) -> dict[str, Vector]:
    return {
        key: vector
        for key, vector in vectors.items()
        if vector.size == dimension and abs(float(np.linalg.norm(vector)) - 1.0) < UNIT_TOLERANCE
    }


def _settings_of(identity: EmbeddingIdentity) -> EmbeddingIdentity:
    return msgspec.structs.replace(identity, probe=(), sha256=None)
