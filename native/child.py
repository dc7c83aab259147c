"""One child process: started so that it can't outlive its parent, its output kept and shown.

Each child leads its own session, so the terminal's Ctrl-C reaches the supervisor alone, which can
then stop the children in order; and a signal to its group reaches whatever the child started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from native.tether import tethered

TAIL_LINES = 15
READ_BYTES = 65_536
LONGEST_LINE_BYTES = 1_000_000
TERM_SECONDS = 10.0


class Child:
    """A running process with the last lines of its output."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: asyncio.StreamReader,
        log: Path,
        show: Callable[[str], None],
    ) -> None:
        """Use `Child.start`."""
        self._process = process
        self._show = show
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._pump = asyncio.create_task(self._read(output, log))

    @classmethod
    async def start(
        cls,
        command: tuple[str, ...],
        *,
        folder: Path,
        environment: Mapping[str, str],
        log: Path,
        show: Callable[[str], None],
    ) -> Child:
        """Start `command` in `folder`; its output is appended to `log`, each line given to `show`.

        A program that is not there says so in the output and ends with code 127.
        """
        process = await asyncio.create_subprocess_exec(
            *tethered(command),
            cwd=folder,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        if process.stdout is None:
            raise RuntimeError("a process started with a pipe has one")
        return cls(process, process.stdout, log, show)

    @property
    def pid(self) -> int:
        """Also the id of its process group."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative is the signal that ended it."""
        return self._process.returncode

    async def wait(self) -> int:
        """Its exit code, once all of its output is read."""
        code = await self._process.wait()
        # A grandchild may hold the pipe open: its output is not worth waiting for.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._pump), 1.0)
        return code

    async def stop(self, term_seconds: float = TERM_SECONDS) -> None:
        """TERM to the group, KILL to what is left of it after `term_seconds`."""
        if self.returncode is None:
            signal_group(self.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), term_seconds)
        signal_group(self.pid, signal.SIGKILL)
        await self._process.wait()
        self._pump.cancel()
        await asyncio.gather(self._pump, return_exceptions=True)

    def kill(self) -> None:
        """KILL to the group, at once."""
        signal_group(self.pid, signal.SIGKILL)

    async def _read(self, output: asyncio.StreamReader, log: Path) -> None:
        rest = b""
        with log.open("ab") as file:
            while block := await output.read(READ_BYTES):
                with contextlib.suppress(OSError):  # a full disk must not stop the servers
                    file.write(block)
                    file.flush()
                *lines, rest = (rest + block).split(b"\n")
                if len(rest) > LONGEST_LINE_BYTES:
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    self._line(line)
            if rest:
                self._line(rest)

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.tail.append(text)
        self._show(text)


def signal_group(group: int, number: signal.Signals) -> None:
    """Signal a process group; one that is gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
