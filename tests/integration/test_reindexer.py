"""The reindexer runs a child process; the children here are small Python programs."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path

import pytest

from bot.adapters.reindexer import COMMAND, SubprocessReindexer
from bot.chat.errors import ReindexFailed
from bot.chat.ports.index import ReindexReport

pytestmark = pytest.mark.anyio
SUMMARY = '{"indexed_files": 7, "total_chunks": 42, "duration_ms": 1234, "other": "field"}'
REPORT = ReindexReport(indexed_files=7, total_chunks=42, duration_ms=1234)


def child(code: int, output: str = "", complaint: str = "") -> tuple[str, ...]:
    """A command that prints and ends like the indexer."""
    program = (
        f"import sys; print({output!r}); print({complaint!r}, file=sys.stderr); sys.exit({code})"
    )
    return sys.executable, "-c", program


def waiting_child(folder: Path, *, stubborn: bool = False) -> tuple[str, ...]:
    """A command that writes its pid and waits for a signal; a stubborn one ignores SIGTERM."""
    program = "import os, pathlib, signal, sys\n"
    if stubborn:
        program += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    program += (
        f"path = pathlib.Path({str(folder / 'pid')!r})\n"
        "path.with_suffix('.new').write_text(str(os.getpid()))\n"
        "path.with_suffix('.new').rename(path)\n"
        "signal.pause()\n"
    )
    return sys.executable, "-c", program


async def pid_of_child(folder: Path) -> int:
    for _ in range(6000):
        if (folder / "pid").exists():
            break
        await asyncio.sleep(0.01)
    return int((folder / "pid").read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_summary_is_the_last_line_and_the_bot_is_told() -> None:
    told: list[str] = []

    async def published() -> None:
        told.append("published")

    command = child(0, "progress 1/7\nprogress 7/7\n" + SUMMARY)
    reindexer = SubprocessReindexer(command=command, on_published=published)
    assert await reindexer.run() == REPORT
    assert told == ["published"]


async def test_configuration_is_handed_on(tmp_path: Path) -> None:
    program = (
        "import sys; assert sys.argv[1:] == ['--config', '/etc/some where.yaml'], sys.argv; "
        f"print({SUMMARY!r})"
    )
    command = (sys.executable, "-c", program)
    assert await SubprocessReindexer(Path("/etc/some where.yaml"), command=command).run() == REPORT
    assert (sys.executable, "-m", "indexer") == COMMAND


@pytest.mark.parametrize(("code", "word"), [(4, "content"), (5, "keywords")])
async def test_published_with_a_flaw_counts_and_is_logged(
    code: int, word: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Exit 4: some content left out; 5: the embedder was down."""
    assert await SubprocessReindexer(command=child(code, SUMMARY)).run() == REPORT
    (record,) = (record for record in caplog.records if record.levelno == logging.WARNING)
    assert word in record.getMessage()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (child(2, complaint="rag.top_k: 99 is not allowed"), ("configuration", "rag.top_k")),
        (child(6, complaint="zeros"), ("vectors", "zeros")),
        (child(7), ("already running",)),
        (child(8, complaint="trace\nno space left"), ("disk", "no space left")),
        (child(1, SUMMARY), ("code 1",)),
        (child(5), ("code 5",)),
        (child(0, "no summary"), ("code 0",)),
        (child(0, '{"indexed_files": "many"}'), ("code 0",)),
        (("/no/such/program",), ("can't be started",)),
        ((sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"), ("code -9",)),
    ],
)
async def test_failure_says_why_and_tells_nobody_else(
    command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    async def published() -> None:
        raise AssertionError("nothing was published")

    reindexer = SubprocessReindexer(command=command, on_published=published)
    with pytest.raises(ReindexFailed) as caught:
        await reindexer.run()
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


async def test_much_output_does_not_block() -> None:
    program = (
        "import sys\n"
        "for stream in (sys.stderr, sys.stdout):\n"
        "    stream.write(('x' * 100 + '\\n') * 20000)\n"
        f"print({SUMMARY!r})"
    )
    assert await SubprocessReindexer(command=(sys.executable, "-c", program)).run() == REPORT


@pytest.mark.parametrize("stubborn", [False, True])
async def test_only_one_runs_and_cancelling_stops_the_child(
    tmp_path: Path, stubborn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D6 on the bot's side; a shutdown leaves no process behind."""
    monkeypatch.setattr("bot.adapters.reindexer.TERMINATE_SECONDS", 0.2)
    reindexer = SubprocessReindexer(command=waiting_child(tmp_path, stubborn=stubborn))
    running = asyncio.create_task(reindexer.run())
    pid = await pid_of_child(tmp_path)
    with pytest.raises(ReindexFailed, match="already running"):
        await reindexer.run()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not is_alive(pid)
    (tmp_path / "pid").unlink()
    again = asyncio.create_task(reindexer.run())
    pid = await pid_of_child(tmp_path)
    again.cancel()
    with pytest.raises(asyncio.CancelledError):
        await again
    assert not is_alive(pid)
