"""Memory of every container against its limit: idle, and at most while questions are answered.

    python -m bench.footprint --start tiny|default|3b [--questions 6] [--json]
    python -m bench.footprint [--url http://127.0.0.1:8080] [--questions 6] [--json]

With `--start` it starts a stack of its own, in the size of that profile's block in .env.example, and
removes it; `3b` then has random weights of the real shape. Without, it measures the stack that runs
already (`make up`). Counted: anonymous memory and mapped files, a model's weights among them, but not
cached files, which the kernel drops first. Pages of a model's file count for the container that read
them first: after a download that is the job `models`, so restart the machine, or drop its caches, before
measuring `chat` (`--start` drops them, as root).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec

from bench.figures import table
from bench.own_stack import own_stack

QUESTIONS = (
    "How do customers pay in the clothes shop?",
    "¿Con qué se paga en la tienda de ropa?",
    "Is there a terminal agent written in Go?",
    "¿Cómo trabaja el estudio?",
    "Which languages does the museum guide speak?",
    "¿Qué es RAG?",
)
SAMPLE_SECONDS = 0.5
MEMORY = "cat /sys/fs/cgroup/memory.stat 2>/dev/null || cat /sys/fs/cgroup/memory/memory.stat"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.footprint", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--patience", type=float, default=3600.0, metavar="SECONDS",
                        help="leave a question that takes longer; its memory counts")  # fmt: skip
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--start", metavar="PROFILE", help="start a stack of its own")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.start:
        with own_stack(options.start) as url:
            drop_caches()
            result = measure(url, options.questions, options.patience)
    else:
        result = measure(options.url, options.questions, options.patience)
    if options.json:
        print(msgspec.json.encode(result).decode())
        return
    rows = [[name, part["limit_mb"], part["idle_mb"], part["peak_mb"], part["killed"]]
            for name, part in result["containers"].items()]  # fmt: skip
    rows.append(
        ["sum", *(result["sum"][key] for key in ("limit_mb", "idle_mb", "peak_mb", "killed"))]
    )
    print(f"profile {result['profile']}, {result['answered']} answers")
    print(table(["container", "limit MB", "idle MB", "peak MB", "out of memory"], rows))


def measure(url: str, questions: int, patience_seconds: float) -> dict[str, Any]:
    """Ask, and look at the containers meanwhile; MB are millions of bytes."""
    containers = running()
    idle = usage(containers)
    peak = dict(idle)
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            for name, used in usage(containers).items():
                peak[name] = max(peak[name], used)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        answered = sum(
            ask(url, QUESTIONS[number % len(QUESTIONS)], patience_seconds)
            for number in range(questions)
        )
    finally:
        stop.set()
        watcher.join()
    parts = {}
    for name, identity in containers.items():
        state = inspect(identity)
        parts[name] = {
            "limit_mb": round(state["HostConfig"]["Memory"] / 1e6),
            "idle_mb": round(idle[name] / 1e6),
            "peak_mb": round(peak[name] / 1e6),
            "killed": int(state["State"]["OOMKilled"]) + state["RestartCount"],
        }
    total = {key: sum(part[key] for part in parts.values())
             for key in ("limit_mb", "idle_mb", "peak_mb", "killed")}  # fmt: skip
    command = " ".join(inspect(containers["bot"])["Config"]["Entrypoint"])
    profile = command.partition("--profile ")[2].partition(" ")[0]
    return {"profile": profile, "answered": answered, "containers": parts, "sum": total}


def drop_caches() -> None:
    """Give every model's pages to the container that reads them next; only root may."""
    docker("compose", "stop", "chat", "embed")
    if os.geteuid() == 0:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("1")
    docker("compose", "up", "--detach", "--wait")


def docker(*arguments: str) -> str:
    """What `docker` prints."""
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout


def running() -> dict[str, str]:
    """Container ids by service."""
    listed = docker("compose", "ps", "--format", "json")
    rows = [json.loads(line) for line in listed.splitlines()]
    return {row["Service"]: row["ID"] for row in rows}


def inspect(identity: str) -> dict[str, Any]:
    """What the engine knows about one container."""
    found: dict[str, Any] = json.loads(docker("inspect", identity))[0]
    return found


def usage(containers: dict[str, str]) -> dict[str, float]:
    """Bytes in use by service: anonymous memory and mapped files, a model's weights among them."""
    return {
        name: in_use(docker("exec", identity, "sh", "-c", MEMORY))
        for name, identity in containers.items()
    }


def in_use(statistics: str) -> float:
    """`memory.stat` of a control group, version 1 or 2, in bytes."""
    fields = dict(line.split() for line in statistics.splitlines())
    if "anon" in fields:
        return float(fields["anon"]) + float(fields["file_mapped"])
    return float(fields["total_rss"]) + float(fields["total_mapped_file"])


def ask(url: str, question: str, patience_seconds: float) -> bool:
    """Whether the question was answered to the end, before the visitor left."""
    body = {"messages": [{"role": "user", "content": question}], "stream": False}
    try:
        reply = httpx.post(f"{url}/api/chat", json=body, timeout=patience_seconds)
    except httpx.ReadTimeout:
        return False
    return reply.status_code == 200


if __name__ == "__main__":
    main()
