"""Run the indexer as a child process, one at a time."""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from bot.chat.errors import ReindexFailed
from bot.chat.ports.index import ReindexReport

logger = logging.getLogger("bot.reindexer")

COMMAND = (sys.executable, "-m", "indexer")
TERMINATE_SECONDS = 5.0
MAX_REASON_CHARS = 300
# Exit codes of the indexer after which an index was published (docs/operations.md).
PUBLISHED = {
    0: None,
    4: "some content could not be read and was left out",
    5: "the embedding server was down: the new index is searched by keywords only",
}
FAILED = {
    2: "the configuration is wrong",
    6: "the embedding server sent unusable vectors",
    7: "another indexer is already running",
    8: "the disk refused the new index",
}


class SubprocessReindexer:
    """A bot.chat.ports.Reindexer. A process of its own keeps its memory out of the bot's."""

    def __init__(
        self,
        config_path: Path | None = None,
        *,
        command: Sequence[str] = COMMAND,
        on_published: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._command = [*command]
        if config_path is not None:
            self._command += ["--config", str(config_path)]
        self._on_published = on_published
        self._running = False

    async def run(self) -> ReindexReport:
        """Build and publish; returns when the new index has been offered to the bot.

        Raises:
            ReindexFailed: nothing was published, or another run of this bot is under way.
        """
        if self._running:
            raise ReindexFailed("already running")
        self._running = True
        try:
            report = await self._run()
        finally:
            self._running = False
        if self._on_published is not None:
            await self._on_published()
        return report

    async def _run(self) -> ReindexReport:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
            )
        except OSError as error:
            raise ReindexFailed(f"the indexer can't be started: {error.strerror}") from error
        try:
            output, complaints = await process.communicate()
        finally:
            await _end(process)
        code = process.returncode
        report = _summary(output)
        if code not in PUBLISHED or report is None:
            reason = FAILED.get(code or 0, f"the indexer ended with code {code}")
            detail = _last_line(complaints)
            raise ReindexFailed(f"{reason}: {detail}" if detail else reason)
        if warning := PUBLISHED[code]:
            logger.warning("reindexed, but %s", warning)
        return report


async def _end(process: Process) -> None:
    """Stop a child that still runs, because we were cancelled."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(TERMINATE_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _summary(output: bytes) -> ReindexReport | None:
    """The JSON summary, which is the last line on standard output."""
    try:
        return msgspec.json.decode(output.strip().rpartition(b"\n")[2], type=ReindexReport)
    except msgspec.DecodeError:
        return None


def _last_line(complaints: bytes) -> str:
    text = complaints.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return text[-MAX_REASON_CHARS:]
