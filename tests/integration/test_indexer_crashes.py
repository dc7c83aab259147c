"""Killed, interrupted or out of disk at any point: the index in service is the old or the new one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.pointer import read_pointer
from corpus.reader import open_index
from indexer.cli import main
from tests.fake_embedder import FakeEmbedder
from tests.patience import wait_until

# Runs the real command in forked children of one process, so that Python is started only once.
# For every fault it writes a new version of the content, lets the child meet the fault, and prints
# which version a reader sees afterwards.
HARNESS = r"""
import errno, json, os, resource, signal, sqlite3, sys, time
from pathlib import Path
from corpus.reader import open_index
from indexer.cli import main

config, content, folder, mode = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
faults = json.loads(sys.argv[5])
calls = 0

def armed(function, target):
    def wrapper(*args, **kwargs):
        global calls
        calls += 1
        if calls == target and mode == "kill-before":
            os.kill(os.getpid(), signal.SIGKILL)
        if calls == target and mode == "disk-full":
            raise OSError(errno.ENOSPC, "No space left on device", "index")
        result = function(*args, **kwargs)
        if calls == target and mode == "kill-after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapper

def armed_for_writing(function, target):
    dangerous = armed(function, target)
    return lambda self, mode="r", *args, **kwargs: (
        dangerous if "w" in mode else function)(self, mode, *args, **kwargs)

BY_CALL = ("kill-before", "kill-after", "disk-full")

def child(fault):
    if mode in BY_CALL:
        os.fsync = armed(os.fsync, fault)
        Path.replace = armed(Path.replace, fault)
        Path.unlink = armed(Path.unlink, fault) if mode != "disk-full" else Path.unlink
        Path.open = armed_for_writing(Path.open, fault)
        sqlite3.connect = armed(sqlite3.connect, fault)
    if mode == "file-size":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault, fault))
    sys.exit(main(["--config", config, "--json-only"]))

for number, fault in enumerate(faults):
    content.write_text(f"# Hola\n\nversion{number} " + "palabra " * 300)
    pid = os.fork()
    if not pid:
        child(fault)
    if mode == "kill-at":
        time.sleep(fault)
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    index = open_index(folder)
    texts = " ".join(index.passage(int(n)).chunk.text for n in index.chunk_ids)
    index.close()
    versions = sorted({word for word in texts.split() if word.startswith("version")})
    code = os.waitstatus_to_exitcode(status)
    left = sorted(path.name for path in folder.glob(".building*"))
    print(json.dumps([number, code, versions, left]), flush=True)
    if mode in BY_CALL and code == 0:
        break  # the command has fewer steps than this
"""
MOST_STEPS = 60


@pytest.fixture
def fake() -> Iterator[FakeEmbedder]:
    with FakeEmbedder(dimension=16) as server:
        yield server


class Workshop:
    """Content, configuration and folder of one test, with version `first` in service."""

    def __init__(self, root: Path, url: str, batch_size: int = 16) -> None:
        self.content = root / "posts" / "hola.md"
        self.folder = root / "index"
        self.content.parent.mkdir()
        self.content.write_text("# Hola\n\nversion-first")
        self.config = root / "config.yaml"
        self.config.write_text(
            f"rag: {{data_path: {root}/none, docs_path: {root}/none, posts_path: {root}/posts,"
            f" index_path: {self.folder}}}\n"
            f"embeddings: {{endpoint: '{url}', model: fake, dimension: 16, batch_size: {batch_size}}}\n"
        )

    def command(self) -> list[str]:
        return [sys.executable, "-m", "indexer", "--config", str(self.config), "--json-only"]

    def run(self) -> int:
        """The command's exit code, in this process: Python takes longer to start than it to run."""
        return main(["--config", str(self.config), "--json-only"])

    def start(self) -> subprocess.Popen[bytes]:
        """The command as a process of its own."""
        return subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def versions(self) -> set[str]:
        """What a reader finds."""
        index = open_index(self.folder)
        texts = " ".join(index.passage(int(n)).chunk.text for n in index.chunk_ids)
        index.close()
        return {word for word in texts.split() if word.startswith("version")}

    def harm(self, mode: str, faults: list[float]) -> list[tuple[int, int, list[str], list[str]]]:
        """Number, exit code, versions in service and leftovers for each fault, after a good first run."""
        assert self.run() == 0
        arguments = [
            str(self.config),
            str(self.content),
            str(self.folder),
            mode,
            json.dumps(faults),
        ]
        done = subprocess.run(
            [sys.executable, "-c", HARNESS, *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return [
            tuple(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")
        ]


def check(outcomes: list[tuple[int, int, list[str], list[str]]], harmed: set[int]) -> int:
    """Every reader saw exactly one whole version, the old or the new; returns how many were harmed."""
    service = "version-first"
    count = 0
    for number, code, versions, _ in outcomes:
        new = f"version{number}"
        assert versions in ([service], [new]), (number, code, versions)
        if code == 0:
            assert versions == [new]
        else:
            assert code in harmed, (number, code)
            count += 1
        service = versions[0]
    return count


@pytest.mark.parametrize("mode", ["kill-before", "kill-after"])
def test_killed_at_every_step_of_publishing(tmp_path: Path, fake: FakeEmbedder, mode: str) -> None:
    """OPS-03: kill -9 before and after each fsync, rename, open, unlink and connection, in order."""
    workshop = Workshop(tmp_path, fake.url)
    outcomes = workshop.harm(mode, list(range(1, MOST_STEPS)))
    assert check(outcomes, {-signal.SIGKILL}) >= 10
    assert outcomes[-1][1] == 0, "raise MOST_STEPS: the last were not reached"
    assert {versions[0] for _, code, versions, _ in outcomes if code} & {"version-first"}
    assert workshop.run() == 0
    assert not list(workshop.folder.glob(".building*"))
    assert not list(workshop.folder.glob(".current.json.*"))


def test_killed_at_any_moment(tmp_path: Path, fake: FakeEmbedder) -> None:
    """OPS-03: kill -9 after growing delays, while embedding is slow."""
    workshop = Workshop(tmp_path, fake.url, batch_size=1)
    assert workshop.run() == 0
    fake.delay_seconds = 0.02
    check(workshop.harm("kill-at", [0.02 * step for step in range(1, 21)]), {-signal.SIGKILL})
    fake.delay_seconds = 0
    assert workshop.run() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("answered", [0, 2])
def test_stopped_by_a_signal(
    tmp_path: Path, fake: FakeEmbedder, number: signal.Signals, code: int, answered: int
) -> None:
    """While it waits for the embedder: at the first request, and in the middle of the work."""
    workshop = Workshop(tmp_path, fake.url, batch_size=1)
    assert workshop.run() == 0
    workshop.content.write_text("# Hola\n\nversion-new " + "palabra " * 300)
    fake.forget()
    fake.script("hang", times=None, after=answered)
    with workshop.start() as running:
        wait_until(lambda: len(fake.batch_sizes) > answered or running.poll() is not None)
        running.send_signal(number)
        running.communicate(timeout=60)
    assert running.returncode == code
    assert workshop.versions() == {"version-first"}
    assert not list(workshop.folder.glob(".building*"))


def test_disk_full_at_every_step(tmp_path: Path, fake: FakeEmbedder) -> None:
    workshop = Workshop(tmp_path, fake.url)
    outcomes = workshop.harm("disk-full", list(range(1, MOST_STEPS)))
    assert check(outcomes, {8}) >= 5
    assert outcomes[-1][1] == 0
    assert all(not left for _, _, _, left in outcomes)


def test_disk_full_after_any_number_of_bytes(tmp_path: Path, fake: FakeEmbedder) -> None:
    """Real short writes: the file may not grow beyond a limit."""
    workshop = Workshop(tmp_path, fake.url)
    outcomes = workshop.harm(
        "file-size", [0, 100, 512, 4096, 8192, 20_000, 30_000, 40_000, 1 << 20]
    )
    assert check(outcomes, {8}) >= 4
    assert outcomes[-1][1] == 0
    assert all(not left for _, _, _, left in outcomes)


def test_of_two_at_once_one_works_and_the_other_leaves(
    tmp_path: Path, fake: FakeEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop = Workshop(tmp_path, fake.url)
    fake.go_on.clear()
    with workshop.start() as first:
        try:
            wait_until(lambda: fake.batch_sizes or first.poll() is not None)
            assert workshop.run() == 7
            assert "another indexer" in capsys.readouterr().err
        finally:
            fake.go_on.set()
        first.communicate(timeout=60)
    assert first.returncode == 0
    index = open_index(workshop.folder)
    index.close()
    assert index.has_vectors


def test_the_lock_dies_with_its_holder(tmp_path: Path, fake: FakeEmbedder) -> None:
    workshop = Workshop(tmp_path, fake.url)
    fake.go_on.clear()
    with workshop.start() as holder:
        wait_until(lambda: fake.batch_sizes or holder.poll() is not None)
        assert workshop.run() == 7
        holder.kill()
        holder.communicate(timeout=60)
    fake.go_on.set()
    assert workshop.run() == 0
    assert read_pointer(workshop.folder).index


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to run as another user")
def test_another_users_folder_is_one_clear_line(tmp_path: Path) -> None:
    """OPS-02: the message names uid and path."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom corpus.writer import writer_lock\n"
        "from corpus.errors import CorpusError\nos.setuid(65534)\n"
        "try:\n    writer_lock(Path(sys.argv[1])).__enter__()\n"
        "except CorpusError as error:\n    print(error)\n"
    )
    folder = tmp_path / "index"
    folder.mkdir(mode=0o755)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert "uid 65534" in done.stdout
    assert str(folder) in done.stdout
    assert done.stdout.count("\n") == 1
