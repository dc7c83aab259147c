"""The vectors of an index in memory, and the one cosine a chunk gets from its several vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from corpus.vectors import FloatArray, IntArray, Matrix, Vector

WHOLE = 0
CRUMB = -1
# Share of the breadcrumb in a chunk's cosine: best of 0, 0.1, 0.2, 0.3 and 0.4 on the sample site
# (`python -m bench.site` compares it with none).
CRUMB_WEIGHT = np.float32(0.2)


class ChunkVectors:
    """One vector of the whole chunk, of its breadcrumb where it has one, and of each window."""

    def __init__(
        self, chunks: int, dimension: int, vectors: Iterable[tuple[int, int, Vector]]
    ) -> None:
        """`vectors`: (row of the chunk, part as in corpus.schema, unit vector), windows in order."""
        self._whole: Matrix = np.zeros((chunks, dimension), np.float32)
        self._crumb: Matrix = np.zeros((chunks, dimension), np.float32)
        has_whole = np.zeros(chunks, np.bool_)
        self._has_crumb = np.zeros(chunks, np.bool_)
        windows: list[Vector] = []
        window_rows: list[int] = []
        for row, part, vector in vectors:
            if part == WHOLE:
                self._whole[row], has_whole[row] = vector, True
            elif part == CRUMB:
                self._crumb[row], self._has_crumb[row] = vector, True
            else:
                windows.append(vector)
                window_rows.append(row)
        self._windows: Matrix = (
            np.stack(windows) if windows else np.zeros((0, dimension), np.float32)
        )
        self._window_rows: IntArray = np.array(window_rows, np.int64)
        has_window = np.zeros(chunks, np.bool_)
        has_window[self._window_rows] = True
        self.complete: npt.NDArray[np.bool_] = has_whole & has_window
        """Which chunks can be found by meaning."""

    def cosines(self, query: Vector) -> FloatArray:
        """See corpus.reader.Index.cosines."""
        if not len(self._whole):
            return np.zeros(0, np.float32)
        best = np.full(len(self._whole), -1.0, np.float32)
        np.maximum.at(best, self._window_rows, self._windows @ query)
        cosines = ((self._whole @ query + best) / 2).astype(np.float32)
        crumb = self._crumb @ query
        cosines[self._has_crumb] += CRUMB_WEIGHT * (crumb - cosines)[self._has_crumb]
        cosines[~self.complete] = -1.0
        return cosines

    def drop_crumbs(self) -> None:
        """See corpus.reader.Index.without_crumbs."""
        self._has_crumb[:] = False

    def best_window(self, row: int, query: Vector) -> int | None:
        """Number (from 0) of the chunk's window nearest to the query; None without vectors."""
        mine = np.flatnonzero(self._window_rows == row)
        return int(np.argmax(self._windows[mine] @ query)) if mine.size else None
