"""The stack of compose.yaml under test: started once, asked over its published port, broken on purpose.

Its own project name, volumes, subnet and port: a stack of the developer's on the same machine is left
alone. All traffic goes to the published loopback port.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from testcontainers.compose import DockerCompose

from native.ports import free_port
from tests.sse_client import COMMENT, read_sse

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "portfolio-bot-test"
SERVICES = ("bot", "chat", "embed", "gateway", "redis")
JOBS = ("indexer", "models")
READY_SECONDS = 240.0
MODELS = ROOT / "models/files"
INSIDE = Path(__file__).with_name("inside")
"""Programs that tests run inside containers."""
ALLOWED_ORIGIN = "https://site.example"
"""The one foreign site that may ask the bot under test."""

MODEL_QUESTION = (
    "Tell me everything about the clothes shop: what it sells, how customers pay, how it was built "
    "and what was hard."
)
"""Answered in some 170 tokens: long enough to break something meanwhile."""
UNREAD_QUESTION = (
    "Tell me everything about Rony TUI: what it does, how it was built, why in the terminal, "
    "and what was hard."
)
"""About a page that the model never gets to read to its end: it needs 20 s, each time anew."""


def docker(
    *arguments: str, check: bool = True, timeout_seconds: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run `docker` and return what it printed."""
    return subprocess.run(
        ["docker", *arguments],
        capture_output=True,
        text=True,
        check=check,
        timeout=timeout_seconds,
        stdin=subprocess.DEVNULL,
    )


@dataclass
class Answer:
    """What a visitor got, and when."""

    status: int
    events: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """When each event came, since the question was sent."""
    headers: httpx.Headers = field(default_factory=httpx.Headers)
    problem: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(event["content"] for event in self.events if event["type"] == "chunk")

    @property
    def last(self) -> str:
        """Type of the last event; empty where there was none."""
        return str(self.events[-1]["type"]) if self.events else ""

    @property
    def broke_off(self) -> bool:
        """Whether it ended as it must without a model: an error after the first word of the model's, before
        it the passages themselves.
        """
        end = self.events[-1] if self.events else {}
        quoted = end.get("type") == "done" and end.get("route") == "passages"
        return quoted or (end.get("type") == "error" and end["retryable"] is True)

    @property
    def ending(self) -> str:
        """The last event with its code or route, for the table."""
        end = self.events[-1]
        return f"{end['type']} {end.get('code') or end.get('route')}"

    @property
    def files(self) -> list[str]:
        """Documents that the answer stands on."""
        return [name for event in self.events if event["type"] == "sources"
                for name in event["documents"]]  # fmt: skip


@dataclass(frozen=True)
class Stack:
    """The running stack."""

    url: str
    compose: DockerCompose
    data: Path
    """The content that the indexer reads; a copy, tests may change it."""
    started_seconds: float
    environment: dict[str, str]

    def run(
        self, *arguments: str, check: bool = True, timeout_seconds: float = 300.0
    ) -> subprocess.CompletedProcess[str]:
        """`docker compose …` of this stack."""
        return docker(
            *self.compose.docker_compose_command()[1:],
            *arguments,
            check=check,
            timeout_seconds=timeout_seconds,
        )

    def container(self, service: str) -> str:
        """Id of the service's container."""
        return self.run("ps", "--all", "--quiet", service).stdout.split()[0]

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine knows about the service's container."""
        found: list[dict[str, Any]] = json.loads(docker("inspect", self.container(service)).stdout)
        return found[0]

    def execute(self, service: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside; its exit code is looked at by the caller."""
        return self.run("exec", "-T", service, *command, check=False)

    def indexer(
        self, *command: str, options: Sequence[str] = (), check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """A run of the one-shot indexer, or of another command in its container."""
        return self.run("run", "--rm", "--no-deps", "-T", "--volume", f"{INSIDE}:/inside:ro", *options,
                        "indexer", *(command or ("chat-bot-index",)),
                        check=check, timeout_seconds=600)  # fmt: skip

    @contextmanager
    def another(
        self, service: str, *options: str, command: Sequence[str] = ()
    ) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
        """One more container of a service with other options; runs commands in it, and removes it.

        It answers to its own name only, which is the project's and `-extra-` and the service's.
        """
        name = f"{PROJECT}-extra-{service}"
        docker("rm", "--force", name, check=False)
        self.run("run", "--detach", "--no-deps", "--name", name, "--volume", f"{INSIDE}:/inside:ro",
                 *options, service, *command)  # fmt: skip

        def execute(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
            return docker("exec", name, *command, **options)

        try:
            yield execute
        finally:
            docker("rm", "--force", name, check=False)

    def ask(
        self,
        question: str,
        *,
        on_event: Any = None,
        patience: int = 20,
        timeout_seconds: float = 900.0,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Ask through the gateway and read to the end; waits when it is told to (429)."""
        body = {"messages": [{"role": "user", "content": question}]}
        for _ in range(patience):
            begun = time.monotonic()
            with httpx.stream(
                "POST", f"{self.url}/api/chat", json=body, timeout=timeout_seconds, headers=headers
            ) as reply:
                answer = Answer(reply.status_code, headers=reply.headers)
                if reply.status_code != 200:
                    answer.problem = json.loads(reply.read())
                    if reply.status_code != 429:
                        return answer
                else:
                    for event in read_sse(reply.iter_raw()):
                        if event is COMMENT:
                            continue
                        answer.events.append(event)
                        answer.seconds.append(time.monotonic() - begun)
                        if on_event is not None:
                            on_event(event)
                    return answer
            time.sleep(float(answer.headers["retry-after"]))
        return answer

    def health(self, *, deep: bool = False) -> tuple[int, dict[str, Any]]:
        """Status code and report of the bot; only `deep` asks the embedding server each time."""
        query = "?deep=true" if deep else ""
        reply = httpx.get(f"{self.url}/api/health{query}", timeout=10)
        return reply.status_code, reply.json()

    def component(self, name: str) -> str:
        """Status of one part; `unreachable` where the bot itself does not answer."""
        try:
            _, report = self.health(deep=True)
            return str(report["components"][name]["status"])
        except (httpx.HTTPError, KeyError, ValueError):
            return "unreachable"

    def wait_until_good(self, *, seconds: float = READY_SECONDS) -> float:
        """Seconds until the bot's own report is good in every part that counts."""
        begun = time.monotonic()
        report: dict[str, Any] = {}
        while time.monotonic() - begun < seconds:
            try:
                status, report = self.health(deep=True)
                if status == 200 and report.get("status") == "healthy":
                    return time.monotonic() - begun
            except (httpx.HTTPError, ValueError):
                pass
            time.sleep(0.25)
        raise AssertionError(f"not healthy after {seconds:.0f} s: {report}")


@contextmanager
def running_stack(folder: Path) -> Iterator[Stack]:
    """Build, put the fetched models into the volume, start, and remove it all at the end."""
    override = folder / "compose.test.yaml"
    bot = {
        "PORTFOLIO_BOT__SERVER__CORS_ORIGINS": f"[{ALLOWED_ORIGIN}]",
        # The same question again must ask the model again.
        "PORTFOLIO_BOT__KNOWN_ANSWERS__ENABLED": "false",
        # Pages that are evaluated while nobody asks would take the CPUs from what is measured.
        "PORTFOLIO_BOT__PROVIDERS__0__WARM_WHEN_IDLE": "false",
        # Whoever is in the line stays there (A8), however slow the model is.
        "PORTFOLIO_BOT__SERVER__QUEUE_SECONDS": "600",
        # A busy machine must not end an answer by these; F2 and F3 test deadlines.
        "PORTFOLIO_BOT__PROVIDERS__0__FIRST_TOKEN_SECONDS": "600",
        "PORTFOLIO_BOT__PROVIDERS__0__TOTAL_SECONDS": "1200",
    }
    services = {
        "indexer": {"volumes": [f"{folder / 'data'}:/app/data:ro"]},
        "bot": {"environment": bot},
    }
    override.write_text(json.dumps({"services": services}))
    port = free_port()
    environment = {
        "COMPOSE_PROJECT_NAME": PROJECT,
        "PROFILE": "tiny",
        "CHAT_MEMORY": "1024m",
        "PUBLISH": f"127.0.0.1:{port}",
        "SITE_ADDRESS": "",
        "ENTERING_PREFIX": "172.28.78",
        "COMPOSE_ANSI": "never",
    }
    files = ["compose.yaml", str(override)]
    if certificates := os.environ.get("PIP_CERT"):
        environment["CA_BUNDLE"] = certificates
        files.insert(1, ".ci/docker/compose.build.yaml")
    os.environ.update(environment)
    compose = DockerCompose(ROOT, compose_file_name=files, build=False, wait=True)
    # testcontainers runs Compose in the folder of compose.yaml; here it is said once and for all.
    compose.compose_command_property[:] = [
        "docker", "compose", "--project-directory", str(ROOT),
        *(part for name in files for part in ("-f", str(ROOT / name))),
    ]  # fmt: skip
    stack = Stack(f"http://127.0.0.1:{port}", compose, folder / "data", 0.0, environment)
    stack.run("down", "--volumes", "--remove-orphans", timeout_seconds=120)
    try:
        stack.run("build", timeout_seconds=900)
        _copy_models(stack)
        begun = time.monotonic()
        stack.run("up", "--wait", "--detach", timeout_seconds=900)
        seconds = time.monotonic() - begun
        yield Stack(stack.url, compose, stack.data, seconds, environment)
    finally:
        keep = Path(os.environ.get("PORTFOLIO_BOT_STACK_LOGS", folder))
        keep.mkdir(parents=True, exist_ok=True)
        (keep / "stack.log").write_text(stack.run("logs", "--timestamps", check=False).stdout)
        stack.run("down", "--volumes", "--timeout", "5", check=False)
        for name in environment:
            os.environ.pop(name, None)


def _copy_models(stack: Stack) -> None:
    """What `make models` fetched, times included: the job then has nothing to do."""
    if not (MODELS / "installed.json").is_file():
        return
    stack.run(
        "run", "--rm", "--no-deps", "--user", "0", "--cap-add", "DAC_OVERRIDE", "--cap-add", "CHOWN",
        "--cap-add", "FOWNER", "--volume", f"{MODELS}:/from:ro", "models",
        "sh", "-c", "cp -pL /from/*.gguf /from/installed.json /models/ && chown -R 10001:10001 /models",
    )  # fmt: skip


def eventually(true: Callable[[], object], what: str, *, seconds: float = 60.0) -> float:
    """Seconds until it is so; fails after that many, which no machine should need."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() - begun < seconds, f"not after {seconds:.0f} s: {what}"
        time.sleep(0.1)
    return time.monotonic() - begun


def published(services: Sequence[str], config: dict[str, Any]) -> dict[str, list[str]]:
    """Ports that each service of a resolved configuration publishes."""
    return {
        name: [f"{port.get('host_ip', '*')}:{port['published']}"
               for port in config["services"][name].get("ports", [])]
        for name in services
    }  # fmt: skip
