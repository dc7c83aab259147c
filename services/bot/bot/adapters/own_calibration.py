"""The owner's calibration beside the index: read when it changes, judged against the index in service."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from msgspec import Struct

from bot.adapters.index_identity import SAME_MODEL_COSINE
from bot.calibration.store import CALIBRATION_NAME, CalibrationDamaged, Stored, read_stored
from bot.chat.calibrations import OwnCalibration
from bot.chat.gate import FEATURES, MEASURED
from corpus.model import EmbeddingIdentity, IndexMeta

logger = logging.getLogger("bot.index")

CURE = "run `chat-bot calibrate`"
DEFAULTS = "the gate uses its shipped defaults"
NONE_YET = f"not calibrated for this content: {DEFAULTS}; {CURE}"


class Judged(Struct, frozen=True, kw_only=True):
    """What the bot makes of the file."""

    calibration: OwnCalibration | None
    note: str | None
    """One line for the owner where anything is to be said."""


def judge(stored: Stored, meta: IndexMeta) -> Judged:
    """Whether a calibration may be used with an index.

    With other vectors or other passages its figures mean nothing. With edited content they still
    mean the same, so it stays in use and the owner is told.
    """
    if (stored.features, stored.measured) != (FEATURES, MEASURED):
        return _unfit("the gate looks at other figures than when it was calibrated")
    # Without vectors only the keyword gate is asked, which no embedder has a part in.
    if meta.embedding is not None and not same_embedder(stored.embedding, meta.embedding):
        return _unfit("the embedder has changed since the calibration")
    if stored.chunker_version != meta.chunker_version:
        return _unfit("the chunking has changed since the calibration")
    changed = stored.source_hash != meta.source_hash
    return Judged(
        calibration=stored.calibration,
        note=f"the content has changed since the calibration: {CURE}" if changed else None,
    )


def same_embedder(then: EmbeddingIdentity, now: EmbeddingIdentity) -> bool:
    """Whether two records are of one model, as far as they tell."""
    for field in ("model", "dimension", "query_prefix", "passage_prefix", "pooling"):
        if getattr(then, field) != getattr(now, field):
            return False
    if then.sha256 and now.sha256 and then.sha256 != now.sha256:
        return False
    if not (then.probe and now.probe):
        return True
    a, b = np.asarray(then.probe), np.asarray(now.probe)
    return a.shape == b.shape and bool(
        a @ b >= SAME_MODEL_COSINE * np.linalg.norm(a) * np.linalg.norm(b)
    )


class CalibrationFile:
    """Looks at the file of one folder; one line in the log whenever the verdict changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: object = None
        self._judged = Judged(calibration=None, note=None)

    def look(self, meta: IndexMeta) -> Judged:
        """The verdict for an index; reads the file again only when it or the index has changed."""
        seen = (self._signature(), meta)
        if seen == self._seen:
            return self._judged
        self._seen = seen
        judged = self._read(meta)
        if judged != self._judged:
            self._tell(judged)
        self._judged = judged
        return judged

    def _read(self, meta: IndexMeta) -> Judged:
        try:
            stored = read_stored(self._folder)
        except CalibrationDamaged as error:
            return _unfit(str(error))
        return Judged(calibration=None, note=NONE_YET) if stored is None else judge(stored, meta)

    def _tell(self, judged: Judged) -> None:
        if judged.note is None:
            logger.info("the gate is calibrated for this content")
        elif judged.note == NONE_YET:
            logger.info("%s", judged.note)
        else:
            logger.warning("%s", judged.note)

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = (self._folder / CALIBRATION_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size


def _unfit(reason: str) -> Judged:
    return Judged(calibration=None, note=f"{reason}: {DEFAULTS}; {CURE}")
