"""The language model mute, out of memory, and asked by visitors who do not wait (F3, F21, A12)."""

from __future__ import annotations

import json
import time

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import (
    MODEL_QUESTION,
    PROJECT,
    SERVICES,
    UNREAD_QUESTION,
    Stack,
    docker,
    eventually,
)
from tests.containers.test_faults import FIXED_QUESTION, during_answer
from tests.containers.test_stack import BURST, give_back_all_allowances

FIRST_TOKEN_SECONDS = 3.0
LEAVERS = 40
QUIET_SHARE = 0.05
"""A llama-server with nothing to do takes far less of a CPU than this."""

pytestmark = pytest.mark.faults


def test_f3_a_model_that_takes_the_question_and_says_nothing(stack: Stack, figure: Figure) -> None:
    """Not even headers: the deadline of the first token ends it. A bot of its own, with a shorter one."""
    program = (
        "import socket, time\n"
        "listener = socket.create_server(('', 8080), backlog=100)\n"
        "held = []\n"
        "while True: held.append(listener.accept())"
    )
    mute = f"{stack.environment['COMPOSE_PROJECT_NAME']}-extra-mute"
    docker("rm", "--force", mute, check=False)
    docker("run", "--detach", "--name", mute, "--network",
           f"{stack.environment['COMPOSE_PROJECT_NAME']}_answering", "--entrypoint", "python",
           "portfolio-bot/bot:local", "-c", program)  # fmt: skip
    provider = "PORTFOLIO_BOT__PROVIDERS__0__"
    try:
        with stack.another("bot", "-e", f"{provider}ENDPOINT=http://{mute}:8080", "-e",
                           f"{provider}FIRST_TOKEN_SECONDS={FIRST_TOKEN_SECONDS}") as execute:  # fmt: skip
            ready = ("python", "-c", "import socket; socket.create_connection(('127.0.0.1', 7331))")
            eventually(lambda: execute(*ready, check=False).returncode == 0, "a bot that listens")
            begun = time.monotonic()
            said = execute("chat-bot", "ask", "--json", MODEL_QUESTION, check=False)
            seconds = time.monotonic() - begun
            health = json.loads(execute("python", "-c", "import httpx; print(httpx.get("
                                        "'http://127.0.0.1:7331/api/health').text)").stdout)  # fmt: skip
            log = docker("logs", f"{PROJECT}-extra-bot").stderr
    finally:
        docker("rm", "--force", mute, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert json.loads(said.stdout)["passages"], "the passages themselves are the answer"
    assert '"code": "model-timeout"' in log
    assert FIRST_TOKEN_SECONDS <= seconds < FIRST_TOKEN_SECONDS + 30
    assert health["components"]["llm"]["status"] == "unhealthy"
    figure("F3 model mute", f"model-timeout, answered with passages after {seconds:.1f} s (deadline "
           f"{FIRST_TOKEN_SECONDS:.0f} s and the program's own start); health unhealthy")  # fmt: skip


def test_f21_the_model_runs_out_of_memory(stack: Stack, figure: Figure) -> None:
    """The kernel itself kills it, at the container's limit; nothing else may notice."""
    before = {name: stack.inspect(name)["State"]["StartedAt"] for name in SERVICES}
    limit = stack.inspect("chat")["HostConfig"]["Memory"]
    # llama-server offers itself as the first to go, then a second program takes all there is.
    hungry = (
        "for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in llama-server*) "
        "echo 1000 >$p/oom_score_adj;; esac; done; "
        f"head -c {2 * limit} /dev/zero | tail -c {2 * limit} >/dev/null"
    )
    answer, seconds = during_answer(
        stack, lambda: stack.execute("chat", "sh", "-c", hungry), at="sources"
    )
    assert answer.broke_off, answer.events[-1]
    back = stack.wait_until_good()
    after = {name: stack.inspect(name)["State"]["StartedAt"] for name in SERVICES}
    assert [name for name in SERVICES if before[name] != after[name]] == ["chat"]
    assert stack.inspect("chat")["RestartCount"] >= 1
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure("F21 out of memory", f"the kernel ended chat at {limit / 2**20:.0f} MiB and no other "
           f"container: {answer.ending} after {seconds:.1f} s, healthy by itself "
           f"{back:.1f} s later")  # fmt: skip


def cpu_seconds(stack: Stack) -> float:
    """CPU time that the processes of `chat` have used so far."""
    program = "for p in /proc/[0-9]*; do cat $p/stat 2>/dev/null; done; getconf CLK_TCK"
    *lines, ticks = stack.execute("chat", "sh", "-c", program).stdout.splitlines()
    used = [line.rpartition(")")[2].split()[11:13] for line in lines if "(llama-server)" in line]
    return sum(int(user) + int(system) for user, system in used) / int(ticks)


def quiet(stack: Stack) -> bool:
    """Whether the model computes nothing."""
    begun, before = time.monotonic(), cpu_seconds(stack)
    time.sleep(0.5)
    return cpu_seconds(stack) - before < QUIET_SHARE * (time.monotonic() - begun)


def cancelled(stack: Stack) -> int:
    """Tasks that the chat server broke off because whoever asked had gone."""
    return stack.run("logs", "chat").stdout.count("cancel task")


def leave(stack: Stack, question: str, at: tuple[str, ...]) -> str:
    """Ask, and close the connection at the first event of such a type; what it was, or the refusal."""
    body = {"messages": [{"role": "user", "content": question}]}
    with httpx.stream("POST", f"{stack.url}/api/chat", json=body, timeout=900) as reply:
        if reply.status_code != 200:
            time.sleep(float(json.loads(reply.read()) and reply.headers["retry-after"]))
            return str(reply.status_code)
        for line in reply.iter_lines():
            if line.startswith("data:") and (kind := json.loads(line[5:])["type"]) in at:
                return str(kind)
    return "ended"


def test_a12_who_leaves_takes_the_work_along(
    stack: Stack, page_is_read: None, figure: Figure
) -> None:
    """Also while the prompt is read (llama.cpp#24496, #13262 tell of misses in other builds)."""
    freed = {}
    for phase, question, at in (
        ("sources", UNREAD_QUESTION, ("sources",)),
        ("prompt", UNREAD_QUESTION, ("progress", "chunk")),
        ("words", MODEL_QUESTION, ("chunk",)),
    ):
        eventually(lambda: quiet(stack), "an idle model", seconds=240)
        before = cancelled(stack)
        while leave(stack, question, at) not in at:
            pass
        freed[phase] = eventually(lambda: quiet(stack), f"a free model after {phase}", seconds=120)
        # A page is read in requests of one batch, but an answer is one: it has to be broken off.
        assert phase != "words" or cancelled(stack) > before
    left = []
    for number in range(LEAVERS):
        if number % BURST == 0:
            give_back_all_allowances(stack)
        left.append(leave(stack, MODEL_QUESTION, ("sources", "queued", "progress", "chunk")))
    burst = eventually(lambda: quiet(stack), "a free model after all left", seconds=240)
    stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    gone = LEAVERS - left.count("429") - left.count("503")
    assert gone > 0
    figure("A12 model freed", "idle again (to 0.5 s) after leaving at "
           + ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in freed.items())
           + f"; after {gone} who asked and left {burst:.1f} s")  # fmt: skip
