"""Many visitors at once, by address: one allowance for each, one bound for all (A6, A7, A8).

A container with the gateway's own address stands in for it, so that visitors may have any address: the
stack itself listens on IPv4 only (docs/deployment.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import INSIDE, MODEL_QUESTION, Stack, docker, eventually
from tests.containers.test_stack import BURST, FIXED, SECONDS_EACH

NETWORK_FACTOR = 8
"""server.rate_limit.ipv6_network_factor"""
QUEUE = 8
"""server.queue_size"""

Visitors = Callable[..., Any]


@pytest.fixture(scope="module")
def visitors(stack: Stack) -> Iterator[Visitors]:
    """Runs `inside/visitors.py` in the place of the gateway."""
    project = stack.environment["COMPOSE_PROJECT_NAME"]
    stack.run("stop", "--timeout", "2", "gateway")

    def run(*arguments: str) -> Any:
        done = docker(
            "run", "--rm", "--network", f"{project}_entering",
            "--ip", f"{stack.environment['ENTERING_PREFIX']}.2", "--volume", f"{INSIDE}:/inside:ro",
            "--entrypoint", "python", "portfolio-bot/bot:local", "/inside/visitors.py", *arguments,
            check=False, timeout_seconds=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    yield run
    stack.run("start", "gateway")
    stack.wait_until_good()


def fits(found: dict[str, float], burst: int, a_minute: float) -> bool:
    """Whether the burst was allowed, and of the rest only what came back meanwhile."""
    came_back = found["seconds"] * a_minute / 60
    return min(burst, found["requests"]) <= found["allowed"] <= burst + came_back + 1


def test_a6_a7_a_64_is_one_visitor_and_a_48_is_bounded(visitors: Visitors, figure: Figure) -> None:
    found = visitors("count", "one /64", "300 /64 of one /48", "the next /48",
                     "IPv4 and the same mapped")  # fmt: skip
    rate = 60 / SECONDS_EACH
    assert fits(found["one /64"], BURST, rate), found
    assert fits(found["300 /64 of one /48"], NETWORK_FACTOR * BURST, NETWORK_FACTOR * rate), found
    assert found["the next /48"]["allowed"] == 3, "nobody pays for the neighbour"
    assert fits(found["IPv4 and the same mapped"], BURST, rate), found
    for row, kind in (("A6 IPv6 /64", "one /64"), ("A6 IPv6 /48", "300 /64 of one /48"),
                      ("A7 mapped", "IPv4 and the same mapped")):  # fmt: skip
        told = found[kind]
        figure(row, f"{told['requests']} requests of {kind} in {told['seconds']:.1f} s: "
               f"{told['allowed']} allowed")  # fmt: skip


def test_a8_a_crowd_of_addresses_meets_one_line(
    visitors: Visitors, stack: Stack, figure: Figure
) -> None:
    """Each one is within its own allowance; the model has one line for all, and the rest is told at once."""
    found = visitors("crowd", "120", MODEL_QUESTION)
    told = dict(found["told"])
    refused = sum(number for what, number in told.items() if "busy" in what)
    inside = 120 - refused
    assert 1 <= inside <= 1 + QUEUE, told
    assert set(told) <= {"503 busy", "busy", "queued", "sources", "progress", "chunk"}, told
    # All have left: nobody who is gone may hold the line.
    ask = ("exec", "-T", "bot", "chat-bot", "ask", "--json", FIXED["en"])
    back = eventually(lambda: stack.run(*ask, check=False).returncode == 0, "an answer")
    figure("A8 crowd", f"120 addresses ask the model at once: {inside} in the line of {1 + QUEUE}, "
           f"{refused} x busy, the slowest after {found['slowest_refusal']:.1f} s; "
           f"answers {back:.1f} s after they left")  # fmt: skip
