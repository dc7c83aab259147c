"""A real redis-server with the product's own configuration and access list, on a free port."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import redis
from msgspec.structs import replace
from redis.backoff import NoBackoff
from redis.retry import Retry

from bot.adapters.redis_shared import open_shared
from bot.adapters.redis_state import State, local_state
from corpus.settings import RateLimitSettings, RedisSettings, Settings
from native.ports import free_port
from tests.conftest import ROOT, unavailable

PASSWORD = "correct horse battery staple"
ADMIN_PASSWORD = "for-the-tests-only"
READY_SECONDS = 60.0


class RedisServer:
    """Starts, stops, pauses; `admin` may do what the bot may not."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.password_file = folder / "password"
        self._log = folder / "redis.log"
        self.password_file.write_text(f"{PASSWORD}\n")
        self.timeout_seconds = RedisSettings().timeout_seconds
        self._process: subprocess.Popen[bytes] | None = None
        template = (ROOT / "services/redis/users.acl").read_text()
        users = template.replace("BOT_PASSWORD_SHA256", sha256(PASSWORD.encode()).hexdigest())
        (folder / "users.acl").write_text(f"{users}user admin on >{ADMIN_PASSWORD} ~* &* +@all\n")
        self.admin = redis.Redis(
            host="127.0.0.1",
            port=self.port,
            username="admin",
            password=ADMIN_PASSWORD,
            decode_responses=True,
            retry=Retry(NoBackoff(), 1),
        )

    def start(self, *options: str) -> None:
        """Start and wait until it answers; `options` go behind those of redis.conf."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._binary,
                    str(ROOT / "services/redis/redis.conf"),
                    *("--bind", "127.0.0.1", "--port", str(self.port)),
                    *("--aclfile", str(self.folder / "users.acl"), "--dir", str(self.folder)),
                    *options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                self.admin.ping()
                return
            except redis.ConnectionError:
                ended = self._process.poll() is not None
                if ended or time.monotonic() > deadline:
                    pytest.fail(self._log.read_text()[-1500:], pytrace=False)
                time.sleep(0.02)

    def stop(self) -> None:
        """End it at once, also when it is paused."""
        self.admin.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait(READY_SECONDS)
            self._process = None

    def pause(self) -> None:
        """It keeps its port and its connections and does nothing, as in `docker pause`."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Go on."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def names(self, prefix: str = "") -> list[str]:
        """Every key that begins so."""
        return sorted(self.admin.scan_iter(f"{prefix}*"))

    def let_pass(self, key: str, seconds: float) -> None:
        """As if so many seconds had gone by for one allowance: it holds when it is full again."""
        full: Any = self.admin.get(key)
        self.admin.set(key, int(full) - round(seconds * 1_000_000), keepttl=True)

    def calls(self, command: str) -> int:
        """How often a command has run since the last `CONFIG RESETSTAT`."""
        stats: Any = self.admin.info("commandstats")
        return int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"])

    def settings(self, limits: RateLimitSettings | None = None, **redis: Any) -> Settings:
        """The bot's settings for this server."""
        settings = Settings()
        options = {
            "url": self.url,
            "username": "bot",
            "password_file": str(self.password_file),
            "timeout_seconds": self.timeout_seconds,
            **redis,
        }
        return replace(
            settings,
            server=replace(settings.server, rate_limit=limits or RateLimitSettings()),
            redis=RedisSettings(**options),
        )


def serve_redis(folder: Path, *options: str) -> Iterator[RedisServer]:
    """For a fixture: a fresh server that ends with the test; skipped where there is none."""
    binary = shutil.which("redis-server")
    if binary is None:
        unavailable("no redis-server: `apt-get install redis-server` gets it")
    server = RedisServer(binary, folder)
    try:
        server.start(*options)
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def replica(
    settings: Settings,
    *,
    rest_seconds: float = 0.3,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[State, None]:
    """What one bot has: its own connections, its own spare."""
    async with open_shared(
        settings, local_state(settings), rest_seconds=rest_seconds, clock=clock
    ) as state:
        yield state


async def eventually(condition: Any) -> None:
    """Return when the coroutine function says so; fail where that takes a minute."""
    deadline = time.monotonic() + READY_SECONDS
    while not await condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.05)
