"""Embed texts in batches: smaller batches or windows where the server refuses, never a text skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from corpus.embedding import EmbeddingClient
from corpus.errors import EmbedderUnavailable, EmbeddingInputTooLong
from corpus.model import PROBE_TEXT, EmbeddingIdentity
from corpus.settings import EmbeddingSettings
from corpus.vectors import Vector, mean_unit
from indexer.tokens import CountTokens

# Answers that a smaller request may cure; anything else (503 loading, 404, no connection) won't
# change by sending less.
CURED_BY_LESS = frozenset({400, 413, 422, 500})
OVERLAP_SHARE = 8  # each half of a split text takes an eighth of the other along
LEAST_WINDOW_CHARS = 64
BORDER = re.compile(r"\n\n|(?<=[.!?…])\s|\n|\s")
MARK_TOKENS = 2  # start and end marks the server adds to every input


class PassageEmbedder:
    """Turns passages into unit vectors with one embedding server."""

    def __init__(
        self, client: EmbeddingClient, settings: EmbeddingSettings, count: CountTokens
    ) -> None:
        self._client = client
        self._settings = settings
        self._count = count

    def identity(self) -> EmbeddingIdentity:
        """What the server in use is, with its vector of the probe text.

        Raises:
            EmbedderUnavailable: it does not answer.
            EmbeddingRejected: it answers with vectors nobody may use.
        """
        settings = self._settings
        (probe,) = self._client.embed([PROBE_TEXT])
        return EmbeddingIdentity(
            model=settings.model,
            dimension=settings.dimension,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
            pooling=settings.pooling,
            sha256=settings.sha256,
            probe=tuple(float(value) for value in probe),
        )

    def embed(self, texts: Sequence[str], advance: Callable[[int], None]) -> list[Vector]:
        """One unit vector a text (prefix included), in order; `advance` hears how many are done."""
        vectors: list[Vector] = []
        size = self._settings.batch_size
        for start in range(0, len(texts), size):
            batch = texts[start : start + size]
            vectors.extend(self._batch(batch))
            advance(len(batch))
        return vectors

    def _batch(self, texts: Sequence[str]) -> list[Vector]:
        fitting = [text for text in texts if not self._is_too_long(text)]
        if len(fitting) < len(texts):
            done = iter(self._batch(fitting)) if fitting else iter(())
            return [self._windows(t) if self._is_too_long(t) else next(done) for t in texts]
        try:
            return self._client.embed(texts)
        except EmbeddingInputTooLong:
            pass
        except EmbedderUnavailable as error:
            if error.status not in CURED_BY_LESS:
                raise
        if len(texts) == 1:
            return [self._windows(texts[0])]
        middle = len(texts) // 2
        return [*self._batch(texts[:middle]), *self._batch(texts[middle:])]

    def _is_too_long(self, text: str) -> bool:
        window = self._settings.window_tokens - MARK_TOKENS
        return len(text) > window and self._count(text) > window

    def _windows(self, text: str) -> Vector:
        """Mean of the vectors of overlapping windows of one long text."""
        prefix = (
            self._settings.passage_prefix if text.startswith(self._settings.passage_prefix) else ""
        )
        body = text[len(prefix) :]
        if len(body) < LEAST_WINDOW_CHARS:
            raise EmbedderUnavailable(f"the embedding server refuses even {len(body)} characters")
        middle, overlap = len(body) // 2, len(body) // (2 * OVERLAP_SHARE)
        first = body[: _border(body, middle + overlap)]
        second = body[_border(body, middle - overlap) :]
        parts = [part for part in (first, second) if part.strip()]
        return mean_unit([self._batch([prefix + part])[0] for part in parts])


def _border(text: str, near: int) -> int:
    """The best seam within a tenth of the text around `near`: paragraph, sentence, line, word."""
    reach = max(len(text) // 10, 1)
    seams = list(BORDER.finditer(text, max(near - reach, 1), min(near + reach, len(text))))
    if not seams:
        return near
    best = min(
        seams, key=lambda seam: (_rank(seam[0], text, seam.start()), abs(seam.start() - near))
    )
    return best.end()


def _rank(seam: str, text: str, start: int) -> int:
    if seam == "\n\n":
        return 0
    if text[start - 1] in ".!?…":
        return 1
    return 2 if seam == "\n" else 3
