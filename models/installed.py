"""``installed.json``: which file plays which role, and what is known about its bytes.

Written by the fetcher, read by whoever starts the servers. The recorded sha256 is also what a file
whose checksum the manifest does not know is held to from the first download on.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from models.errors import ManifestError
from models.manifest import HubSource, Licence, Model, Role, Source
from models.storage import write_atomically

NAME = "installed.json"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One file in one role."""

    model: str
    file: str
    """Name inside the folder that holds ``installed.json``."""
    size_bytes: int
    sha256: str
    mtime_ns: int
    """Modification time when the bytes were last hashed: the same time and size mean same bytes."""
    licence: Licence
    source: str
    """Where it was taken from, for people."""
    origin: str
    """What the manifest's source was when it was taken: see `origin_of`."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in one folder, by profile and role."""

    version: int = 1
    profiles: dict[str, dict[Role, Record]] = {}

    def record(self, profile: str, role: Role) -> Record | None:
        """Return what plays ``role`` in ``profile``, if it was fetched."""
        return self.profiles.get(profile, {}).get(role)

    def records(self) -> list[Record]:
        """Return every record, whichever its profile."""
        return [record for roles in self.profiles.values() for record in roles.values()]

    def with_record(self, profile: str, role: Role, record: Record) -> Installed:
        """Return a copy in which ``record`` plays ``role``; the same file is the same everywhere.

        Other profiles that use the file get its new hash and time too, so that none of them finds
        it changed.
        """
        profiles: dict[str, dict[Role, Record]] = {
            name: {
                other: record if old.file == record.file and old.model == record.model else old
                for other, old in roles.items()
            }
            for name, roles in self.profiles.items()
        }
        profiles.setdefault(profile, {})[role] = record
        return Installed(profiles=profiles)


def load_installed(folder: Path) -> Installed:
    """Read a folder's record; none there yet is an empty one, an unreadable one an error."""
    path = folder / NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Installed)
    except FileNotFoundError:
        return Installed()
    except (OSError, msgspec.DecodeError) as error:
        raise ManifestError(f"can't read {path}: {error}; delete it and fetch again") from error


def save_installed(folder: Path, installed: Installed) -> None:
    """Write the record atomically."""
    data = msgspec.json.format(msgspec.json.encode(installed), indent=2)
    write_atomically(folder / NAME, data + b"\n")


def origin_of(source: Source) -> str:
    """Return what a checksum is tied to: another revision or file may have other bytes."""
    if isinstance(source, HubSource):
        return f"hub:{source.repo}@{source.revision}/{source.file}"
    return f"{source.file}:{source.sha256}"


def source_of(record: Record, model: Model) -> Source | None:
    """Return the manifest's source that a record still agrees with, if there is one."""
    for source in model.sources:
        same = origin_of(source) == record.origin and source.file == record.file
        if same and source.sha256 in (None, record.sha256):
            return source
    return None


def untouched(record: Record, folder: Path) -> bool:
    """Return whether size and modification time are still those of the bytes that were hashed."""
    try:
        stat = (folder / record.file).stat()
    except OSError:
        return False
    return (stat.st_size, stat.st_mtime_ns) == (record.size_bytes, record.mtime_ns)


def record_of(name: str, source: Source, path: Path, sha256: str) -> Record:
    """Return the record of a file that was just checked."""
    stat = path.stat()
    return Record(
        model=name,
        file=path.name,
        size_bytes=stat.st_size,
        sha256=sha256,
        mtime_ns=stat.st_mtime_ns,
        licence=source.licence,
        source=source.describe(),
        origin=origin_of(source),
    )
