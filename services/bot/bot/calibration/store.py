"""`calibration.json` beside the index: what was fitted, and for which content and embedder.

The published index file never changes, so a calibration is a file of its own; a reader compares what
it was fitted for with the index in service (bot.adapters.own_calibration).
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.chat.calibrations import OwnCalibration
from bot.chat.gate import FEATURES
from corpus.durable import replace_file
from corpus.model import EmbeddingIdentity
from corpus.writer import writer_lock

CALIBRATION_NAME = "calibration.json"


class Stored(Struct, frozen=True, kw_only=True):
    """Content of the file."""

    fitted_at: str
    """UTC, ISO 8601, seconds."""
    source_hash: str
    chunker_version: int
    embedding: EmbeddingIdentity
    calibration: OwnCalibration
    recall: float
    """Answer recall that the cut was chosen for."""
    questions: dict[str, int]
    """How many of each label and origin it was fitted on."""
    features: tuple[str, ...] = FEATURES
    """What the gate looked at then; another gate can't use it."""
    measured: int = 1
    """How, as bot.chat.gate.MEASURED; files of before it was noted have none."""


class CalibrationDamaged(Exception):
    """The file can't be used; the message says why."""


def read_stored(folder: Path) -> Stored | None:
    """What is stored in an index folder; None when there is nothing.

    Raises:
        CalibrationDamaged: it can't be read.
    """
    try:
        raw = (folder / CALIBRATION_NAME).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CalibrationDamaged(f"{CALIBRATION_NAME} can't be read: {error.strerror}") from error
    try:
        return msgspec.json.decode(raw, type=Stored)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CalibrationDamaged(f"{CALIBRATION_NAME} is not a calibration ({error})") from error


def write_stored(folder: Path, stored: Stored) -> None:
    """Replace the file atomically and durably; readers see the old one or the new one.

    Raises:
        IndexBusy, CorpusError: the indexer is at work, or the folder can't be written.
        OSError: the disk refused; nothing has changed.
    """
    with writer_lock(folder):
        # Under this name the indexer removes what a killed run leaves behind.
        replace_file(
            folder / CALIBRATION_NAME,
            msgspec.json.format(msgspec.json.encode(stored)) + b"\n",
            temporary=folder / f".building-{CALIBRATION_NAME}.{os.getpid()}",
        )
