"""Each part broken on purpose while a visitor waits: what the visitor gets, and how it heals.

"Killed" means `kill -9` of the processes inside, as the kernel does it when memory runs out; a container
that `docker kill` ended would stay down by Docker's own rule.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import Answer, Stack, docker

MODEL_QUESTION = "How do customers pay in the clothes shop?"
FIXED_QUESTION = "Which projects are there?"
GAP_SECONDS = 20.0
"""The bot gives up on a model that sends nothing for so long (services/bot/bot/adapters/llamacpp.py)."""


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
    """Ask; do it when the first event of that type arrives; the answer, and seconds from then to its end."""
    done: list[float] = []

    def watch(event: dict[str, object]) -> None:
        if not done and event["type"] in (at, "chunk"):
            done.append(time.monotonic())
            threading.Thread(target=act).start()

    answer = stack.ask(MODEL_QUESTION, on_event=watch)
    assert done, f"the model was never asked: {answer.events or answer.problem}"
    return answer, time.monotonic() - done[0]


@pytest.mark.parametrize("at", ["progress", "chunk"])
def test_f1_the_model_is_killed(stack: Stack, figure: Figure, at: str) -> None:
    answer, seconds = during_answer(stack, lambda: kill(stack, "chat"), at=at)
    assert answer.last == "error", answer.events[-1]
    assert answer.events[-1]["retryable"] is True
    back = stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure(f"F1 model killed at {at}", f"error {answer.events[-1]['code']} after {seconds:.1f} s, "
           f"healthy by itself {back:.1f} s later")  # fmt: skip


def test_f2_the_model_hangs(stack: Stack, figure: Figure) -> None:
    chat = stack.container("chat")
    answer, seconds = during_answer(stack, lambda: docker("pause", chat), at="chunk")
    assert answer.last == "error", answer.events[-1]
    assert seconds < GAP_SECONDS + 3
    status, report = stack.health()
    assert status == 503
    assert report["components"]["llm"]["status"] == "unhealthy"
    docker("unpause", chat)
    back = stack.wait_until_good()
    figure("F2 model hangs", f"error {answer.events[-1]['code']} after {seconds:.1f} s, "
           f"healthy {back:.1f} s after it goes on")  # fmt: skip


def test_f5_no_embedding(stack: Stack, figure: Figure) -> None:
    stack.run("stop", "--timeout", "2", "embed")
    answer = stack.ask(MODEL_QUESTION)
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
    for _ in range(20):
        begun = time.monotonic()
        codes.append(httpx.post(f"{stack.url}/api/chat", json=body, timeout=30).status_code)
        slowest = max(slowest, time.monotonic() - begun)
        time.sleep(0.1)
    assert set(codes) <= {200, 429}, "neither 500 nor unlimited"
    assert 1 <= codes.count(200) <= 15
    assert slowest < 1.5
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
    while not took:
        time.sleep(0.1)
    assert took[0] < 25
    assert stack.inspect("bot")["State"]["ExitCode"] == 143
    assert "Task was destroyed" not in stack.run("logs", "bot").stdout
    away = httpx.post(f"{stack.url}/api/chat", json={"messages": []}, timeout=30)
    assert away.status_code in (502, 503)
    assert away.headers["retry-after"]
    assert away.headers["content-type"] == "application/problem+json"
    figure("F12 bot stopped", f"error restarting after {seconds:.1f} s, container ended in {took[0]:.1f} s, "
           f"then {away.status_code} with Retry-After")  # fmt: skip


def test_f13_the_bot_is_killed(stack: Stack, figure: Figure) -> None:
    """A stream whose bot died can have no last event: the widget must see that it has none."""
    ended = []
    slowest = 0.0
    for _ in range(3):
        broken = False
        try:
            answer, _ = during_answer(stack, lambda: kill(stack, "bot"))
            ended.append(answer.last)
        except (httpx.HTTPError, AssertionError):
            broken = True
            ended.append("cut")
        assert broken or answer.last != "done"
        slowest = max(slowest, stack.wait_until_good())
        assert stack.ask(FIXED_QUESTION).last == "done"
    figure("F13 bot killed", f"3 times; streams ended as {', '.join(ended)}; "
           f"healthy by itself after at most {slowest:.1f} s")  # fmt: skip


def test_f14_a_restart_in_place(stack: Stack, figure: Figure) -> None:
    """Questions that arrive while the bot restarts wait at the gateway (lb_try_duration)."""
    stop = threading.Event()
    codes: list[int] = []
    slowest = [0.0]

    def visitor() -> None:
        while not stop.is_set():
            begun = time.monotonic()
            try:
                reply = httpx.get(f"{stack.url}/api/info", timeout=30)
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


def test_d1_the_indexer_is_killed_at_random_moments(stack: Stack, figure: Figure) -> None:
    page = stack.data / "projects/killed.md"
    bad, kills = 0, 0
    moments = random.Random(7)
    try:
        for number in range(10):
            page.write_text(
                f"---\ntitle: Killed {number}\n---\n# Killed\n\nVersion {number} of a page.\n"
            )
            name = f"{stack.environment['COMPOSE_PROJECT_NAME']}-kill-{number}"
            stack.run("run", "--detach", "--no-deps", "--name", name, "indexer", "chat-bot-index")
            time.sleep(moments.uniform(0.1, 1.5))
            kills += docker("kill", name, check=False).returncode == 0
            docker("rm", "--force", name)
            status, report = stack.health()
            bad += status != 200 or report["components"]["store"]["status"] != "healthy"
            bad += stack.ask(FIXED_QUESTION).last != "done"
    finally:
        page.unlink(missing_ok=True)
        stack.run("run", "--rm", "indexer", "chat-bot-index", timeout_seconds=300)
    assert bad == 0
    figure("D1 indexer killed", f"{kills} kills of 10 runs, bad states {bad}")
