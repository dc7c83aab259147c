"""Fetch one file from the model hub over HTTP: resumed, checked, renamed into place.

The bytes grow in ``<name>.part``; a run that was cut goes on from there with a Range request.
Nothing gets its final name before its size and sha256 are the promised ones.
"""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import httpx

from models.errors import MismatchError, SourceError
from models.manifest import HubSource
from models.progress import Progress
from models.storage import CHUNK_BYTES, part_of, publish, require_room

DEFAULT_ENDPOINT = "https://huggingface.co"
# Short connect: an unreachable hub must not hold up the next source. The read limit is per read.
TIMEOUT = httpx.Timeout(30.0, connect=5.0)
# Attempts in a row that brought no new byte. Those that did may go on for longer: 1.1 GB over a
# line that drops every minute still arrives.
FRUITLESS_ATTEMPTS = 3
ATTEMPTS = 100
RETRY_PAUSE_SECONDS = 1.0


class Digest(NamedTuple):
    """What a finished file turned out to be."""

    sha256: str
    size_bytes: int


def hub_url(source: HubSource, endpoint: str) -> str:
    """Return the address of a source's file below the hub's base address."""
    return (
        f"{endpoint.rstrip('/')}/{source.repo}/resolve/{quote(source.revision)}/"
        f"{quote(source.file)}"
    )


def hub_client() -> httpx.Client:
    """Return a client with this module's time limits; it honours the proxy variables."""
    return httpx.Client(
        timeout=TIMEOUT, follow_redirects=True, headers={"accept-encoding": "identity"}
    )


class Download:
    """One file on its way from ``url`` to ``path``.

    ``sha256`` and ``size_bytes`` are the promised ones; where ``sha256`` is None, the hub's
    ``x-linked-etag`` header stands in for it, and a hub that sends none is refused.
    """

    def __init__(
        self,
        client: httpx.Client,
        url: str,
        path: Path,
        *,
        sha256: str | None,
        size_bytes: int | None,
        pause_seconds: float = RETRY_PAUSE_SECONDS,
    ) -> None:
        self._client = client
        self._url = url
        self._path = path
        self._part = part_of(path)
        self._sha256 = sha256
        self._size_bytes = size_bytes
        self._pause_seconds = pause_seconds

    def run(self) -> Digest:
        """Fetch, check and publish.

        Raises `SourceError` when the hub can't serve the file (the part is kept for the next run),
        `MismatchError` when it serves another one (the part is removed), `DiskError` before it
        writes more than fits.
        """
        resumed = self._fetch_all()
        try:
            digest = self._check()
        except MismatchError:
            self._part.unlink()
            if not resumed:
                raise
            # The old part may have come from another version of the file: once more, from zero.
            self._fetch_all()
            try:
                digest = self._check()
            except MismatchError:
                self._part.unlink()
                raise
        publish(self._part, self._path)
        return digest

    def _fetch_all(self) -> bool:
        """Fetch until the part is whole; return whether bytes of an earlier run are in it."""
        resumed = self._have_bytes() > 0
        fruitless = 0
        for attempt in range(ATTEMPTS):
            before = self._have_bytes()
            try:
                self._fetch_some()
                break
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                fruitless = fruitless + 1 if self._have_bytes() <= before else 0
                # Nothing was ever said by the other side: the address is dead, go to the next.
                never_there = isinstance(
                    error,
                    (
                        httpx.ConnectError,
                        httpx.ConnectTimeout,
                        httpx.InvalidURL,
                        httpx.UnsupportedProtocol,
                    ),
                )
                if never_there or fruitless >= FRUITLESS_ATTEMPTS or attempt + 1 == ATTEMPTS:
                    raise SourceError(f"{self._url}: {_reason(error)}") from error
                time.sleep(self._pause_seconds)
        return resumed

    def _fetch_some(self) -> None:
        start = self._have_bytes()
        if self._size_bytes is not None and start > self._size_bytes:
            self._part.unlink()
            start = 0
        if self._sha256 is not None and start == self._size_bytes:
            return
        headers = {"range": f"bytes={start}-"} if start else {}
        with self._client.stream("GET", self._url, headers=headers) as response:
            if response.status_code == 416:
                self._accept_whole_or_restart(response, start)
                return
            if response.status_code not in (200, 206):
                raise SourceError(f"{self._url}: HTTP {response.status_code}")
            if response.status_code == 200 or _range_start(response) != start:
                # No Range support, or another range than asked for: the old bytes can't be used.
                if response.status_code == 206:
                    self._part.unlink(missing_ok=True)
                    raise httpx.RemoteProtocolError("sent another range than asked for")
                start = 0
            total = self._learn(response, start)
            require_room(self._path.parent, total - start, self._path.name)
            self._receive(response, start, total)

    def _receive(self, response: httpx.Response, start: int, total: int) -> None:
        with (
            self._part.open("r+b" if start else "wb") as file,
            Progress(self._path.name, total, done=start) as progress,
        ):
            file.seek(start)
            for piece in response.iter_raw():
                file.write(piece)
                progress.advance(len(piece))
                if file.tell() > total:
                    raise self._mismatch(f"more than the promised {total} bytes")
        if self._have_bytes() < total:
            raise httpx.RemoteProtocolError("the connection ended before the file did")

    def _learn(self, response: httpx.Response, start: int) -> int:
        """Take what the headers promise, hold it against what is pinned; return the size."""
        if self._sha256 is None:
            self._sha256 = _linked_sha256(response)
            if self._sha256 is None:
                raise MismatchError(
                    f"{self._url}: no checksum in the manifest and none in the hub's x-linked-etag "
                    f"header: refused; pin sha256 in the manifest"
                )
        size = _total_bytes(response, start)
        if size is None:
            size = self._size_bytes
        if size is None:
            raise SourceError(f"{self._url}: the hub does not say how large the file is")
        if self._size_bytes is not None and size != self._size_bytes:
            raise self._mismatch(f"{size} bytes instead of {self._size_bytes}")
        self._size_bytes = size
        return size

    def _accept_whole_or_restart(self, response: httpx.Response, start: int) -> None:
        """416: the part is already whole (then the checksum decides) or longer than the file."""
        if self._sha256 is None:
            self._sha256 = _linked_sha256(response)
        total = re.fullmatch(r"bytes \*/(\d+)", response.headers.get("content-range", ""))
        if self._sha256 is not None and total is not None and int(total[1]) == start:
            return
        self._part.unlink()
        raise httpx.RemoteProtocolError("the part was no prefix of the file")

    def _check(self) -> Digest:
        digest = hashlib.sha256()
        with self._part.open("rb") as file:
            while piece := file.read(CHUNK_BYTES):
                digest.update(piece)
        if digest.hexdigest() != self._sha256:
            raise self._mismatch(f"sha256 {digest.hexdigest()} instead of {self._sha256}")
        return Digest(digest.hexdigest(), self._have_bytes())

    def _mismatch(self, what: str) -> MismatchError:
        return MismatchError(
            f"{self._path.name} from {self._url}: {what}: refused, not installed; "
            f"if the hub's file was replaced on purpose, update the manifest "
            f"(or delete installed.json, where it holds no sha256)"
        )

    def _have_bytes(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0


def _linked_sha256(response: httpx.Response) -> str | None:
    """Return the sha256 that the hub itself sent; storage servers it redirects to are not asked."""
    first = (response.history or [response])[0]
    for answer in (*response.history, response):
        if answer.url.netloc != first.url.netloc:
            continue
        value = str(answer.headers.get("x-linked-etag", "")).removeprefix("W/").strip('"')
        if re.fullmatch(r"[0-9a-f]{64}", value):
            return value
    return None


def _range_start(response: httpx.Response) -> int | None:
    match = re.match(r"bytes (\d+)-", response.headers.get("content-range", ""))
    return int(match[1]) if match else None


def _total_bytes(response: httpx.Response, start: int) -> int | None:
    match = re.fullmatch(r"bytes \d+-\d+/(\d+)", response.headers.get("content-range", ""))
    if match:
        return int(match[1])
    length = response.headers.get("content-length", "")
    return start + int(length) if length.isdecimal() else None


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return f"can't be reached ({text})" if isinstance(error, httpx.TransportError) else text
