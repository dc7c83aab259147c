"""Finished answers: a visitor's repeat from memory, a suggested question's from a file."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from time import monotonic

import msgspec
from msgspec import Struct

from bot.chat.ports.known import KnownAnswer, KnownKey, KnownStores
from corpus.durable import replace_file
from corpus.settings import KnownAnswerSettings

log = logging.getLogger("bot.adapters")

MOST_REPEATS = 500  # some 5 KB each with their quotes: 2.5 MB
MOST_SUGGESTED = 500
MOST_FILE_BYTES = 16_777_216
FILE_NAME = "known-answers.json"
VERSION = 1


class RepeatAnswers:
    """A bot.chat.ports.KnownStore in memory, for a while; the least recently asked go first.

    It holds no question, only its BLAKE2b hash under a random key of this process.
    """

    def __init__(
        self,
        settings: KnownAnswerSettings,
        *,
        most: int = MOST_REPEATS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._ttl_seconds = settings.ttl_minutes * 60
        self._most = most
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._kept: OrderedDict[bytes, tuple[float, str, KnownAnswer]] = OrderedDict()

    def find(self, key: KnownKey) -> KnownAnswer | None:
        """The answer, while it is not too old."""
        digest = self._digest(key)
        found = self._kept.get(digest)
        if found is None:
            return None
        until, _, answer = found
        if self._clock() >= until:
            del self._kept[digest]
            return None
        self._kept.move_to_end(digest)
        return answer

    async def keep(self, key: KnownKey, answer: KnownAnswer) -> None:
        """Keep an answer from now on for the TTL, however often it is asked for."""
        digest = self._digest(key)
        self._kept[digest] = (self._clock() + self._ttl_seconds, key.identity, answer)
        self._kept.move_to_end(digest)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    async def retain(self, identity: str) -> None:
        """Forget the answers of every other identity."""
        for digest in [d for d, (_, owner, _) in self._kept.items() if owner != identity]:
            del self._kept[digest]

    def __len__(self) -> int:
        """Answers kept now."""
        return len(self._kept)

    def _digest(self, key: KnownKey) -> bytes:
        return blake2b(msgspec.json.encode(key), key=self._secret, digest_size=16).digest()


class _Entry(Struct, frozen=True, kw_only=True):
    key: KnownKey
    answer: KnownAnswer


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int
    answers: tuple[_Entry, ...]


class SuggestedAnswers:
    """A bot.chat.ports.KnownStore in one JSON file, which outlives the process.

    The questions in it are the owner's or made from titles, never a visitor's. A file that can't be
    read is as good as none and is written anew; one that can't be written is said once in the log.
    """

    def __init__(self, folder: Path | None, *, most: int = MOST_SUGGESTED) -> None:
        """`folder`: of the file; None keeps the answers in memory."""
        self._path = folder / FILE_NAME if folder is not None else None
        self._most = most
        self._lock = threading.Lock()
        self._saves = 0
        self._saved = 0
        self._told = False
        self._kept: dict[KnownKey, KnownAnswer] = self._read() if self._path is not None else {}

    def find(self, key: KnownKey) -> KnownAnswer | None:
        """The answer kept under exactly this key."""
        return self._kept.get(key)

    async def keep(self, key: KnownKey, answer: KnownAnswer) -> None:
        """Keep an answer and write the file; of too many the oldest goes."""
        self._kept.pop(key, None)
        self._kept[key] = answer
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        await self._save()

    async def retain(self, identity: str) -> None:
        """Forget the answers of every other identity, in the file too."""
        kept = {key: answer for key, answer in self._kept.items() if key.identity == identity}
        if len(kept) != len(self._kept):
            self._kept = kept
            await self._save()

    def __len__(self) -> int:
        """Answers kept now."""
        return len(self._kept)

    async def _save(self) -> None:
        if self._path is not None:
            entries = tuple(_Entry(key=key, answer=answer) for key, answer in self._kept.items())
            content = msgspec.json.encode(_File(version=VERSION, answers=entries))
            self._saves += 1
            await asyncio.to_thread(self._write, self._path, content, self._saves)

    def _write(self, path: Path, content: bytes, number: int) -> None:
        """Replace the file atomically: a reader finds the old one or the new one, whole."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with self._lock:
            # A save whose task was cancelled goes on in its thread; the next one may overtake it.
            if number < self._saved:
                return
            self._saved = number
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content, temporary=temporary)
            except OSError as error:
                self._tell(f"can't be written ({error.strerror}): kept in memory only")

    def _read(self) -> dict[KnownKey, KnownAnswer]:
        assert self._path is not None
        try:
            if self._path.stat().st_size > MOST_FILE_BYTES:
                raise ValueError("too large")
            read = msgspec.json.decode(self._path.read_bytes(), type=_File)
            if read.version != VERSION:
                raise ValueError(f"version {read.version}")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
            log.warning("known answers are made anew: %s can't be read: %s", FILE_NAME, error)
            return {}
        return {entry.key: entry.answer for entry in read.answers}

    def _tell(self, problem: str) -> None:
        if not self._told:
            self._told = True
            log.warning("known answers: %s %s", FILE_NAME, problem)


def open_known_answers(settings: KnownAnswerSettings) -> KnownStores | None:
    """The stores of suggested and of repeated questions; None when they are switched off."""
    if not settings.enabled:
        return None
    folder = Path(settings.path) if settings.path is not None else None
    return KnownStores(suggested=SuggestedAnswers(folder), repeats=RepeatAnswers(settings))
