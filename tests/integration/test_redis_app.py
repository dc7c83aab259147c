"""Two whole bots over HTTP on one Redis: one limit, true health, no 5xx while Redis is away."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.app import create_app
from corpus.settings import RateLimitSettings, Settings
from tests.fakes import ScriptedChat
from tests.live_server import LiveServer, question, serve_in_thread
from tests.patience import wait_until
from tests.redis_server import RedisServer, serve_redis

pytestmark = pytest.mark.redis

SLOW = RateLimitSettings(requests_per_minute=1, burst=7)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    yield from serve_redis(tmp_path)


@pytest.fixture
def bots(server: RedisServer, tmp_path: Path) -> Iterator[list[LiveServer]]:
    settings = server.settings(SLOW, timeout_seconds=30.0)
    settings = replace(
        settings,
        rag=replace(settings.rag, index_path=str(tmp_path / "index")),
        server=replace(settings.server, queue_size=100),
    )
    with ExitStack() as stack:
        yield [stack.enter_context(serve(settings)) for _ in range(2)]


def serve(settings: Settings) -> Any:
    return serve_in_thread(
        create_app(settings, make_service=ScriptedChat), trusted_proxies=("127.0.0.1",)
    )


def ask(bot: LiveServer, address: str = "203.0.113.7") -> tuple[int, dict[str, str]]:
    with bot.client(headers={"x-forwarded-for": address}) as client:
        reply = client.post("/api/chat", json=question(stream=False))
        return reply.status_code, dict(reply.headers)


def redis_component(bot: LiveServer) -> dict[str, Any]:
    with bot.client() as client:
        body = client.get("/api/health").json()
    component: dict[str, Any] = body["components"]["redis"]
    return component


def test_two_bots_are_one_limit(bots: list[LiveServer]) -> None:
    """A3."""
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda n: ask(bots[n % 2])[0], range(48)))
    assert found.count(200) == SLOW.burst
    assert found.count(429) == 48 - SLOW.burst
    status, headers = ask(bots[0])
    assert status == 429
    assert 1 <= int(headers["retry-after"]) <= 60
    assert headers["ratelimit-policy"] == '"visitor";q=7;w=420'
    assert headers["ratelimit"].startswith('"visitor";r=0;t=')


def test_a_spent_model_allowance_is_503_with_retry_after(
    server: RedisServer, bots: list[LiveServer]
) -> None:
    assert ask(bots[0])[0] == 200
    seconds, _ = server.admin.time()
    spent = SLOW.model_seconds_burst * 60 / SLOW.model_seconds_per_minute + 90
    server.admin.set("rl:model", int((seconds + spent) * 1_000_000), px=60_000)
    for bot in bots:
        status, headers = ask(bot, "198.51.100.1")
        assert status == 503
        assert headers["content-type"] == "application/problem+json"
        assert 45 <= int(headers["retry-after"]) <= 91
    server.admin.delete("rl:model")
    assert ask(bots[0], "198.51.100.1")[1]["ratelimit"] == '"visitor";r=6'


def test_health_and_limits_when_redis_goes_and_comes(
    server: RedisServer, bots: list[LiveServer]
) -> None:
    """F6, C11: degraded and not unhealthy, never a 5xx, never open, and back by itself."""
    wait_until(lambda: redis_component(bots[0])["status"] == "healthy")
    up = redis_component(bots[0])
    assert up["details"] == {"url": server.url, "limits": "shared"}
    assert ask(bots[0])[0] == 200
    server.stop()
    found = [ask(bots[0])[0] for _ in range(SLOW.burst + 2)]
    assert found == [200] * (SLOW.burst - 1) + [429] * 3
    wait_until(lambda: redis_component(bots[0])["status"] == "degraded")
    down = redis_component(bots[0])["details"]
    assert (down["problem"], down["limits"]) == ("redis-unreachable", "this bot's own")
    with bots[0].client() as client:
        assert client.get("/api/info").status_code == 200
    server.start()
    wait_until(lambda: redis_component(bots[0])["status"] == "healthy")
    assert ask(bots[0], "198.51.100.9")[0] == 200
    assert len(server.names("rl:a:")) == 1
    assert "correct horse" not in str(down)


def test_a_vote_may_reach_another_bot_than_the_answer_came_from(bots: list[LiveServer]) -> None:
    with bots[0].client() as client:
        told = client.post("/api/chat", json=question(stream=False)).json()
    with bots[1].client() as client:
        body = {"answer_id": told["answer_id"], "rating": "up"}
        assert client.post("/api/feedback", json=body).status_code == 204
        assert client.get("/api/info").json()["feedback"] is True
