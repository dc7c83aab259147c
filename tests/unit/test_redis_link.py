"""What of a failing Redis is told, how its password is read, which settings are refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis import exceptions

from bot.adapters.redis_keys import DaySecret, conversation_key
from bot.adapters.redis_link import MAX_CONNECTIONS, PasswordFile, RedisLink, problem_code
from bot.chat.ports.sharing import StateUnavailable
from corpus.errors import SettingsError
from corpus.settings import RedisSettings
from corpus.settings_file import load_settings

NOWHERE = RedisSettings(url="redis://127.0.0.1:1", timeout_seconds=0.1)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exceptions.AuthenticationError("x"), "redis-denied"),
        (exceptions.NoPermissionError("x"), "redis-denied"),
        (exceptions.OutOfMemoryError("x"), "redis-full"),
        (exceptions.TimeoutError("x"), "redis-timeout"),
        (TimeoutError(), "redis-timeout"),
        (exceptions.BusyLoadingError("x"), "redis-unreachable"),
        (exceptions.ConnectionError("x"), "redis-unreachable"),
        (ConnectionRefusedError(), "redis-unreachable"),
        (exceptions.ReadOnlyError("x"), "redis-error"),
        (ValueError("x"), "redis-error"),
    ],
)
def test_every_failure_has_a_code(error: Exception, code: str) -> None:
    assert problem_code(error) == code


@pytest.mark.parametrize(
    ("username", "expected"), [("bot", ("bot", "geheim ñ")), (None, ("geheim ñ",))]
)
def test_password_file(tmp_path: Path, username: str | None, expected: tuple[str, ...]) -> None:
    path = tmp_path / "password"
    path.write_text("geheim ñ\n")
    assert PasswordFile(username, path).get_credentials() == expected


def test_a_password_file_that_can_not_be_read_is_a_refused_login(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "absent", tmp_path, tmp_path / "binary"):
        with pytest.raises(exceptions.AuthenticationError, match="password_file"):
            PasswordFile("bot", path).get_credentials()


@pytest.mark.parametrize(
    "url",
    [
        "http://redis:6379", "redis://", "redis:6379", "redis://user:hunter2@redis:6379",
        "redis://redis:6379?socket_timeout=60", "redis://redis:6379/0?db=1", "redis://redis:6379\n",
        "unix:///run/redis.sock", "redis://redis:port",
    ],
)  # fmt: skip
def test_a_url_that_is_none_stops_the_start(url: str) -> None:
    """Options in the query would go before the bot's own timeouts."""
    with pytest.raises(SettingsError, match="redis") as refused:
        load_settings(None, {"PORTFOLIO_BOT__REDIS__URL": repr(url)})
    assert "keys of their own" in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://redis:6379",
        "rediss://redis.example.com",
        "redis://[::1]:6379/3",
        "redis://10.0.0.1",
    ],
)
def test_good_urls(url: str) -> None:
    assert load_settings(None, {"PORTFOLIO_BOT__REDIS__URL": url}).redis.url == url


@pytest.mark.anyio
async def test_after_a_failure_it_rests_then_one_call_tries() -> None:
    now = 100.0
    link = RedisLink(NOWHERE, rest_seconds=3.0, clock=lambda: now)
    tries: list[str] = []

    async def work() -> None:
        tries.append("tried")
        raise ConnectionResetError

    async def call(*, probe: bool = False) -> str:
        try:
            await link.run(work, probe=probe)
        except StateUnavailable as error:
            return error.code
        return "went well"

    assert [await call() for _ in range(5)] == ["redis-unreachable"] * 5
    assert len(tries) == 1
    await call(probe=True)
    assert len(tries) == 2, "health asks during the rest as well"
    now += 3.1
    await asyncio.gather(*(call() for _ in range(5)))
    assert len(tries) == 3
    await link.aclose()


@pytest.mark.anyio
async def test_what_was_known_without_redis_is_no_sign_that_it_is_back() -> None:
    now = [100.0]
    link = RedisLink(NOWHERE, rest_seconds=3.0, clock=lambda: now[0])
    tries: list[str] = []

    async def work() -> str:
        tries.append("tried")
        raise ConnectionResetError

    for _ in range(2):
        with pytest.raises(StateUnavailable):
            await link.run(work)
        assert await link.run(work, known=lambda: "remembered") == "remembered"
    assert len(tries) == 1
    now[0] += 3.1
    assert await link.run(work, known=lambda: "remembered") == "remembered"
    with pytest.raises(StateUnavailable):
        await link.run(work)
    assert len(tries) == 2
    await link.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize(("had_seconds", "rests"), [(0.05, False), (0.09, True)])
async def test_only_what_had_its_time_says_that_redis_hangs(
    had_seconds: float, rests: bool
) -> None:
    """A crowd on a busy machine may time out after a wait in line; nobody rests for that."""
    times = [100.0]
    link = RedisLink(NOWHERE, clock=lambda: times[0])

    async def hang() -> None:
        times[0] += had_seconds
        await asyncio.Event().wait()

    async def work() -> str:
        return "done"

    with pytest.raises(StateUnavailable, match="redis-timeout"):
        await link.run(hang)
    if rests:
        with pytest.raises(StateUnavailable, match="redis-timeout"):
            await link.run(work)
    else:
        assert await link.run(work) == "done"
    await link.aclose()


@pytest.mark.anyio
async def test_who_waits_too_long_for_a_connection_goes_on_without() -> None:
    link = RedisLink(NOWHERE, clock=lambda: 100.0)
    free = asyncio.Event()
    holders = [asyncio.create_task(link.run(free.wait)) for _ in range(MAX_CONNECTIONS)]
    await asyncio.sleep(0.05)
    with pytest.raises(StateUnavailable):
        await link.run(free.wait)
    free.set()
    await asyncio.gather(*holders, return_exceptions=True)
    assert await link.run(free.wait)
    await link.aclose()


def test_keys_hide_addresses_and_conversations() -> None:
    """P2, P3: the same for all replicas with one secret, others with the next."""
    today, replica = (DaySecret(day=20_000, secret=b"s" * 32) for _ in range(2))
    tomorrow = DaySecret(day=20_001, secret=b"t" * 32)
    keys = today.visitor_keys("2001:db8:1:2::3")
    assert keys == replica.visitor_keys("2001:db8:1:2::ffff")
    assert not set(keys) & set(tomorrow.visitor_keys("2001:db8:1:2::3"))
    assert [key[:5] for key in keys] == ["rl:a:", "rl:n:"]
    assert today.visitor_keys("::ffff:192.0.2.7") == today.visitor_keys("192.0.2.7")
    assert today.fingerprint != tomorrow.fingerprint
    assert today.key == "rl:day:20000"
    assert "an id" not in conversation_key("an id")
