"""How often one address may ask: exact bursts, honest headers, no way around through a header."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from bot.adapters.limiter import LocalLimiter
from bot.chat.ports.sharing import Verdict
from corpus.settings import RateLimitSettings
from tests.clock import Clock
from tests.fakes import fake_ports
from tests.live_server import LiveServer, question, serve_scripted

SLOW = RateLimitSettings(requests_per_minute=1, burst=3)


def standing_still(settings: RateLimitSettings = SLOW) -> LocalLimiter:
    """A limiter for which no time passes: nothing comes back, however long the requests take."""
    return LocalLimiter(settings, clock_ns=Clock().nanoseconds)


def statuses(bot: LiveServer, count: int, headers: dict[str, str] | None = None) -> list[int]:
    with bot.client() as client:
        return [
            client.post("/api/chat", json=question(stream=False), headers=headers).status_code
            for _ in range(count)
        ]


def test_one_more_than_the_burst_is_told_when_to_return() -> None:
    """CORS-01: 429 with Retry-After and RateLimit fields, readable from the blog's page."""
    with (
        serve_scripted(
            ports=fake_ports(limiter=standing_still()),
            server={"cors_origins": ("https://a.example",), "rate_limit": SLOW},
        ) as bot,
        bot.client(headers={"origin": "https://a.example"}) as client,
    ):
        allowed = [client.post("/api/chat", json=question(stream=False)) for _ in range(3)]
        refused = client.post("/api/chat", json=question())
        assert [reply.status_code for reply in allowed] == [200, 200, 200]
        assert [reply.headers["ratelimit"] for reply in allowed] == [
            '"visitor";r=2', '"visitor";r=1', '"visitor";r=0',
        ]  # fmt: skip
        assert refused.status_code == 429
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["retry-after"] == "60"
        assert refused.headers["ratelimit-policy"] == '"visitor";q=3;w=180'
        assert refused.headers["ratelimit"].startswith('"visitor";r=0;t=')
        assert refused.headers["access-control-allow-origin"] == "https://a.example"
        assert len(bot.chat.asks) == 3


def test_only_questions_are_counted() -> None:
    """E5, L9: preflights, health, info, the page and refused requests cost no allowance."""
    with (
        serve_scripted(ports=fake_ports(limiter=standing_still())) as bot,
        bot.client() as client,
    ):
        for _ in range(5):
            client.get("/api/health")
            client.get("/api/info")
            client.get("/")
            client.post("/api/chat", content=b"x")
            client.post("/api/chat", json=question(), headers={"origin": "https://evil.test"})
            client.options(
                "/api/chat", headers={"origin": "x", "access-control-request-method": "POST"}
            )
        assert statuses(bot, 4) == [200, 200, 200, 429]


def test_five_hundred_at_once_from_one_address_allow_exactly_the_burst() -> None:
    """A1: no race lets one more through."""
    settings = RateLimitSettings(requests_per_minute=1, burst=7)
    with serve_scripted(
        ports=fake_ports(limiter=standing_still(settings)), server={"queue_size": 100}
    ) as bot:

        def ask(_: int) -> int:
            return client.post("/api/chat", json=question(stream=False)).status_code

        # No reuse: a connection that idles while the machine stalls is closed under the next request.
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=0)
        with bot.client(limits=limits) as client, ThreadPoolExecutor(50) as pool:
            found = list(pool.map(ask, range(500)))
        assert found.count(200) == 7
        assert found.count(429) == 493
        assert len(bot.chat.asks) == 7


@pytest.mark.parametrize(
    "forged",
    [
        "1.1.1.{n}",
        "1.1.1.{n}, 2.2.2.2",
        "::{n}",
        "garbage{n}",
        "[::1]:{n}",
        "unknown",
        "127.0.0.{n}",
    ],
)
def test_a_forwarded_header_of_a_stranger_is_ignored(forged: str) -> None:
    """RL-01, A5: without a listed proxy the peer's address counts, whatever the header says."""
    with serve_scripted(ports=fake_ports(limiter=standing_still())) as bot:
        found = [
            statuses(bot, 1, {"x-forwarded-for": forged.format(n=n), "x-real-ip": f"3.3.3.{n}"})[0]
            for n in range(4)
        ]
        assert found == [200, 200, 200, 429]


def through_proxy(bot: LiveServer, addresses: Sequence[str]) -> list[int]:
    return [statuses(bot, 1, {"x-forwarded-for": address})[0] for address in addresses]


def test_visitors_behind_a_listed_proxy_have_allowances_of_their_own() -> None:
    """RL-02."""
    one = RateLimitSettings(requests_per_minute=1, burst=1)
    with serve_scripted(
        ports=fake_ports(limiter=standing_still(one)), trusted_proxies=("127.0.0.1",)
    ) as bot:
        assert through_proxy(bot, ["203.0.113.1", "203.0.113.2", "203.0.113.1"]) == [200, 200, 429]


@pytest.mark.parametrize(
    "addresses",
    [
        ["9.9.9.9, 203.0.113.1", "8.8.8.8, 203.0.113.1"],
        ["2001:db8::1", "2001:db8::ffff"],
        ["::ffff:203.0.113.7", "203.0.113.7"],
        ["garbage", "more garbage"],
    ],
    ids=["leftmost is forged", "one /64", "mapped address", "unreadable"],
)
def test_another_spelling_of_an_address_is_no_new_allowance(addresses: list[str]) -> None:
    """RL-01, RL-03, A4, A7: the rightmost address that is no proxy of ours counts."""
    one = RateLimitSettings(requests_per_minute=1, burst=1)
    with serve_scripted(
        ports=fake_ports(limiter=standing_still(one)), trusted_proxies=("127.0.0.1",)
    ) as bot:
        assert through_proxy(bot, addresses) == [200, 429]


def test_an_unlisted_proxy_is_named_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """RL-02: behind it all visitors would share one allowance."""
    with serve_scripted() as bot:
        through_proxy(bot, ["203.0.113.1", "203.0.113.2"])
    warnings = [record for record in caplog.records if "trusted_proxies" in record.message]
    assert len(warnings) == 1


class RecordingLimiter:
    """A Limiter that notes its keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def check(self, key: str) -> Verdict:
        self.keys.append(key)
        return Verdict(allowed=True, limit=1, remaining=1, retry_after_seconds=0)


def test_the_limiter_never_sees_an_address() -> None:
    """P2, P3."""
    limiter = RecordingLimiter()
    with serve_scripted(ports=fake_ports(limiter=limiter)) as bot:
        statuses(bot, 2)
    assert len(set(limiter.keys)) == 1
    assert "127.0.0.1" not in limiter.keys[0]


class BrokenLimiter:
    """A Limiter with a defect."""

    async def check(self, key: str) -> Verdict:
        raise RuntimeError(f"secret {key}")


def test_a_defect_in_the_limiter_lets_nobody_in_and_tells_nothing() -> None:
    with serve_scripted(ports=fake_ports(limiter=BrokenLimiter())) as bot, bot.client() as client:
        reply = client.post("/api/chat", json=question())
        assert (reply.status_code, reply.json()["code"]) == (500, "internal-error")
        assert "secret" not in reply.text
        assert bot.chat.asks == []
