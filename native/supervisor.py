"""Starts processes in order, each once the one before is healthy; stops all of them together.

    async def plan(supervisor):
        await supervisor.start(Service(name="embed", ...))     # returns when it is healthy
        await supervisor.start(Service(name="bot", ...))
        await supervisor.wait()                                # until Ctrl-C or a failure

    exit_code = supervise(plan, folder=..., log_folder=..., console=Console())

Written here because honcho and circus know neither "healthy before the next one starts" nor "dies
while starting: show why and stop everything" (docs/decisions/0005-own-process-manager.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from native.child import TERM_SECONDS, Child, signal_group
from native.console import Console, readable, severity
from native.health import is_healthy
from native.service import ProcessFailed, Service, ended, last_words
from native.tether import tethered

RESTARTS = 5
BACKOFF_SECONDS = 1.0
CALM_SECONDS = 300.0
"""A process that ran so long has its restarts forgiven."""
POLL_SECONDS = 0.1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """The processes of one run. Made by `supervise`."""

    def __init__(
        self,
        *,
        folder: Path,
        log_folder: Path,
        console: Console,
        term_seconds: float,
        backoff_seconds: float,
    ) -> None:
        """`folder` is where every process runs."""
        self._folder = folder
        self._logs = log_folder
        self._console = console
        self._term_seconds = term_seconds
        self._backoff_seconds = backoff_seconds
        self._children: dict[str, Child] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._step_group: int | None = None

    async def start(self, service: Service) -> None:
        """Start a service and return when it is healthy; from then on it is restarted if it dies.

        Raises:
            ProcessFailed: it ended or stayed unhealthy; the message holds its last lines.
        """
        log = self._logs / f"{service.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        await self._until_healthy(service)
        self._keepers.append(asyncio.create_task(self._keep(service)))

    async def run(
        self, command: tuple[str, ...], environment: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run a step to its end: its exit code and stdout. What it says on stderr goes through."""
        process = await asyncio.create_subprocess_exec(
            *tethered(command),
            cwd=self._folder,
            env={**os.environ, **(environment or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._step_group = process.pid
        try:
            stdout, _ = await process.communicate()
            return await process.wait(), stdout.decode("utf-8", "replace")
        except asyncio.CancelledError:
            signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), self._term_seconds)
            signal_group(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        finally:
            self._step_group = None

    async def wait(self) -> None:
        """Until a service can't be kept alive, which raises `ProcessFailed`, or Ctrl-C."""
        done, _ = await asyncio.wait(self._keepers, return_when=asyncio.FIRST_COMPLETED)
        for keeper in done:
            keeper.result()

    async def stop(self) -> None:
        """Stop everything, the latest first; nothing is left running when it returns."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        # One after the other: the bot ends its answers while the model is still there for them.
        for name in reversed(self._children):
            await self._children[name].stop(self._term_seconds)

    def kill(self) -> None:
        """KILL everything at once."""
        for child in self._children.values():
            child.kill()
        if self._step_group is not None:
            signal_group(self._step_group, signal.SIGKILL)

    async def _until_healthy(self, service: Service) -> None:
        ready = False

        def show(line: str) -> None:
            # While llama-server loads, its warnings are about the model file and help nobody.
            worth = "EW" if ready else "E"
            if not service.llama or severity(line) in worth:
                self._console.line(service.name, readable(line))

        log = self._logs / f"{service.name}.log"
        started = time.monotonic()
        child = await Child.start(
            service.command,
            folder=self._folder,
            log=log,
            show=show,
            environment=service.environment,
        )
        self._children.pop(service.name, None)
        self._children[service.name] = child
        while child.returncode is None:
            if await is_healthy(service.health_url) and child.returncode is None:
                ready = True
                self._console.line(service.name, f"ready after {time.monotonic() - started:.1f} s")
                return
            if time.monotonic() - started > service.ready_seconds:
                raise ProcessFailed(
                    last_words(
                        child,
                        log,
                        f"{service.name} was not ready after {service.ready_seconds:.0f} s",
                    )
                )
            await asyncio.sleep(POLL_SECONDS)
        code = await child.wait()
        raise ProcessFailed(last_words(child, log, f"{service.name} {ended(code)} while starting"))

    async def _keep(self, service: Service) -> None:
        restarts = 0
        while True:
            started = time.monotonic()
            child = self._children[service.name]
            code = await child.wait()
            child.kill()  # what it started itself must not hold its port
            if time.monotonic() - started > CALM_SECONDS:
                restarts = 0
            if restarts == RESTARTS:
                log = self._logs / f"{service.name}.log"
                what = f"{service.name} {ended(code)} and was restarted {RESTARTS} times already"
                raise ProcessFailed(last_words(child, log, what))
            pause = self._backoff_seconds * 2**restarts
            restarts += 1
            self._console.line(
                service.name, f"{ended(code)}; restart {restarts} of {RESTARTS} in {pause:g} s"
            )
            await asyncio.sleep(pause)
            try:
                await self._until_healthy(service)
            except ProcessFailed as error:
                self._console.line(service.name, str(error).splitlines()[0])
                await self._children[service.name].stop(self._term_seconds)


def supervise(
    plan: Callable[[Supervisor], Awaitable[None]],
    *,
    folder: Path,
    log_folder: Path,
    console: Console,
    term_seconds: float = TERM_SECONDS,
    backoff_seconds: float = BACKOFF_SECONDS,
) -> int:
    """Run a plan to its end and stop everything; the exit code.

    0 after Ctrl-C (the way to stop) or a finished plan, 1 when something failed, 128 + n after
    another signal. A second signal kills at once.
    """
    supervisor = Supervisor(
        folder=folder,
        log_folder=log_folder,
        console=console,
        term_seconds=term_seconds,
        backoff_seconds=backoff_seconds,
    )
    return asyncio.run(_supervise(plan, supervisor, console))


async def _supervise(
    plan: Callable[[Supervisor], Awaitable[None]], supervisor: Supervisor, console: Console
) -> int:
    task = asyncio.ensure_future(plan(supervisor))
    received: list[signal.Signals] = []

    def on_signal(number: signal.Signals) -> None:
        received.append(number)
        if len(received) == 1:
            console.say()
            console.say("stopping; once more kills at once")
            task.cancel()
        else:
            supervisor.kill()

    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        await task
    except asyncio.CancelledError:
        if not received:
            raise
    except ProcessFailed as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        await supervisor.stop()
    if received:
        console.say("stopped; nothing is left running")
        return 0 if received[0] is signal.SIGINT else 128 + received[0]
    return 0
