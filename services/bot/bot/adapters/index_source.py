"""The published index in service: watched, swapped whole, closed after its last reader."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import monotonic

from bot.adapters.index_identity import compare_identity, compare_probe, unusable_probe
from bot.adapters.index_lease import FolderIndexLease, HeldIndex
from bot.adapters.own_calibration import CalibrationFile, Judged
from bot.chat.ports.index import IndexState, QueryEmbedder
from corpus.errors import CorpusError, EmbedderUnavailable, EmbeddingError
from corpus.pointer import POINTER_NAME
from corpus.reader import Index, open_index
from corpus.settings import EmbeddingSettings

logger = logging.getLogger("bot.index")

WATCH_SECONDS = 2.0
VERIFY_SECONDS = 30.0  # a check costs one embedding, ~33 ms; this finds a swapped embedder

Signature = tuple[int, int, int]


class FolderIndexSource:
    """A bot.chat.ports.IndexSource over the folder the indexer publishes into."""

    def __init__(
        self,
        folder: Path,
        embeddings: EmbeddingSettings,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._folder = folder
        self._embeddings = embeddings
        self._clock = clock
        self._lock = Lock()  # guards what is in service: refresh runs in a thread
        self._refreshing = Lock()
        self._held: HeldIndex | None = None
        self._signature: Signature | None = None
        self._folder_problem: str | None = None
        self._index_problem: str | None = None
        self._dense = False
        self._calibration_file = CalibrationFile(folder)
        self._judged = Judged(calibration=None, note=None)
        self._closed = False
        self._verify_at = 0.0

    def lease(self) -> FolderIndexLease:
        """The index in service, kept open until the lease is released."""
        return FolderIndexLease(self._take)

    def state(self) -> IndexState:
        """What is in service, and the one thing the owner should know about it."""
        with self._lock:
            return self._state()

    def refresh(self) -> bool:
        """Look at the pointer and put a new index into service; True if one was.

        Blocking, some milliseconds when the pointer moved; safe in a thread. An index that can't be
        used leaves the old one in service and is tried again at the next call. A new calibration of
        the index in service is taken up too.
        """
        with self._refreshing:
            signature = self._read_signature()
            unmoved = signature is not None and signature == self._signature
            if self._closed:
                return False
            if unmoved:
                self._look_at_calibration()
                return False
            try:
                index = open_index(self._folder)
            except CorpusError as error:
                self._signature = None
                self._report(str(error))
                return False
            self._signature = signature
            self._put_into_service(index)
            return True

    async def verify(self, embedder: QueryEmbedder) -> None:
        """Compare the index's probe vector with the running embedder's, and set `dense` by it.

        While the embedder can't be reached the recorded identity decides.
        """
        held = self._held
        if held is None:
            return
        problem = compare_identity(held.index, self._embeddings)
        if problem is None:
            try:
                problem = compare_probe(held.index, await embedder.probe(), self._embeddings)
            except EmbedderUnavailable:
                return  # asked again at the next look: the answer may have changed by then
            except EmbeddingError as error:
                problem = unusable_probe(held.index, error, self._embeddings)
        self._verify_at = self._clock() + VERIFY_SECONDS
        self._judge(held, problem)

    async def run(self, embedder: QueryEmbedder, *, every_seconds: float = WATCH_SECONDS) -> None:
        """Watch until cancelled: the pointer at each look, the embedder after a swap and at times."""
        while True:
            try:
                await self.look(embedder)
            except Exception:  # the watcher must outlive whatever one look meets
                logger.exception("the look at the index folder failed")
            await asyncio.sleep(every_seconds)

    async def look(self, embedder: QueryEmbedder) -> None:
        """Refresh now, and verify where that is due."""
        swapped = await asyncio.to_thread(self.refresh)
        if swapped or self._clock() >= self._verify_at:
            await self.verify(embedder)

    def expect_other_embedder(self) -> None:
        """Verify at the next look: the embedder was away and may have come back as another."""
        self._verify_at = 0.0

    def close(self) -> None:
        """Take the index out of service for good; its file closes with the last lease."""
        with self._refreshing, self._lock:  # a refresh in a thread may still be opening one
            held, self._held = self._held, None
            self._closed = True
            if held is not None:
                held.retire()

    def _read_signature(self) -> Signature | None:
        try:
            found = (self._folder / POINTER_NAME).stat()
        except OSError:
            return None  # open_index says what is wrong
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _put_into_service(self, index: Index) -> None:
        problem = compare_identity(index, self._embeddings)
        judged = self._calibration_file.look(index.meta)
        with self._lock:
            before, self._held = self._held, HeldIndex(index)
            self._dense, self._judged = problem is None, judged
            self._folder_problem, self._index_problem = None, problem
            self._verify_at = 0.0
            if before is not None:
                before.retire()
        name = index.pointer.index if index.pointer else "?"
        logger.info("index %s in service: %d chunks", name, len(index))
        if problem is not None:
            logger.warning("%s", problem)

    def _look_at_calibration(self) -> None:
        held = self._held
        if held is not None:
            judged = self._calibration_file.look(held.index.meta)
            with self._lock:
                self._judged = judged

    def _report(self, problem: str) -> None:
        if problem != self._folder_problem:
            with self._lock:
                self._folder_problem = problem
            logger.error("%s", problem)

    def _judge(self, held: HeldIndex, problem: str | None) -> None:
        with self._lock:
            if self._held is not held:
                return  # swapped meanwhile; the new one gets its own verdict
            changed = problem != self._index_problem
            self._dense, self._index_problem = problem is None, problem
        if changed and problem is not None:
            logger.warning("%s", problem)
        elif changed:
            logger.info("the embedder fits the index: search by meaning is on")

    def _state(self) -> IndexState:
        return IndexState(
            index=self._held.index if self._held else None,
            problem=self._folder_problem or self._index_problem,
            dense=self._dense and self._held is not None,
            calibration=self._judged.calibration if self._held else None,
            calibration_note=self._judged.note if self._held else None,
        )

    def _take(self) -> tuple[HeldIndex | None, IndexState]:
        with self._lock:
            if self._held is not None:
                self._held.take()
            return self._held, self._state()
