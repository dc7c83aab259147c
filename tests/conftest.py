"""Fixtures for every test: a clean environment, and the real model servers where they are wanted.

A test marked `models` takes `chat_server` or `embed_server`. Where the files are missing it is
skipped with one line that says how to get them; with PORTFOLIO_BOT_NO_SKIP=1 it fails instead.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
PROFILE = "tiny"
READY_SECONDS = 300.0
NO_SKIP = "PORTFOLIO_BOT_NO_SKIP"
CURE = "`make test-models` gets them"
FIGURE = "figure"
"""What a test's report calls a figure that it measured."""

# The same examples on every machine, none of them against the clock: a busy machine is no failure.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@dataclass(frozen=True)
class ModelServer:
    """A llama-server that is ready."""

    url: str
    model: str
    sha256: str
    pid: int


def pytest_report_header() -> list[str]:
    """Versions that explain a failure somewhere else."""
    missing = missing_models()
    return [
        f"sqlite {sqlite3.sqlite_version}, llama-server: {find_llama_server() or 'not here'}, "
        f"models of profile {PROFILE}: {missing or 'here'}"
    ]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """With `-n 2` (pytest-xdist) one process has the containers and the other one all else, in their order.

    Each half shares what it starts: one engine and stack there, the model servers here. Not
    `--dist loadgroup`: xdist 3.8 does not see the groups with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Halves(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            return "containers" if nodeid.startswith("tests/containers/") else "rest"

    return Halves(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One table of what was measured; from the reports, which also come from other processes."""
    figures = dict(
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == FIGURE
    )
    if not figures:
        return
    terminalreporter.section("figures of the stack")
    width = max(map(len, figures))
    for name, text in sorted(figures.items()):
        terminalreporter.write_line(f"{name:{width}}  {text}")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's shell reaches a test."""
    for name in list(os.environ):
        if name.startswith("PORTFOLIO_BOT__"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def chat_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The language model of the profile, served."""
    yield from serve("chat", tmp_path_factory.mktemp("chat-server"))


@pytest.fixture(scope="session")
def default_chat_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The language model of the profile `default`, which the acceptance questions are asked."""
    yield from serve("chat", tmp_path_factory.mktemp("default-chat-server"), "default")


@pytest.fixture(scope="session")
def embed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The embedding model of the profile, served."""
    yield from serve("embed", tmp_path_factory.mktemp("embed-server"))


def serve(
    role: str, folder: Path, profile: str = PROFILE, states: Path | None = None
) -> Iterator[ModelServer]:
    """Start the llama-server of a role on a free port, and stop it; `states` is for prompt states."""
    from native.chosen import chosen_models
    from native.ports import free_port
    from native.servers import EMBED_ENVIRONMENT, chat_command, embed_command
    from native.tether import tethered

    binary = needed_llama_server(profile)
    models, port = chosen_models(profile, models_folder()), free_port()
    if role == "chat":
        record = models.chat
        command = chat_command(
            binary,
            models.chat_path,
            port=port,
            context_tokens=models.chat_traits.context_size_tokens,
            states=states,
        )
    else:
        record = models.embed
        command = embed_command(
            binary,
            models.embed_path,
            port=port,
            context_tokens=models.embed_traits.context_size_tokens,
            pooling=models.embed_traits.pooling,
        )
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            tethered(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | EMBED_ENVIRONMENT,
            start_new_session=True,
        )
    try:
        wait_until_ready(process, f"http://127.0.0.1:{port}/health", log)
        yield ModelServer(f"http://127.0.0.1:{port}", record.model, record.sha256, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Return when the server answers 200; fail with its log when it ends or takes too long."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"llama-server did not get ready:\n{log.read_text()[-2000:]}", pytrace=False)


def unavailable(reason: str) -> NoReturn:
    """Skip, or fail where nothing may be skipped."""
    if os.environ.get(NO_SKIP) == "1":
        pytest.fail(f"{reason} ({NO_SKIP}=1 forbids to skip)", pytrace=False)
    pytest.skip(reason)


def find_llama_server() -> Path | None:
    """The llama-server that is here already; nothing is built for a test."""
    from native.preflight import ready_llama_server

    return ready_llama_server()


def models_folder() -> Path:
    """Where the models are."""
    return ROOT / "models/files"


def needed_llama_server(profile: str = PROFILE) -> Path:
    """The program, for a test that needs it and the models of the profile."""
    binary = find_llama_server()
    if binary is None:
        unavailable(f"no llama-server: {CURE}")
    if problem := missing_models(profile):
        unavailable(f"{problem}: {CURE}")
    return binary


def missing_models(profile: str = PROFILE) -> str | None:
    """What is missing of the models; None when all is here."""
    from models.errors import ModelsError
    from native.chosen import chosen_models

    try:
        chosen_models(profile, models_folder())
    except ModelsError:
        return f"no models of profile {profile}"
    return None
