"""A real chat server that is started again on its port whenever it ends, and what its log tells."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import httpx
from msgspec import Struct

from native.servers import EMBED_ENVIRONMENT
from native.tether import tethered
from tests.patience import wait_until

READY_SECONDS = 300.0
HEAR_NO_LIMIT = ("sh", "-c", 'trap "" XFSZ; exec "$@"', "sh")
"""A write beyond the limit of a file's size then fails, as on a full disk, instead of killing."""
LAUNCHED = re.compile(r"slot launch_slot_: id +0 \| task (\d+) \| processing task")
CANCELLED = re.compile(r"srv +stop: cancel task, id_task = (\d+)")
RELEASED = re.compile(r"slot +release: id +0 \| task (\d+) \| stop processing: n_tokens = (\d+)")


class Evaluation(Struct):
    """One prompt that the server was given."""

    task: int
    cancelled: bool = False
    """Whoever asked has gone."""
    tokens: int | None = None
    """In the slot when it was let go: evaluated and written; None while it works."""


def evaluations(log: Path, since: int = 0) -> list[Evaluation]:
    """What the server has begun to work on after this byte of its log, in order."""
    found: dict[int, Evaluation] = {}
    with log.open("rb") as file:
        file.seek(since)
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in lines:
        if match := LAUNCHED.search(line):
            found[int(match[1])] = Evaluation(int(match[1]))
        elif (match := CANCELLED.search(line)) and int(match[1]) in found:
            found[int(match[1])].cancelled = True
        elif (match := RELEASED.search(line)) and int(match[1]) in found:
            found[int(match[1])].tokens = int(match[2])
    return list(found.values())


class SupervisedChat:
    """Runs inside its block. `kill` and the like return at once; `wait_ready` waits for the next life."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.url = f"http://127.0.0.1:{command[command.index('--port') + 1]}"
        self.log = log
        self.starts = 0
        self._command = tuple(command)
        self._before: tuple[str, ...] = ()
        self._extra: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Event()
        # The kernel ties a child to the thread that made it: this one lives as long as the block.
        self._thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.kill()
        self._thread.join(READY_SECONDS)

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()

    def restart(self, *extra: str, before: tuple[str, ...] = ()) -> None:
        """Another life with these flags more, under a command put before; returns when it is ready."""
        self._extra, self._before = extra, before
        starts = self.starts
        self.kill()
        self.wait_ready(starts)

    def limit_files(self, size: int) -> None:
        """The kernel stops the server in the middle of a file, at this byte; -1 is no limit."""
        assert self._process is not None
        _, most = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, most))

    def wait_ready(self, starts: int = 0) -> None:
        """Return when a life after so many starts answers."""
        wait_until(lambda: self.starts > starts and self._answers(), READY_SECONDS)

    def _supervise(self) -> None:
        while not self._ending.is_set():
            with self.log.open("wb") as output:
                self._process = subprocess.Popen(
                    tethered((*self._before, *self._command, *self._extra)),
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    env=os.environ | EMBED_ENVIRONMENT, start_new_session=True,
                )  # fmt: skip
            self.starts += 1
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))
            if self._ending.is_set():
                self.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False
