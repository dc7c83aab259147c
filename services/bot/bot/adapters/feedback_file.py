"""Votes with their questions in a file, for an owner who has asked for it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.chat.events import Route
from bot.chat.ports.feedback import RatedAnswer, Rating, Reason, Vote

logger = logging.getLogger("bot.feedback")

FILE = "feedback.jsonl"


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the file; a later one with the same `answer` takes the place of the earlier."""

    time: str
    answer: str
    question: str
    route: Route
    documents: tuple[str, ...]
    rating: Rating
    reason: Reason | None = None
    comment: str = ""


def _now() -> datetime:
    return datetime.now(UTC)


class VoteFile:
    """A bot.chat.ports.VoteJournal: `feedback.jsonl` in a folder, appended to and never rewritten.

    Several bots may share the folder: a line is one write, and the system appends it whole.
    """

    def __init__(
        self, folder: Path, *, max_file_bytes: int, now: Callable[[], datetime] = _now
    ) -> None:
        self._path = folder / FILE
        self._max_file_bytes = max_file_bytes
        self._now = now
        self._problem: str | None = None

    async def write(self, answer_id: str, answer: RatedAnswer, vote: Vote) -> None:
        """Add one line; a full file or disk is said in the log, once."""
        line = Line(
            time=self._now().isoformat(timespec="seconds"),
            # A hash: who reads the file must not be able to vote.
            answer=blake2b(answer_id.encode(), digest_size=8).hexdigest(),
            question=answer.question,
            route=answer.route,
            documents=answer.documents,
            rating=vote.rating,
            reason=vote.reason,
            comment=vote.comment,
        )
        problem = await asyncio.to_thread(self._append, msgspec.json.encode(line) + b"\n")
        if problem is not None and problem != self._problem:
            logger.error("votes are counted but not written to %s: %s", self._path, problem)
        self._problem = problem

    def _append(self, line: bytes) -> str | None:
        """What was in the way, None when the line is written."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.fstat(file).st_size + len(line) > self._max_file_bytes:
                    return f"it has reached feedback.max_file_bytes ({self._max_file_bytes})"
                os.write(file, line)
            finally:
                os.close(file)
        except OSError as error:
            return error.strerror or type(error).__name__
        return None
