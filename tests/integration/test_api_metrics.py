"""GET /metrics: who may read it, and that it counts what happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from bot.chat.errors import ModelUnavailable
from bot.chat.events import Failed, Timings, Usage
from tests.fakes import DONE, HANG, SOURCES
from tests.live_server import LiveServer, question, serve_scripted
from tests.patience import wait_until

LOOPBACK = {"metrics_networks": ("127.0.0.1",)}
# As prometheus.io/docs/instrumenting/exposition_formats describes a line, without timestamps.
SERIES = re.compile(r'([a-z_]+)(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? (-?\d+(\.\d+)?)')


@pytest.fixture
def bot() -> Iterator[LiveServer]:
    with serve_scripted(server=LOOPBACK) as server:
        yield server


def counted(bot: LiveServer) -> dict[str, float]:
    """Every series."""
    with bot.client() as client:
        page = client.get("/metrics").text
    found = [SERIES.fullmatch(line) for line in page.splitlines() if not line.startswith("#")]
    assert all(found), page
    return {
        (match[1] + (match[2] or "")).removeprefix("portfolio_bot_"): float(match[4])
        for match in found
        if match
    }


def ask(bot: LiveServer, **fields: Any) -> None:
    with bot.client() as client:
        client.post("/api/chat", json=question(**fields))


# ---- who may read it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("networks", "status"),
    [
        ((), 404),
        (("127.0.0.1",), 200),
        (("::1", "127.0.0.0/8"), 200),
        (("10.0.0.0/8", "::1"), 404),
    ],
)
def test_only_the_networks_of_the_configuration_may_read(
    networks: tuple[str, ...], status: int
) -> None:
    """E2: closed unless the owner opens it, and then it looks as if there were none."""
    with serve_scripted(server={"metrics_networks": networks}) as bot, bot.client() as client:
        reply = client.get("/metrics")
    assert reply.status_code == status
    if status == 404:
        assert reply.json()["code"] == "not-found"


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
@pytest.mark.parametrize("trusted", [(), ("127.0.0.1",)])
def test_nobody_reads_it_through_a_proxy(header: str, trusted: tuple[str, ...]) -> None:
    """Not even one that says it comes from a network that may."""
    with (
        serve_scripted(server=LOOPBACK, trusted_proxies=trusted) as bot,
        bot.client(headers={header: "127.0.0.1"}) as client,
    ):
        assert client.get("/metrics").status_code == 404


def test_its_form_is_prometheus_own(bot: LiveServer) -> None:
    with bot.client() as client:
        reply = client.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert reply.text.endswith("\n")
    names = re.findall(r"^# TYPE (\w+) (?:counter|gauge|histogram)$", reply.text, re.MULTILINE)
    assert len(names) == len(set(names)) == 12
    assert names == re.findall(r"^# HELP (\w+) \S", reply.text, re.MULTILINE)
    assert reply.headers["x-content-type-options"] == "nosniff"


# ---- what it counts ----------------------------------------------------------------------------


def test_answers_are_counted_by_route_with_their_tokens_and_first_word(bot: LiveServer) -> None:
    spoken = replace(
        DONE, timings=Timings(first_token_ms=1500.0, cached_tokens=700, evaluated_tokens=90)
    )
    refused = replace(DONE, route="refusal", finish_reason="fixed", usage=Usage())
    declined = replace(refused, usage=Usage(input_tokens=100, output_tokens=3))
    for last in (spoken, spoken, refused, declined):
        bot.chat.enqueue(SOURCES, last)
    ask(bot)
    ask(bot, stream=False)
    ask(bot)
    ask(bot)
    found = counted(bot)
    assert found['answers_total{route="answer"}'] == 2
    assert found['answers_total{route="refusal"}'] == 2
    assert found['answers_total{route="greeting"}'] == 0
    assert found['refusals_total{by="gate"}'] == 1
    assert found['refusals_total{by="model"}'] == 1
    assert found['prompt_tokens_total{kind="cached"}'] == 1400
    assert found['prompt_tokens_total{kind="evaluated"}'] == 180
    assert found["answer_tokens_total"] == 7
    assert found['first_word_seconds_bucket{le="1"}'] == 0
    assert found['first_word_seconds_bucket{le="2"}'] == 2
    assert found['first_word_seconds_bucket{le="+Inf"}'] == found["first_word_seconds_count"] == 2
    assert found["first_word_seconds_sum"] == 3
    assert found["answers_open"] == found["queue_length"] == 0


def test_errors_are_counted_by_code(bot: LiveServer) -> None:
    failed = Failed(code="model-timeout", message="x", retryable=True)
    bot.chat.enqueue(SOURCES, failed)
    ask(bot)
    bot.chat.enqueue(SOURCES, failed)
    ask(bot, stream=False)
    bot.chat.enqueue(SOURCES, ValueError("broken"))
    ask(bot)
    bot.chat.refuse_with = ModelUnavailable("down")
    ask(bot)
    with bot.client() as client:
        for path in ("/a", "/b", "/canary?q=canary"):
            client.get(path)
    found = counted(bot)
    assert {name: n for name, n in found.items() if name.startswith("failed")} == {
        'failed_answers_total{code="model-timeout"}': 2,
        'failed_answers_total{code="internal-error"}': 1,
    }
    assert {name: n for name, n in found.items() if name.startswith("problems")} == {
        'problems_total{code="model-timeout"}': 1,
        'problems_total{code="model-unavailable"}': 1,
        'problems_total{code="not-found"}': 3,
    }


def test_the_line_is_as_long_as_visitors_wait(bot: LiveServer) -> None:
    bot.chat.enqueue(SOURCES, HANG)
    with bot.client() as first, bot.client() as second:
        with first.stream("POST", "/api/chat", json=question()):
            wait_until(lambda: bot.chat.open_answers == 1)
            with second.stream("POST", "/api/chat", json=question()):
                wait_until(lambda: counted(bot)["queue_length"] == 1)
                assert counted(bot)["answers_open"] == 2
            wait_until(lambda: counted(bot)["queue_length"] == 0)
        wait_until(lambda: counted(bot)["answers_open"] == 0)


def test_ten_thousand_paths_make_no_new_series(bot: LiveServer) -> None:
    """E14: with 200 for the sake of time; each would be one, were paths labels."""
    before = len(counted(bot))
    with bot.client() as client:
        for number in range(200):
            client.get(f"/{number}?{number}")
    assert len(counted(bot)) == before + 1  # not-found
