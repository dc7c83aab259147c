"""Redis full, and networks that come apart: the bot decides alone, and heals without a restart (F9, F15)."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import MODEL_QUESTION, ROOT, Stack, docker, eventually
from tests.containers.test_faults import FIXED_QUESTION, during_answer
from tests.containers.test_stack import BURST, SECONDS_EACH

QUESTIONS = 30
# Runs inside a bot's container: so many questions as it is told, one after the other, then its health.
ASK_ALL = f"""
import httpx, json, sys, time
url = "http://127.0.0.1:7331/api/"
body = {{"messages": [{{"role": "user", "content": "{FIXED_QUESTION}"}}], "stream": False}}
begun = time.monotonic()
with httpx.Client(timeout=60) as http:
    codes = [http.post(url + "chat", json=body).status_code for _ in range(int(sys.argv[1]))]
    seconds = time.monotonic() - begun
    redis = http.get(url + "health").json()["components"]["redis"]
print(json.dumps({{"codes": codes, "seconds": seconds, "redis": redis}}))
"""
FILLER = ("redis-cli", "--no-auth-warning", "--user", "filler", "--pass", "-")
# Until nothing fits; then the limit goes down, since what a closed connection gives back is room again.
FILL = """
value=$(head -c 20000 /dev/zero | tr '\\0' x)
{ i=0; while [ $i -lt 200 ]; do echo "set x:$i $value"; i=$((i+1)); done; echo "config set maxmemory 1mb"
  echo "set x y"; } | CLI
""".replace("CLI", " ".join(FILLER))

pytestmark = pytest.mark.faults


def test_f9_redis_is_full(stack: Stack, tmp_path: Path, figure: Figure) -> None:
    """2 MB, full of keys that never end, so that nothing may be evicted. A Redis and a bot of their own."""
    folder = tmp_path / "redis"
    shutil.copytree(ROOT / "services/redis", folder)
    settings = (folder / "redis.conf").read_text("utf-8")
    (folder / "redis.conf").write_text(settings.replace("maxmemory 64mb", "maxmemory 2mb"))
    with (folder / "users.acl").open("a") as file:
        file.write("\nuser filler on nopass ~* resetchannels -@all +set +ping +config|set\n")
    # Another place for the password: a second volume for the same folder would not be taken.
    start = (folder / "start.sh").read_text("utf-8")
    (folder / "start.sh").write_text(start.replace("data=/data", "data=/full"))
    for path in (tmp_path, folder, *folder.iterdir()):
        path.chmod(0o755)
    project = stack.environment["COMPOSE_PROJECT_NAME"]
    volume = f"{project}-full"
    docker("volume", "rm", "--force", volume)
    docker("volume", "create", "--driver", "local", "--opt", "type=tmpfs", "--opt", "device=tmpfs",
           "--opt", "o=size=1m,uid=999,gid=10001", volume)  # fmt: skip
    try:
        with stack.another("redis", "--volume", f"{folder}:/settings:ro", "--volume", f"{volume}:/full",
                           "--entrypoint", "sh /settings/start.sh") as redis:  # fmt: skip
            eventually(lambda: "PONG" in redis(*FILLER, "ping", check=False).stdout, "a Redis")
            url = f"PORTFOLIO_BOT__REDIS__URL=redis://{project}-extra-redis:6379"
            password = "PORTFOLIO_BOT__REDIS__PASSWORD_FILE=/full/bot.password"
            with stack.another(
                "bot", "-e", url, "-e", password, "--volume", f"{volume}:/full:ro"
            ) as bot:
                ask: Callable[[int], Any] = lambda times: json.loads(bot(  # noqa: E731
                    "python", "-c", ASK_ALL, str(times)).stdout)  # fmt: skip
                eventually(lambda: bot("chat-bot", "health", check=False).returncode == 0, "a bot")
                before = ask(1)
                assert before["redis"]["status"] == "healthy", before["redis"]
                assert "OOM" in redis("sh", "-c", FILL, timeout_seconds=300).stdout
                time.sleep(SECONDS_EACH)  # a full allowance, by whichever limiter
                found = ask(QUESTIONS)
    finally:
        docker("volume", "rm", "--force", volume, check=False)
    codes = Counter(found["codes"])
    assert set(codes) <= {200, 429}, codes
    assert 1 <= codes[200] <= BURST + found["seconds"] / SECONDS_EACH + 1, codes
    assert found["redis"]["status"] == "degraded", found["redis"]
    assert found["redis"]["details"]["problem"] == "redis-full"
    figure("F9 redis full", f"{QUESTIONS} questions in {found['seconds']:.1f} s: {codes[200]} answered, "
           f"{codes[429]} x 429, no 5xx; health degraded, redis-full")  # fmt: skip


def network(stack: Stack, name: str, action: str) -> None:
    """Take the bot out of one of its networks, or put it back."""
    project = stack.environment["COMPOSE_PROJECT_NAME"]
    # Compose gives the service's name to a container's address; without it nobody finds the bot there again.
    options = ["--alias", "bot"] if action == "connect" else []
    docker("network", action, *options, f"{project}_{name}", stack.container("bot"))


def test_f15_the_network_to_redis_comes_apart(stack: Stack, figure: Figure) -> None:
    started = stack.inspect("bot")["State"]["StartedAt"]
    network(stack, "remembering", "disconnect")
    try:
        codes: Counter[int] = Counter()
        body = {"messages": [{"role": "user", "content": FIXED_QUESTION}], "stream": False}
        for _ in range(20):
            codes[httpx.post(f"{stack.url}/api/chat", json=body, timeout=60).status_code] += 1
        assert set(codes) <= {200, 429}, codes
        assert codes[200] >= 1
        assert stack.component("redis") == "degraded"
        assert stack.health()[0] == 200
    finally:
        network(stack, "remembering", "connect")
    back = stack.wait_until_good()
    assert stack.inspect("bot")["State"]["StartedAt"] == started
    figure("F15 cut from redis", f"{codes[200]} answered, {codes[429]} x 429, no 5xx; healthy {back:.1f} s "
           "after the network is back, no restart")  # fmt: skip


def test_f15_the_network_to_the_models_comes_apart(
    stack: Stack, page_is_read: None, figure: Figure
) -> None:
    """Nothing closes the connections: the bot has only its deadlines."""
    started = stack.inspect("bot")["State"]["StartedAt"]
    try:
        answer, seconds = during_answer(
            stack, lambda: network(stack, "answering", "disconnect"), at="chunk"
        )
        assert answer.last == "error", answer.events[-1]
        assert stack.health()[0] == 503
        refused = stack.ask(MODEL_QUESTION)
        assert refused.broke_off or refused.status == 503
    finally:
        network(stack, "answering", "connect")
    back = stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    assert stack.inspect("bot")["State"]["StartedAt"] == started
    figure("F15 cut from models", f"error {answer.events[-1]['code']} after {seconds:.1f} s, then 503; "
           f"healthy {back:.1f} s after the network is back, no restart")  # fmt: skip
