"""Which states are on disk: whole ones only, within the cap, the least recently used go first.

Everything here blocks (a state is hashed in 40 ms) and runs in a thread, one call at a time; `has`,
`used_bytes` and the like only read what is in memory.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from time import time

from msgspec import Struct

from bot.adapters.states.files import (
    NAME,
    NOTE,
    STATE,
    FileIdentity,
    Note,
    digest,
    identity,
    new_name,
    read_note,
    write_note,
)
from corpus.durable import sync

FOREIGN_SECONDS = 86_400.0
"""States of another chat server are kept so long: somebody may be trying a model out."""
DRAFT_SECONDS = 600.0
"""What has been written for longer than this is nobody's any more."""
FREE_BYTES = 64 << 20
"""States leave so much of the disk to everybody else."""
CONVERSATIONS_SHARE = 0.25
"""Of the cap, for all conversations together."""
FIRST_GUESS_BYTES = 40 << 10
"""Of a token, until there is a state to measure: 12 KiB with Qwen2.5-0.5B, 28 with 1.5B, 36 with 3B."""


class Entry(Struct, kw_only=True):
    """One state that may be used."""

    name: str
    fingerprint: str
    bytes: int
    tokens: int
    digest: str | None
    """None for a conversation's: those do not outlive the process that knows whose they are."""
    last_used: float
    checked: FileIdentity | None = None
    """The file whose sum was compared; None: not yet."""


class StateStore:
    """The states in one folder."""

    def __init__(self, folder: Path, cap_bytes: int, *, clock: Callable[[], float] = time) -> None:
        self._folder = folder
        self._cap_bytes = cap_bytes
        self._clock = clock
        self._entries: dict[str, Entry] = {}
        self.fingerprint = ""
        """Of the chat server in service; states of others go first when there is no room."""

    @property
    def cap_bytes(self) -> int:
        """Most that all states may take."""
        return self._cap_bytes

    @property
    def used_bytes(self) -> int:
        """What they take."""
        return sum(entry.bytes for entry in self._all())

    def count(self, kind: str) -> int:
        """States of kind `p` or `c` for the chat server in service."""
        return sum(
            entry.name.startswith(kind) and entry.fingerprint == self.fingerprint
            for entry in self._all()
        )

    def tokens(self, name: str) -> int | None:
        """Tokens of a state; None where there is none."""
        entry = self._entries.get(name)
        return entry.tokens if entry else None

    def bytes_per_token(self) -> float:
        """Mean of the states of the server in service, or a guess."""
        own = [e for e in self._all() if e.fingerprint == self.fingerprint and e.tokens]
        if not own:
            return FIRST_GUESS_BYTES
        return sum(entry.bytes for entry in own) / sum(entry.tokens for entry in own)

    def open(self) -> None:
        """Read the folder, make it where it is missing, and throw out what can't be used.

        Raises:
            OSError: it can't be made or read.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._entries.clear()
        notes, states = set(), set()
        for path in self._folder.iterdir():
            if not NAME.fullmatch(path.stem):
                continue
            if path.suffix == NOTE and path.stem.startswith("p"):
                notes.add(path.stem)
            elif path.suffix == STATE and path.stem.startswith("p"):
                states.add(path.stem)
            elif path.stem.startswith("c"):
                self._remove(path)  # nobody knows any more whose it was
        for name in notes | states:
            note = read_note(self._folder / (name + NOTE))
            if name not in states or note is None or not self._adopt_noted(note):
                self.discard(name)
        self.sweep()

    def draft(self) -> str:
        """A name to save under, before it is known whether the state is whole."""
        return new_name("t")

    def make_room(self, kind: str, tokens: int, *, evict: bool = True) -> bool:
        """Whether a state of so many tokens fits, after the least recently used others have gone.

        Conversations displace only each other: a crowd of visitors must not cool the pages down.

        Raises:
            OSError: the folder is not there, or its disk has no room whatever the cap says.
        """
        needed = int(tokens * self.bytes_per_token())
        if shutil.disk_usage(self._folder).free < needed + FREE_BYTES:
            raise OSError(errno.ENOSPC, "no room on the disk")
        return self._shrink(kind, needed, own=evict)

    def keep(self, draft: str, name: str, *, tokens: int, written_bytes: int) -> bool:
        """Give a draft its name; False where the file is not what the server says it wrote.

        Raises:
            OSError: it is not there, or the disk refuses.
        """
        path = self._folder / (draft + STATE)
        try:
            if identity(path).size != written_bytes or written_bytes > self._cap_bytes:
                path.unlink()
                return False
            lasting = name.startswith("p")
            total = None
            if lasting:
                sync(path)
                total = digest(path)
            self.discard(name)
            path.rename(self._folder / (name + STATE))
        except OSError:
            self._remove(path)
            raise
        now = self._clock()
        entry = Entry(
            name=name, fingerprint=self.fingerprint, bytes=written_bytes, tokens=tokens,
            digest=total, last_used=now, checked=identity(self._folder / (name + STATE)),
        )  # fmt: skip
        if total is not None:
            note = Note(
                name=name, fingerprint=self.fingerprint, bytes=written_bytes, digest=total,
                tokens=tokens, created=int(now),
            )  # fmt: skip
            try:
                write_note(self._folder, note)
                self._touch(self._folder / (name + NOTE), now)
            except OSError:
                self._remove(self._folder / (name + STATE))
                raise
        self._entries[name] = entry
        self._shrink(name[0], 0, own=True)  # it may have taken more than the mean
        return name in self._entries

    def usable(self, name: str) -> Entry | None:
        """A state that may be put into the slot now, whole and unchanged; others are deleted.

        The sum is compared when the file is first used and again whenever it is another one.
        """
        entry = self._entries.get(name)
        if entry is None or entry.fingerprint != self.fingerprint:
            return None
        path = self._folder / (name + STATE)
        try:
            now = identity(path)
            if now != entry.checked:
                if now.size != entry.bytes or entry.digest is None or digest(path) != entry.digest:
                    raise ValueError
                if identity(path) != now:
                    raise ValueError
                entry.checked = now
        except (OSError, ValueError):
            self.discard(name)
            return None
        entry.last_used = self._clock()
        if entry.digest is not None:
            self._touch(self._folder / (name + NOTE), entry.last_used)
        return entry

    def discard(self, name: str) -> None:
        """Delete a state and its note, as far as they are there."""
        self._entries.pop(name, None)
        for suffix in (NOTE, STATE):  # the note first: a state without one does not count
            self._remove(self._folder / (name + suffix))

    def drop_draft(self, draft: str) -> None:
        """Delete what a save that failed may have left."""
        self._remove(self._folder / (draft + STATE))

    def retain(self, names: Collection[str]) -> None:
        """Delete every page of the server in service but these."""
        for entry in self._all():
            if (
                entry.name.startswith("p")
                and entry.fingerprint == self.fingerprint
                and entry.name not in names
            ):
                self.discard(entry.name)

    def sweep(self) -> None:
        """Delete old states of other servers, and drafts that nobody finishes."""
        now = self._clock()
        for entry in self._all():
            foreign = self.fingerprint and entry.fingerprint != self.fingerprint
            if foreign and now - entry.last_used > FOREIGN_SECONDS:
                self.discard(entry.name)
        try:
            for path in self._folder.glob("t-*"):
                if NAME.fullmatch(path.stem) and now - path.lstat().st_mtime > DRAFT_SECONDS:
                    self._remove(path)
        except OSError:
            return  # the folder is gone, or a draft was finished meanwhile

    def _adopt_noted(self, note: Note) -> bool:
        path = self._folder / (note.name + STATE)
        try:
            used = path.with_suffix(NOTE).lstat().st_mtime
            if identity(path).size != note.bytes:
                return False
        except OSError:
            return False
        self._entries[note.name] = Entry(
            name=note.name, fingerprint=note.fingerprint, bytes=note.bytes, tokens=note.tokens,
            digest=note.digest, last_used=used,
        )  # fmt: skip
        return True

    def _all(self) -> list[Entry]:
        return list(self._entries.values())  # at once: health reads while the thread writes

    def _shrink(self, kind: str, needed: int, *, own: bool) -> bool:
        """Delete until `needed` bytes of `kind` fit; states of other servers go first."""
        share = self._cap_bytes if kind == "p" else int(self._cap_bytes * CONVERSATIONS_SHARE)
        while True:
            of_kind = [entry for entry in self._all() if kind == "p" or entry.name[0] == kind]
            over_share = sum(entry.bytes for entry in of_kind) + needed > share
            if not over_share and self.used_bytes + needed <= self._cap_bytes:
                return True
            foreign = [entry for entry in self._all() if entry.fingerprint != self.fingerprint]
            going = of_kind if over_share and kind != "p" else foreign or of_kind
            if not own:
                going = foreign
            if not going:
                return False
            self.discard(min(going, key=lambda entry: entry.last_used).name)

    def _touch(self, note: Path, when: float) -> None:
        try:
            os.utime(note, (when, when))  # so that the order of use outlives a restart
        except OSError:
            return  # a folder that can only be read

    def _remove(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return  # a folder that can only be read: what is there stays, and does not count
