"""The connection to Redis: bounded in time and number, and left alone for a while once it fails.

redis-py's defaults (5 s timeouts, 10 retries) would hold a visitor for tens of seconds while Redis
hangs. Here one deadline covers connecting, the retry and the wait for a free connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import TypeVar

from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.credentials import CredentialProvider
from redis.maint_notifications import MaintNotificationsConfig

from bot.adapters.breaker import CircuitBreaker
from bot.chat.ports.sharing import StateUnavailable
from corpus.settings import RedisSettings

logger = logging.getLogger("bot.redis")

MAX_CONNECTIONS = 16  # a call takes well under 1 ms; Redis' own bound is maxclients in redis.conf
IDLE_PING_SECONDS = 30
REST_SECONDS = 3.0
"""After a failure nobody but health asks Redis for so long; then one call tries."""

BLAME = 0.8  # share of the deadline that Redis itself must have had to count as hanging

T = TypeVar("T")


class RedisLink:
    """Runs commands on Redis. Close it with `aclose`; nothing is sent before the first command."""

    def __init__(
        self,
        settings: RedisSettings,
        *,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if settings.url is None:
            raise ValueError("redis.url is not set")
        self._seconds = settings.timeout_seconds
        self._clock = clock
        self._places = asyncio.Semaphore(MAX_CONNECTIONS)
        self._breaker = CircuitBreaker(failures=1, rest_seconds=rest_seconds, clock=clock)
        self._problem: str | None = None
        self.redis = Redis.from_url(
            settings.url,
            credential_provider=_credentials(settings),
            socket_timeout=self._seconds,
            socket_connect_timeout=self._seconds,
            max_connections=MAX_CONNECTIONS,
            health_check_interval=IDLE_PING_SECONDS,
            # The one retry is for connections that a restart of Redis has cut. A command that was
            # run before the cut counts twice: rare, and on the strict side.
            retry=Retry(ExponentialWithJitterBackoff(base=0.01, cap=0.05), retries=1),
            # Neither name and version of the client nor notices of a cloud's maintenance: commands
            # at each connection that the access list would have to allow, the first from 7.2 only.
            driver_info=None,
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self.redis.aclose()

    async def run(
        self,
        work: Callable[[], Awaitable[T]],
        *,
        known: Callable[[], T | None] = lambda: None,
        probe: bool = False,
    ) -> T:
        """The result of `work`, within `timeout_seconds`.

        Args:
            known: Asked once there is a free connection; what it gives needs no Redis any more.
            probe: Asks during the rest as well.

        Raises:
            StateUnavailable: it failed, took too long, or Redis is resting after a failure.
        """
        began: float | None = None
        try:
            async with asyncio.timeout(self._seconds), self._places:
                if (found := known()) is not None:
                    return found
                if not self._breaker.allows() and not probe:
                    raise StateUnavailable(self._problem or "redis-timeout")
                began = self._clock()
                result = await work()
        except StateUnavailable:
            raise
        except asyncio.CancelledError:
            if began is not None:
                self._breaker.abandoned()
            raise
        except Exception as error:
            # Whatever Redis or its client does, a visitor's request must not end with it.
            code = problem_code(error)
            if began is not None:
                # One that waited in line for most of its time says nothing about Redis.
                hurried = self._clock() - began < BLAME * self._seconds
                if code == "redis-timeout" and hurried:
                    self._breaker.abandoned()
                else:
                    self._failed(code, error)
            raise StateUnavailable(code) from error
        self._succeeded()
        return result

    def _failed(self, code: str, error: Exception) -> None:
        self._breaker.failed()
        if self._problem != code:
            logger.warning(
                "redis can't be used, limits are this bot's own until it is back",
                exc_info=error,
                extra={"code": code},
            )
        self._problem = code

    def _succeeded(self) -> None:
        self._breaker.succeeded()
        if self._problem is not None:
            logger.info("redis is back", extra={"code": self._problem})
        self._problem = None


class PasswordFile(CredentialProvider):
    """Reads the password at each connection, so that a changed one needs no restart."""

    def __init__(self, username: str | None, path: Path) -> None:
        self._username = username
        self._path = path

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        """User and password.

        Raises:
            AuthenticationError: the file can't be read.
        """
        try:
            password = self._path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise exceptions.AuthenticationError("redis.password_file can't be read") from error
        return (self._username, password) if self._username else (password,)

    async def get_credentials_async(self) -> tuple[str] | tuple[str, str]:
        """The same; redis-py's own logs a warning at each connection."""
        return self.get_credentials()


def problem_code(error: BaseException) -> str:
    """What health and logs call a failure."""
    match error:
        case exceptions.AuthenticationError() | exceptions.NoPermissionError():
            return "redis-denied"
        case exceptions.OutOfMemoryError():
            return "redis-full"
        case exceptions.TimeoutError() | TimeoutError():
            return "redis-timeout"
        case exceptions.ConnectionError() | OSError():
            return "redis-unreachable"
    return "redis-error"


def _credentials(settings: RedisSettings) -> CredentialProvider | None:
    if settings.password_file is None:
        return None
    return PasswordFile(settings.username, Path(settings.password_file))
