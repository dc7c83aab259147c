"""Each part broken on purpose while a visitor waits: what the visitor gets, and how it heals.

"Killed" means `kill -9` of the processes inside, as the kernel does it when memory runs out; a container
that `docker kill` ended would stay down by Docker's own rule.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import (
    MODEL_QUESTION,
    UNREAD_QUESTION,
    Answer,
    Stack,
    docker,
    eventually,
)
from tests.containers.test_stack import BURST, SECONDS_EACH

SHORT_QUESTION = "How do customers pay in the clothes shop?"
FIXED_QUESTION = "Which projects are there?"
pytestmark = pytest.mark.faults

GAP_SECONDS = 20.0
"""The bot gives up on a model that sends nothing for so long (services/bot/bot/adapters/llamacpp.py)."""
SLACK_SECONDS = 30.0
"""For a machine with other work; without the deadline under test each of these would take minutes."""


@pytest.fixture(autouse=True)
def heal(stack: Stack) -> Iterator[None]:
    """Every test starts and ends with a stack that is well."""
    yield
    for service in ("chat", "embed", "redis", "bot", "gateway"):
        state = stack.inspect(service)["State"]
        if state["Paused"]:
            stack.run("unpause", service)
        elif not state["Running"]:
            stack.run("start", service)
    stack.wait_until_good()


def kill(stack: Stack, service: str) -> None:
    """`kill -9` of everything in the container but its first process, which then ends."""
    stack.execute(service, "sh", "-c", "kill -9 -1")


def during_answer(
    stack: Stack, act: Callable[[], object], *, at: str = "progress"
) -> tuple[Answer, float]:
    """Ask; do it when the first event of that type arrives; the answer, and seconds from then to its end.

    `chunk` is after the model's reading, everything else before or during it.
    """
    question = MODEL_QUESTION if at == "chunk" else UNREAD_QUESTION
    done: list[float] = []

    def watch(event: dict[str, object]) -> None:
        if not done and event["type"] in (at, "chunk"):
            done.append(time.monotonic())
            threading.Thread(target=act).start()

    answer = stack.ask(question, on_event=watch)
    assert done, f"the model was never asked: {answer.events or answer.problem}"
    return answer, time.monotonic() - done[0]


@pytest.mark.parametrize("at", ["progress", "chunk"])
def test_f1_the_model_is_killed(stack: Stack, page_is_read: None, figure: Figure, at: str) -> None:
    answer, seconds = during_answer(stack, lambda: kill(stack, "chat"), at=at)
    assert answer.broke_off, answer.events[-1]
    assert at == "progress" or answer.last == "error", answer.events[-1]
    back = stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure(f"F1 model killed at {at}", f"{answer.ending} after {seconds:.1f} s, "
           f"healthy by itself {back:.1f} s later")  # fmt: skip


def test_f2_the_model_hangs(stack: Stack, page_is_read: None, figure: Figure) -> None:
    chat = stack.container("chat")
    answer, seconds = during_answer(stack, lambda: docker("pause", chat), at="chunk")
    assert answer.last == "error", answer.events[-1]
    assert seconds < GAP_SECONDS + SLACK_SECONDS
    status, report = stack.health()
    assert status == 503
    assert report["components"]["llm"]["status"] == "unhealthy"
    docker("unpause", chat)
    back = stack.wait_until_good()
    figure("F2 model hangs", f"error {answer.events[-1]['code']} after {seconds:.1f} s, "
           f"healthy {back:.1f} s after it goes on")  # fmt: skip


def test_f5_no_embedding(stack: Stack, figure: Figure) -> None:
    stack.run("stop", "--timeout", "2", "embed")
    answer = stack.ask(SHORT_QUESTION)
    assert answer.status == 200
    assert answer.last == "done", answer.events[-1]
    assert "clothes-shop.md" in answer.files, "keywords find it too"
    assert stack.component("embeddings") == "degraded"
    assert stack.health()[0] == 200
    stack.run("start", "embed")
    back = stack.wait_until_good()
    figure("F5 embed stopped", f"answered by keywords, degraded; healthy {back:.1f} s after start")


@pytest.mark.parametrize(("case", "act", "undo"), [
    ("F6 redis stopped", ("stop", "--timeout", "2"), "start"), ("F7 redis hangs", ("pause",), "unpause"),
])  # fmt: skip
def test_f6_f7_no_redis(
    stack: Stack, figure: Figure, case: str, act: tuple[str, ...], undo: str
) -> None:
    stack.run(*act, "redis")
    codes: list[int] = []
    slowest = 0.0
    body = {"messages": [{"role": "user", "content": FIXED_QUESTION}], "stream": False}
    first = time.monotonic()
    for _ in range(20):
        begun = time.monotonic()
        codes.append(httpx.post(f"{stack.url}/api/chat", json=body, timeout=60).status_code)
        slowest = max(slowest, time.monotonic() - begun)
    came_back = (time.monotonic() - first) / SECONDS_EACH
    assert set(codes) <= {200, 429}, "neither 500 nor unlimited"
    assert 1 <= codes.count(200) <= BURST + came_back + 1
    assert slowest < SLACK_SECONDS
    assert stack.component("redis") != "healthy"
    assert stack.health()[0] == 200
    stack.run(undo, "redis")
    back = stack.wait_until_good()
    figure(case, f"{codes.count(200)} answered, {codes.count(429)} x 429, no 5xx, slowest "
           f"{slowest * 1000:.0f} ms; healthy {back:.1f} s after it is back")  # fmt: skip


def test_f8_redis_loses_everything(stack: Stack) -> None:
    assert stack.ask(FIXED_QUESTION).last == "done"
    stack.run("restart", "--timeout", "2", "redis")
    answer = stack.ask(FIXED_QUESTION)
    assert answer.status == 200
    assert answer.last == "done"


def test_f12_the_bot_is_stopped_while_it_answers(stack: Stack, figure: Figure) -> None:
    took: list[float] = []

    def stop() -> None:
        begun = time.monotonic()
        stack.run("stop", "bot")
        took.append(time.monotonic() - begun)

    answer, seconds = during_answer(stack, stop)
    assert answer.last == "error", answer.events[-1]
    assert answer.events[-1]["code"] == "restarting"
    eventually(lambda: took, "the container has ended")
    # Ended by itself: after its grace of 30 s Docker would have killed it (137).
    assert stack.inspect("bot")["State"]["ExitCode"] == 143
    assert "Task was destroyed" not in stack.run("logs", "bot").stdout
    away = httpx.post(f"{stack.url}/api/chat", json={"messages": []}, timeout=60)
    assert away.status_code in (502, 503)
    assert away.headers["retry-after"]
    assert away.headers["content-type"] == "application/problem+json"
    figure("F12 bot stopped", f"error restarting after {seconds:.1f} s, container ended in {took[0]:.1f} s, "
           f"then {away.status_code} with Retry-After")  # fmt: skip


def test_f13_the_bot_is_killed(stack: Stack, figure: Figure) -> None:
    """A stream whose bot died can have no last event: the widget must see that it has none."""
    try:
        answer, _ = during_answer(stack, lambda: kill(stack, "bot"))
        ended = answer.last
    except (httpx.HTTPError, AssertionError):  # the latter: cut inside an event
        ended = "cut"
    assert ended != "done"
    back = stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure("F13 bot killed", f"the stream ended as {ended}; healthy by itself after {back:.1f} s")


def test_f14_a_restart_in_place(stack: Stack, figure: Figure) -> None:
    """Questions that arrive while the bot restarts wait at the gateway (lb_try_duration)."""
    stop = threading.Event()
    codes: list[int] = []
    slowest = [0.0]

    def visitor() -> None:
        while not stop.is_set():
            begun = time.monotonic()
            try:
                reply = httpx.get(f"{stack.url}/api/info", timeout=60)
                codes.append(reply.status_code)
                if reply.status_code >= 500:
                    assert reply.headers["content-type"] == "application/problem+json"
                    assert reply.headers["retry-after"]
            except httpx.HTTPError:
                codes.append(0)
            slowest[0] = max(slowest[0], time.monotonic() - begun)
            time.sleep(0.1)

    thread = threading.Thread(target=visitor)
    thread.start()
    stack.run("restart", "bot")
    stack.wait_until_good()
    stop.set()
    thread.join()
    assert 0 not in codes
    failed = len([code for code in codes if code >= 500])
    figure("F14 restart", f"{len(codes)} requests meanwhile, {failed} x 502/503 with Retry-After, "
           f"slowest {slowest[0]:.1f} s")  # fmt: skip


def test_c11_health_tells_the_truth(stack: Stack, figure: Figure) -> None:
    started = stack.inspect("bot")["State"]["StartedAt"]
    told = {}
    for service, component in (("chat", "llm"), ("embed", "embeddings"), ("redis", "redis")):
        stack.run("stop", "--timeout", "2", service)
        time.sleep(1.5)  # results are shared for 1 s
        status, report = stack.health(deep=True)
        told[service] = f"{status} {report['status']}"
        assert report["components"][component]["status"] != "healthy"
        stack.run("start", service)
        stack.wait_until_good()
    assert told["chat"].startswith("503")
    assert told["embed"].startswith("200")
    assert told["redis"].startswith("200")
    assert stack.inspect("bot")["State"]["StartedAt"] == started, (
        "nobody restarts a bot for its parts"
    )
    figure("C11 health", "; ".join(f"without {name}: {text}" for name, text in told.items()))
