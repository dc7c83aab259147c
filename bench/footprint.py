"""Memory of every container against its limit: idle, and at most while questions are answered.

    python -m bench.footprint [--questions 6] [--url http://127.0.0.1:8080] [--json]

Measures the stack that runs already (`make up`), with the PROFILE of its environment. "Resident" is what
the kernel can't take back (anonymous memory, mapped pages in use); a limit also counts cached files,
which the kernel drops first. Pages of a model's file count for the container that read them first: after
a download that is the job `models`, so restart the machine, or drop its caches, before measuring `chat`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from bench.figures import table

QUESTIONS = (
    "How do customers pay in the clothes shop?",
    "¿Con qué se paga en la tienda de ropa?",
    "Is there a terminal agent written in Go?",
    "¿Cómo trabaja el estudio?",
    "Which languages does the museum guide speak?",
    "¿Qué es RAG?",
)
SAMPLE_SECONDS = 0.5
UNITS = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.footprint", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.url, options.questions)
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


def measure(url: str, questions: int) -> dict[str, Any]:
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
        answered = sum(ask(url, QUESTIONS[number % len(QUESTIONS)]) for number in range(questions))
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
    """Bytes in use by service, as `docker stats` counts them: without inactive cached files."""
    lines = docker("stats", "--no-stream", "--format", "{{.ID}} {{.MemUsage}}",
                   *containers.values()).splitlines()  # fmt: skip
    found = {line.split()[0][:12]: parse(line.split()[1]) for line in lines}
    return {name: found[identity[:12]] for name, identity in containers.items()}


def parse(text: str) -> float:
    """`53.4MiB` in bytes."""
    unit = text.lstrip("0123456789.")
    return float(text[: -len(unit)]) * UNITS[unit]


def ask(url: str, question: str) -> bool:
    """Whether the question was answered to the end."""
    body = {"messages": [{"role": "user", "content": question}], "stream": False}
    return httpx.post(f"{url}/api/chat", json=body, timeout=300).status_code == 200


if __name__ == "__main__":
    main()
