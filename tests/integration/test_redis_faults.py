"""Redis down, hanging, emptied, full, closed to us: nobody waits, nobody gets more, it heals alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from bot.adapters.redis_limiter import RedisLimiter
from bot.adapters.redis_link import MAX_CONNECTIONS
from bot.adapters.redis_state import State
from bot.chat.ports.sharing import StateUnavailable
from corpus.settings import RateLimitSettings
from native.ports import free_port
from tests.clock import AheadClock
from tests.redis_server import RedisServer, eventually, replica, serve_redis

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

SLOW = RateLimitSettings(requests_per_minute=1, burst=5)
# What Redis may add to one request is its timeout, 0.25 s. A busy machine may make several times that
# of it; redis-py's own defaults, 5 s for each of 11 tries, are beyond it.
ADDED_SECONDS = 4.0
NEVER_SECONDS = 3600.0
"""A rest that ends only where a test moves the clock."""
ADDRESS = "203.0.113.7"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    yield from serve_redis(tmp_path)


@pytest.fixture
def patient(server: RedisServer) -> RedisServer:
    """For tests of what happens, not of how long it takes: a busy machine is no dead Redis."""
    server.timeout_seconds = 30.0
    return server


async def timed(bot: State, address: str) -> tuple[bool, float]:
    """One request as the gate and the answer make it: (let in, seconds)."""
    began = monotonic()
    verdict = await bot.limiter.check_address(address)
    await bot.conversations.resume(None)
    return verdict.allowed, monotonic() - began


class Lag:
    """How much time the event loop itself lost meanwhile: on a busy machine that is not Redis' doing."""

    seconds = 0.0

    async def __aenter__(self) -> Lag:
        self._ticker = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0.01)
        self._ticker.cancel()
        await asyncio.gather(self._ticker, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            began = monotonic()
            await asyncio.sleep(0.005)
            self.seconds += max(0.0, monotonic() - began - 0.006)


def calls_begun(bot: State) -> list[float]:
    """When calls began to use Redis from now on: each of them may cost its visitor the deadline."""
    assert isinstance(bot.limiter, RedisLimiter)
    link = bot.limiter._link
    run, begun = link.run, []

    async def counted(work: Callable[[], Awaitable[Any]], **options: Any) -> Any:
        async def begin() -> Any:
            begun.append(monotonic())
            return await work()

        return await run(begin, **options)

    link.run = counted  # type: ignore[method-assign]
    return begun


async def problem(bot: State) -> str | None:
    """What health says."""
    assert bot.shared is not None
    try:
        await bot.shared.check()
    except StateUnavailable as error:
        return error.code
    return None


async def healthy(bot: State) -> bool:
    return await problem(bot) is None


async def test_absent_from_the_start(patient: RedisServer) -> None:
    """F6: no error at the start, the limits hold, and it comes in when Redis comes up."""
    patient.stop()
    async with replica(patient.settings(SLOW)) as bot:
        async with Lag() as lag:
            found = [await timed(bot, ADDRESS) for _ in range(SLOW.burst + 3)]
        assert [let_in for let_in, _ in found] == [True] * SLOW.burst + [False] * 3
        assert max(seconds for _, seconds in found) < ADDED_SECONDS + lag.seconds
        assert await problem(bot) == "redis-unreachable"
        patient.start()
        await eventually(lambda: healthy(bot))
        await bot.limiter.check_address("203.0.113.9")
        assert patient.names("rl:a:")


async def test_a_host_that_has_no_address_costs_no_more(server: RedisServer) -> None:
    settings = server.settings(SLOW, url=f"redis://no-such-host.invalid:{free_port()}")
    async with replica(settings) as bot:
        async with Lag() as lag:
            let_in, seconds = await timed(bot, ADDRESS)
        assert let_in
        assert seconds < ADDED_SECONDS + lag.seconds


async def test_stopping_gives_nobody_a_second_burst(patient: RedisServer) -> None:
    """F6, RL-06: neither open nor 500. What Redis knew goes on in the process."""
    async with replica(patient.settings(SLOW)) as one, replica(patient.settings(SLOW)) as two:
        for bot in (one, two, one, two):
            assert (await timed(bot, ADDRESS))[0]
        assert (await one.limiter.check_address(ADDRESS)).remaining == 0
        await timed(two, "203.0.113.8")
        patient.stop()
        assert not (await timed(one, ADDRESS))[0]
        left = [(await timed(two, "203.0.113.8"))[0] for _ in range(6)]
        assert left == [True] * 4 + [False] * 2


async def test_restart_loses_counts_but_no_request(patient: RedisServer) -> None:
    """F8, RL-04: scripts, secret and keys are gone; the next request is a normal one."""
    async with replica(patient.settings(SLOW)) as bot:
        await asyncio.gather(*(timed(bot, f"198.51.100.{n}") for n in range(30)))
        patient.stop()
        patient.start()
        for _ in range(3):
            assert (await timed(bot, "203.0.113.50"))[0]
        assert await problem(bot) is None
        assert len(patient.names("rl:a:")) == 1


async def test_flushed(patient: RedisServer) -> None:
    """F8: both replicas go on with one new secret, so the limit stays one."""
    async with replica(patient.settings(SLOW)) as one, replica(patient.settings(SLOW)) as two:
        await timed(one, ADDRESS)
        await timed(two, ADDRESS)
        patient.admin.flushall()
        found = [(await timed(bot, ADDRESS))[0] for bot in [one, two] * 5]
        assert sum(found) == SLOW.burst
        assert await problem(one) is None


async def test_hanging_costs_nobody_more_than_the_deadline(server: RedisServer) -> None:
    """F7: 200 at once from 100 visitors, then the rest of the outage at no cost."""
    async with replica(server.settings(SLOW), rest_seconds=NEVER_SECONDS) as bot:
        await asyncio.gather(*(timed(bot, f"198.51.100.{n}") for n in range(40)))
        begun = calls_begun(bot)
        server.pause()
        try:
            async with Lag() as lag:
                found = await asyncio.gather(
                    *(timed(bot, f"192.0.2.{n % 100}") for n in range(200))
                )
            assert max(seconds for _, seconds in found) < ADDED_SECONDS + lag.seconds
            assert all(let_in for let_in, _ in found)
            assert len(begun) <= MAX_CONNECTIONS, "who stood in line waited for the first ones only"
            begun.clear()
            later = [await timed(bot, ADDRESS) for _ in range(SLOW.burst + 1)]
            assert begun == [], "nobody waits any more"
            assert [let_in for let_in, _ in later] == [True] * SLOW.burst + [False]
        finally:
            server.resume()
        await eventually(lambda: healthy(bot))
        addresses = (f"203.0.113.{n}" for n in range(8, 250))

        async def counted_there() -> bool:  # a busy machine may miss the deadline once more
            await healthy(bot)
            before = server.names("rl:a:")
            assert (await timed(bot, next(addresses)))[0]
            return server.names("rl:a:") != before

        await eventually(counted_there)


async def test_during_an_outage_one_request_at_a_time_looks_whether_it_is_over(
    server: RedisServer,
) -> None:
    """After the rest a single request pays the deadline; recovery needs nobody's help."""
    clock = AheadClock()
    async with replica(server.settings(SLOW), rest_seconds=NEVER_SECONDS, clock=clock) as bot:
        begun = calls_begun(bot)
        server.pause()
        try:
            await timed(bot, ADDRESS)
            assert len(begun) == 1
            begun.clear()
            clock.ahead += NEVER_SECONDS
            async with Lag() as lag:
                found = await asyncio.gather(*(timed(bot, f"192.0.2.{n}") for n in range(50)))
            assert len(begun) == 1
            assert 0.2 < max(seconds for _, seconds in found) < ADDED_SECONDS + lag.seconds
        finally:
            server.resume()

        async def came_back() -> bool:  # a busy machine may miss the deadline once more
            clock.ahead += NEVER_SECONDS
            await timed(bot, "203.0.113.99")
            return bool(server.names("rl:a:"))

        await eventually(came_back)


async def test_cut_connections_are_replaced_at_once(patient: RedisServer) -> None:
    """F15: the one retry is for this."""
    async with replica(patient.settings(SLOW), rest_seconds=30) as bot:
        await asyncio.gather(*(timed(bot, f"198.51.100.{n}") for n in range(30)))
        patient.admin.client_kill_filter(user="bot")
        found = await asyncio.gather(*(timed(bot, f"192.0.2.{n}") for n in range(30)))
        assert all(let_in for let_in, _ in found)
        assert len(patient.names("rl:a:")) == 60


async def test_connections_are_bounded(patient: RedisServer) -> None:
    async with replica(patient.settings(SLOW)) as bot:
        await asyncio.gather(*(bot.limiter.check_address(f"198.51.100.{n}") for n in range(250)))
        users = [client["user"] for client in patient.admin.client_list()]
        assert 1 <= users.count("bot") <= 16
    await eventually(lambda: gone(patient))


async def gone(server: RedisServer) -> bool:
    return all(client["user"] != "bot" for client in server.admin.client_list())


async def test_full_of_foreign_keys_the_process_decides(patient: RedisServer) -> None:
    """F9, OPS-07: writes are refused (OOM), inside scripts too; the limit stays exact here."""
    patient.admin.config_set("maxmemory", "2mb")
    async with replica(patient.settings(SLOW)) as bot:
        await timed(bot, "198.51.100.1")
        fill(patient, lifetime_seconds=None)
        async with Lag() as lag:
            found = [await timed(bot, ADDRESS) for _ in range(SLOW.burst + 3)]
        assert [let_in for let_in, _ in found] == [True] * SLOW.burst + [False] * 3
        assert max(seconds for _, seconds in found) < ADDED_SECONDS + lag.seconds
        assert await problem(bot) == "redis-full"
        patient.admin.delete(*patient.admin.scan_iter("filler:*"))
        await eventually(lambda: healthy(bot))


async def test_health_sees_that_nothing_can_be_written(patient: RedisServer) -> None:
    """Reading goes on: a mere PING would call that healthy. Asked as often as anybody likes."""
    async with replica(patient.settings(SLOW)) as bot:
        assert [await problem(bot) for _ in range(20)] == [None] * 20
        patient.admin.config_set("maxmemory-policy", "noeviction")
        patient.admin.config_set("maxmemory", "100kb")
        assert [await problem(bot) for _ in range(3)] == ["redis-full"] * 3
        patient.admin.config_set("maxmemory", "64mb")
        assert await problem(bot) is None


async def test_full_of_keys_that_end_redis_makes_room(patient: RedisServer) -> None:
    """F9, OPS-07: `volatile-ttl` lets the shared limit stay exact."""
    patient.admin.config_set("maxmemory", "2mb")
    async with replica(patient.settings(SLOW)) as one, replica(patient.settings(SLOW)) as two:
        await timed(one, "198.51.100.1")
        fill(patient, lifetime_seconds=50)
        found = [(await timed(bot, ADDRESS))[0] for bot in [one, two] * 5]
        assert sum(found) == SLOW.burst
        assert await problem(one) is None
        assert int(patient.admin.info("stats")["evicted_keys"]) > 0


def fill(patient: RedisServer, lifetime_seconds: int | None) -> None:
    """Write until no memory is left, or well beyond it."""
    import redis

    try:
        for number in range(6000):
            patient.admin.set(f"filler:{number}", "x" * 500, ex=lifetime_seconds)
    except redis.exceptions.OutOfMemoryError:
        pass


async def test_wrong_password(patient: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    """The limits hold, health says so, and a corrected file needs no restart."""
    caplog.set_level(logging.INFO)
    patient.password_file.write_text("wrong password\n")
    async with replica(patient.settings(SLOW)) as bot:
        async with Lag() as lag:
            found = [await timed(bot, ADDRESS) for _ in range(SLOW.burst + 1)]
        assert [let_in for let_in, _ in found] == [True] * SLOW.burst + [False]
        assert max(seconds for _, seconds in found) < ADDED_SECONDS + lag.seconds
        assert await problem(bot) == "redis-denied"
        patient.password_file.unlink()
        assert await problem(bot) == "redis-denied"
        patient.password_file.write_text("correct horse battery staple")
        await eventually(lambda: healthy(bot))
    messages = [record.getMessage() for record in caplog.records if record.name == "bot.redis"]
    assert len(messages) == 2, "one line when it fails, one when it is back"
    assert "password" not in " ".join(messages)


async def test_a_right_that_is_missing_is_a_failure_too(patient: RedisServer) -> None:
    patient.admin.acl_setuser("bot", commands=["-set"])
    async with replica(patient.settings(SLOW)) as bot:
        assert [(await timed(bot, ADDRESS))[0] for _ in range(6)] == [True] * 5 + [False]
        assert await problem(bot) == "redis-denied"


async def test_something_that_is_not_redis(server: RedisServer) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        async with replica(server.settings(SLOW, url=f"redis://127.0.0.1:{port}")) as bot:
            assert [(await timed(bot, ADDRESS))[0] for _ in range(6)] == [True] * 5 + [False]
            assert str(await problem(bot)).startswith("redis-")


async def test_a_visitor_who_leaves_while_redis_hangs_breaks_nothing(patient: RedisServer) -> None:
    async with replica(patient.settings(SLOW)) as bot:
        await timed(bot, ADDRESS)
        patient.pause()
        tasks = [asyncio.create_task(timed(bot, f"192.0.2.{n}")) for n in range(20)]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        patient.resume()
        found = [await timed(bot, "203.0.113.50") for _ in range(6)]
        assert [let_in for let_in, _ in found] == [True] * 5 + [False]
        assert await problem(bot) is None
