"""The way of a visitor through the whole stack, and of the owner's content into it."""

from __future__ import annotations

import asyncio
import json
import re
import time

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import JOBS, SERVICES, Stack, docker, eventually

FIXED = {"en": "Which projects are there?", "es": "¿Qué proyectos hay?"}
"""Answered without the model."""
OPEN = {
    "en": ("How do customers pay in the clothes shop?", r"pay|card|Bizum|Stripe|transfer"),
    "es": ("¿Con qué se paga en la tienda de ropa?", r"pag|tarjeta|Bizum|Stripe|transfer"),
}
BURST, SECONDS_EACH = 10, 2
"""server.rate_limit: so many at once, and one comes back in so many seconds."""
NEW_PAGE = """---
title: Zarandaja
date: 2026-01-02
lang: en
---
# Zarandaja

Zarandaja is a project about sorting 4711 lost umbrellas with a weather balloon.
"""


def test_it_starts_and_says_so(stack: Stack, figure: Figure) -> None:
    def states() -> dict[str, tuple[str, str, int]]:
        rows = map(json.loads, stack.run("ps", "--all", "--format", "json").stdout.splitlines())
        return {row["Service"]: (row["State"], row["Health"], row["ExitCode"]) for row in rows}

    # Docker looks each 5 to 10 s: after a test that broke something it still says "starting".
    healthy = dict.fromkeys(SERVICES, ("running", "healthy"))
    eventually(lambda: {name: states()[name][:2] for name in SERVICES} == healthy, "healthy")
    assert {name: states()[name][2] for name in JOBS} == dict.fromkeys(JOBS, 0)
    figure("L12 start", f"up --wait with an empty index: {stack.started_seconds:.0f} s to healthy")


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("mode", ["stream", "whole"])
def test_an_answer_with_sources(stack: Stack, language: str, mode: str, figure: Figure) -> None:
    question, expected = OPEN[language]
    if mode == "stream":
        answer = stack.ask(question)
        assert answer.status == 200
        assert answer.last == "done", answer.events[-1]
        text, files = answer.text, answer.files
        first = next(at for event, at in zip(answer.events, answer.seconds, strict=True)
                     if event["type"] == "chunk")  # fmt: skip
        kinds = [event["type"] for event in answer.events]
        assert kinds.index("sources") < kinds.index("chunk")
        apart = len({round(at, 2) for event, at in zip(answer.events, answer.seconds, strict=True)
                     if event["type"] == "chunk"})  # fmt: skip
        assert apart > 3, "pieces must not arrive in one"
        figure(f"happy path {language}", f"first word {first:.1f} s, whole {answer.seconds[-1]:.1f} s, "
               f"{apart} separate moments")  # fmt: skip
    else:
        body = {"messages": [{"role": "user", "content": question}], "stream": False}
        reply = httpx.post(f"{stack.url}/api/chat", json=body, timeout=900)
        assert reply.status_code == 200, reply.text
        text, files = reply.json()["content"], reply.json()["sources"]
    assert re.search(expected, text, re.IGNORECASE), text
    assert "clothes-shop.md" in files


def test_the_page_and_the_widget(stack: Stack) -> None:
    page = httpx.get(f"{stack.url}/")
    assert page.status_code == 200
    assert "text/html" in page.headers["content-type"]
    assert httpx.get(f"{stack.url}/api/info").json()["name"]


def test_a_second_up_embeds_nothing(stack: Stack, figure: Figure) -> None:
    begun = time.monotonic()
    stack.run("up", "--wait", "--detach", timeout_seconds=300)
    seconds = time.monotonic() - begun
    said = stack.run("logs", "--no-log-prefix", "indexer").stdout.splitlines()
    report = json.loads(
        [line for line in said if '"indexed_files"' in line][-1][said[-1].find("{") :]
    )
    assert report["embedded"] == 0
    assert report["reused"] == report["total_chunks"]
    figure(
        "second up", f"{seconds:.1f} s, embedded {report['embedded']}, reused {report['reused']}"
    )


def test_new_content_is_in_service_without_a_restart(stack: Stack, figure: Figure) -> None:
    def built_at() -> str:
        return str(stack.health()[1]["components"]["store"]["details"]["built_at"])

    started = stack.inspect("bot")["State"]["StartedAt"]
    before = built_at()
    page = stack.data / "projects/zarandaja.md"
    page.write_text(NEW_PAGE)
    stack.run("run", "--rm", "indexer", "chat-bot-index", timeout_seconds=300)
    begun = time.monotonic()
    try:
        eventually(lambda: built_at() != before, "the new index")
        figure("swap", f"the new index is in service {time.monotonic() - begun:.1f} s after the indexer's "
               "end, no restart")  # fmt: skip
        assert "zarandaja.md" in stack.ask("What is Zarandaja?").files
    finally:
        page.unlink()
        stack.run("run", "--rm", "indexer", "chat-bot-index", timeout_seconds=300)
    assert stack.inspect("bot")["State"]["StartedAt"] == started


def test_a_failed_reindex_keeps_the_old_index(stack: Stack) -> None:
    aside = stack.data.with_name("data-aside")
    kept = stack.execute("bot", "cat", "/index/current.json").stdout
    moved = sorted(stack.data.iterdir())
    aside.mkdir()
    try:
        for folder in moved:
            folder.rename(aside / folder.name)
        failed = stack.run("run", "--rm", "indexer", "chat-bot-index", check=False)
        assert failed.returncode != 0
        # The job of `up` says it and lets the bot start.
        tolerant = stack.run("run", "--rm", "indexer", check=False)
        assert tolerant.returncode == 0, tolerant.stderr
        assert "WARNING" in tolerant.stderr + tolerant.stdout
    finally:
        for folder in moved:
            (aside / folder.name).rename(folder)
        aside.rmdir()
    assert stack.execute("bot", "cat", "/index/current.json").stdout == kept
    assert stack.ask(FIXED["en"]).last == "done"


def give_back_all_allowances(stack: Stack) -> None:
    """An empty Redis: waiting for a full allowance takes BURST * SECONDS_EACH = 20 s each time."""
    stack.run("stop", "--timeout", "2", "redis")
    # Seen to be away, so that the good report below is not one of before.
    eventually(lambda: stack.component("redis") != "healthy", "a bot that misses Redis")
    stack.run("start", "redis")
    stack.wait_until_good()


def flood(stack: Stack, requests: int) -> tuple[list[int], float]:
    """Status codes of so many questions at once, each with another forged address, and the seconds."""
    body = {"messages": [{"role": "user", "content": FIXED["en"]}], "stream": False}

    async def ask_all() -> tuple[list[int], float]:
        # 800 wait for 100 connections: that wait is the client's own and has no limit.
        limits = httpx.Limits(max_connections=100)
        patience = httpx.Timeout(60, pool=None)
        async with httpx.AsyncClient(limits=limits, timeout=patience) as client:

            async def one(number: int) -> int:
                forged = {
                    "X-Forwarded-For": f"10.1.{number // 250}.{number % 250}",
                    "X-Real-IP": "9.9.9.9",
                }
                reply = await client.post(f"{stack.url}/api/chat", json=body, headers=forged)
                if reply.status_code == 429:
                    assert int(reply.headers["retry-after"]) >= 1
                return reply.status_code

            begun = time.monotonic()
            codes = await asyncio.gather(*(one(number) for number in range(requests)))
            return codes, time.monotonic() - begun

    return asyncio.run(ask_all())


def check_allowance(codes: list[int], seconds: float) -> str:
    """What was allowed is the burst and what came back meanwhile; the line for the table."""
    # 503: within the allowance, but the line for the model was full.
    assert set(codes) <= {200, 429, 503}
    allowed, refused = len(codes) - codes.count(429), codes.count(429)
    came_back = int(seconds / SECONDS_EACH)
    assert BURST <= allowed <= BURST + came_back + 1
    return (
        f"{len(codes)} requests in {seconds:.1f} s: {allowed} allowed (burst {BURST}, "
        f"{came_back} came back), {codes.count(503)} of them found the line full, {refused} refused"
    )


def test_a_flood_from_one_address_gets_exactly_its_allowance(stack: Stack, figure: Figure) -> None:
    give_back_all_allowances(stack)
    figure("A1 flood", check_allowance(*flood(stack, 800)))
    assert stack.health()[0] == 200


def test_two_bots_share_one_allowance(stack: Stack, figure: Figure) -> None:
    scale = ("up", "--detach", "--wait", "--no-deps", "--no-recreate", "--scale")
    give_back_all_allowances(stack)
    try:
        stack.run(*scale, "bot=2", "bot", timeout_seconds=120)
        figure("A3 two bots", check_allowance(*flood(stack, 120)))
        asked = [docker("logs", name).stderr.count('"/api/chat"')
                 for name in stack.run("ps", "--quiet", "bot").stdout.split()]  # fmt: skip
        assert len(asked) == 2
        assert min(asked) > 0, "both must have been asked"
    finally:
        stack.run(*scale, "bot=1", "bot", timeout_seconds=120)


def test_who_is_not_the_gateway_can_forge_nothing(stack: Stack, figure: Figure) -> None:
    """Straight at the bot, from a container beside it (A5)."""
    body = json.dumps({"messages": [{"role": "user", "content": FIXED["en"]}], "stream": False})
    script = (
        "i=0; while [ $i -lt 24 ]; do curl -s -o /dev/null -w '%{http_code} ' -m 60 "
        f"-H 'Content-Type: application/json' -H \"X-Forwarded-For: 203.0.113.$i\" -d '{body}' "
        "http://bot:7331/api/chat & i=$((i+1)); done; wait"
    )
    begun = time.monotonic()
    codes = stack.execute("chat", "sh", "-c", script).stdout.split()
    came_back = (time.monotonic() - begun) / SECONDS_EACH
    assert len(codes) == 24
    assert codes.count("429") >= 24 - BURST - came_back - 1, codes
    figure("A5 forged beside", f"24 addresses claimed, {codes.count('200')} answered, "
           f"{codes.count('429')} refused: one allowance")  # fmt: skip
