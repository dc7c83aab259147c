"""What the HTTP side makes of a shared limiter and of the state's health, with fakes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bot.api.timing import Timing
from bot.chat.ports.sharing import StateUnavailable, Verdict
from tests.fakes import HANG, fake_ports
from tests.live_server import question, serve_scripted


class Shared:
    """An AddressLimiter with one verdict; notes what it was given."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.addresses: list[str] = []

    async def check(self, key: str) -> Verdict:
        raise AssertionError("its keys would mean nothing to its replicas")

    async def check_address(self, address: str) -> Verdict:
        self.addresses.append(address)
        return self.verdict


class State:
    """A SharedState that answers, fails or hangs."""

    def __init__(self, problem: str | None) -> None:
        self.problem = problem

    async def check(self) -> None:
        if self.problem == HANG:
            await asyncio.Event().wait()
        if self.problem:
            raise StateUnavailable(self.problem)


def verdict(**fields: Any) -> Verdict:
    return Verdict(
        **{"allowed": True, "limit": 10, "remaining": 4, "retry_after_seconds": 0.0, **fields}
    )


def asked(limiter: Shared) -> Any:
    with (
        serve_scripted(
            ports=fake_ports(limiter=limiter), server={"cors_origins": ("https://a.example",)}
        ) as bot,
        bot.client(headers={"origin": "https://a.example"}) as client,
    ):
        reply = client.post("/api/chat", json=question(stream=False))
        assert (reply.status_code == 200) == bool(bot.chat.asks)
        return reply


def test_a_shared_limiter_makes_its_own_keys() -> None:
    limiter = Shared(verdict())
    reply = asked(limiter)
    assert (reply.status_code, reply.headers["ratelimit"]) == (200, '"visitor";r=4')
    assert limiter.addresses == ["127.0.0.1"]


def test_the_visitors_refusal_is_429() -> None:
    reply = asked(Shared(verdict(allowed=False, remaining=0, retry_after_seconds=2.1)))
    assert (reply.status_code, reply.json()["code"]) == (429, "rate-limited")
    assert reply.headers["retry-after"] == "3"
    assert reply.headers["ratelimit"] == '"visitor";r=0;t=3'


def test_the_sites_refusal_is_503_for_everybody() -> None:
    """Not 429: the visitor did nothing wrong. The blog's page may read it."""
    reply = asked(
        Shared(verdict(allowed=False, remaining=0, retry_after_seconds=59.2, refused_by="site"))
    )
    assert (reply.status_code, reply.json()["code"]) == (503, "busy")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["retry-after"] == "60"
    assert "ratelimit" not in reply.headers
    assert reply.headers["access-control-allow-origin"] == "https://a.example"


@pytest.mark.parametrize(
    ("problem", "status", "limits"),
    [
        (None, "healthy", "shared"),
        ("redis-denied", "degraded", "this bot's own"),
        (HANG, "degraded", "this bot's own"),
    ],
)
def test_health_of_the_shared_state(problem: str | None, status: str, limits: str) -> None:
    """Never unhealthy: visitors are answered without it."""
    ports = replace(fake_ports(), shared=State(problem))
    timing = Timing(probe_seconds=0.3)
    with serve_scripted(ports=ports, timing=timing) as bot, bot.client() as client:
        body = client.get("/api/health").json()
    component = body["components"]["redis"]
    assert (component["status"], component["details"]["limits"]) == (status, limits)
    expected = "timed-out" if problem == HANG else problem
    assert component["details"].get("problem") == expected
