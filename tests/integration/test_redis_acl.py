"""E10: services/redis/users.acl gives the bot what it needs (all other tests run under it), no more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.redis_server import PASSWORD, RedisServer, serve_redis

pytestmark = pytest.mark.redis


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    yield from serve_redis(tmp_path_factory.mktemp("redis"))


def connect(server: RedisServer, username: str | None, password: str | None) -> redis.Redis:
    return redis.Redis(
        host="127.0.0.1",
        port=server.port,
        username=username,
        password=password,
        driver_info=None,
        retry=Retry(NoBackoff(), 0),
    )


@pytest.fixture
def bot(server: RedisServer) -> Iterator[redis.Redis]:
    with connect(server, "bot", PASSWORD) as connection:
        yield connection


@pytest.mark.parametrize(
    "command",
    [
        "CONFIG GET *", "CONFIG SET maxmemory 0", "KEYS *", "SCAN 0", "FLUSHALL", "FLUSHDB",
        "EVAL return(1) 0", "FUNCTION LIST", "SCRIPT FLUSH", "SCRIPT KILL",
        "ACL WHOAMI", "ACL LIST", "CLIENT LIST", "MONITOR", "SHUTDOWN NOSAVE", "SAVE", "INFO",
        "REPLICAOF NO ONE", "MODULE LIST", "SLOWLOG GET", "SUBSCRIBE rl:x", "PUBLISH rl:x y",
        "DEL rl:x", "DUMP rl:x", "MIGRATE h 1 rl:x 0 1", "SORT rl:x", "PERSIST rl:x", "SELECT 1",
        "GET other", "SET other 1", "GET rlx", "SET conv 1",
    ],
)  # fmt: skip
def test_the_bots_user_may_not(bot: redis.Redis, command: str) -> None:
    with pytest.raises(redis.exceptions.NoPermissionError):
        bot.execute_command(*command.split(" "))  # type: ignore[no-untyped-call]


def test_the_bots_user_may_not_debug(bot: redis.Redis) -> None:
    # Nobody may: Redis refuses that command before it looks at the user.
    with pytest.raises(redis.exceptions.ResponseError, match=r"(?i)debug"):
        bot.execute_command("DEBUG", "SLEEP", "0")  # type: ignore[no-untyped-call]


def test_a_script_gets_no_further_than_its_user(bot: redis.Redis) -> None:
    for body in ("return redis.call('KEYS', '*')", "return redis.call('SET', 'other', 1)"):
        sha = bot.script_load(body)
        with pytest.raises(redis.exceptions.ResponseError, match="user executing the script can't"):
            bot.evalsha(sha, 0)


@pytest.mark.parametrize(
    ("username", "password"),
    [(None, None), ("default", ""), ("default", PASSWORD), ("bot", ""), ("bot", "x"), ("x", "x")],
)
def test_nobody_else_gets_in(
    server: RedisServer, username: str | None, password: str | None
) -> None:
    """As `default`, without a name, with a wrong password, as a stranger."""
    with (
        connect(server, username, password) as connection,
        pytest.raises((redis.exceptions.AuthenticationError, redis.exceptions.ResponseError)),
    ):
        connection.ping()


def test_nothing_is_written_to_disk_and_memory_is_bounded(server: RedisServer) -> None:
    """P4: a visitor's data in no file."""
    found = {
        name: server.admin.config_get(name)[name]
        for name in (
            "save",
            "appendonly",
            "maxmemory",
            "maxmemory-policy",
            "slowlog-log-slower-than",
        )
    }
    assert found == {
        "save": "",
        "appendonly": "no",
        "maxmemory": str(64 * 1024 * 1024),
        "maxmemory-policy": "volatile-ttl",
        "slowlog-log-slower-than": "-1",
    }
