"""Commands against a running bot, and in this process where none runs."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bot.adapters.build
from bot.adapters.limiter import LocalLimiter
from bot.chat.errors import ModelUnavailable
from bot.chat.events import Chunk, Failed
from bot.chat.ports import Ports
from bot.cli.main import cli
from corpus.settings import RateLimitSettings, Settings
from native.ports import free_port
from tests.fakes import DONE, SOURCES, FakeModel, ScriptedChat, fake_ports
from tests.live_server import LiveServer, serve_scripted

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def running() -> Iterator[LiveServer]:
    with serve_scripted() as server:
        yield server


@pytest.fixture
def live(running: LiveServer) -> LiveServer:
    chat: ScriptedChat = running.chat
    chat.scripts.clear()
    chat.asks.clear()
    running.app.state.ports.model.problem = None
    running.app.state.probes._outcomes.clear()
    return running


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """A configured address where nothing listens."""
    port = free_port()
    monkeypatch.setenv("PORTFOLIO_BOT__SERVER__PORT", str(port))
    return f"http://127.0.0.1:{port}"


def run(*arguments: str) -> Result:
    return RUNNER.invoke(cli, list(arguments))


def test_ask_streams_the_answer_of_the_running_bot_with_its_sources(
    live: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTFOLIO_BOT__SERVER__PORT", str(live.port))
    result = run("ask", "¿Con qué se paga?")
    assert result.exit_code == 0
    assert result.stdout == (
        "Con Stripe [1].\n\nFuentes:\n  [1] Clothes shop — Payments  /projects/clothes-shop#payments\n"
    )
    assert live.chat.asks[0].question == "¿Con qué se paga?"


def test_ask_json_is_the_whole_answers_body(live: LiveServer) -> None:
    result = run("ask", "how?", "--json", "--url", live.url)
    assert result.exit_code == 0
    body = json.loads(result.stdout)
    assert list(body) == ["content", "sources", "passages", "usage", "conversation_id"]
    assert body["content"] == "Con Stripe [1]."


def test_a_refusal_is_an_answer(live: LiveServer) -> None:
    live.chat.enqueue(SOURCES, Chunk(content="No lo sé."), DONE)
    assert run("ask", "capital?", "--url", live.url).exit_code == 0


def test_a_failed_answer_is_exit_code_5(live: LiveServer) -> None:
    live.chat.enqueue(Failed(code="model-unavailable", message="Not now.", retryable=True))
    result = run("ask", "x", "--url", live.url)
    assert result.exit_code == 5
    assert result.stderr == "Error: Not now. (model-unavailable)\n"


def test_a_refused_request_is_exit_code_1(live: LiveServer) -> None:
    result = run("ask", "x" * 1001, "--url", live.url)
    assert result.exit_code == 1
    assert "1000" in result.stderr


def test_asking_too_often_is_exit_code_1() -> None:
    limiter = LocalLimiter(RateLimitSettings(requests_per_minute=1, burst=1))
    with serve_scripted(ports=fake_ports(limiter=limiter)) as server:
        assert run("ask", "x", "--url", server.url).exit_code == 0
        assert run("ask", "x", "--url", server.url).exit_code == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[", "not a url"])
def test_nobody_at_the_named_address_is_exit_code_5(url: str) -> None:
    result = run("ask", "x", "--url", url)
    assert result.exit_code == 5
    assert len(result.stderr.strip().splitlines()) == 1


def with_model(model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def open_fakes(
        settings: Settings, config_path: Path | None = None
    ) -> AsyncGenerator[Ports, None]:
        yield fake_ports(model=model)

    monkeypatch.setattr(bot.adapters.build, "open_ports", open_fakes)
    sys.modules.pop("bot.cli.local", None)  # it binds the name when it is first imported


def test_without_a_running_bot_this_process_answers(
    nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(FakeModel(), monkeypatch)
    result = run("ask", "Hola")
    assert result.exit_code == 0
    assert "Marea" in result.stdout


def test_no_rag_goes_straight_to_the_model(nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel()
    model.enqueue_text("Hello ", "there.")
    with_model(model, monkeypatch)
    result = run("ask", "--no-rag", "Who are you?")
    assert (result.exit_code, result.stdout) == (0, "Hello there.\n")
    assert len(model.prompts) == 1
    assert model.running == 0


def test_no_rag_without_a_model_is_exit_code_5(
    nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = FakeModel()
    model.enqueue(ModelUnavailable("secret"))
    with_model(model, monkeypatch)
    result = run("ask", "--no-rag", "Who are you?")
    assert result.exit_code == 5
    assert "model-unavailable" in result.stderr
    assert "secret" not in result.output


def test_health_prints_a_table(live: LiveServer) -> None:
    result = run("health", "--url", live.url)
    assert result.exit_code == 0  # degraded: there is no index here
    lines = result.stdout.splitlines()
    assert lines[0].startswith("degraded")
    assert [line.split()[0] for line in lines[1:]] == ["llm", "store", "embeddings", "redis"]
    assert "model=qwen2.5-1.5b-instruct" in lines[1]


def test_health_of_an_unhealthy_bot_is_exit_code_1(live: LiveServer) -> None:
    live.app.state.ports.model.problem = ModelUnavailable()
    result = run("health", "--deep", "--url", live.url)
    assert result.exit_code == 1
    assert "model-unavailable" in result.stdout


def test_health_without_a_bot_is_exit_code_1(nowhere: str) -> None:
    result = run("health")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: no bot answers at {nowhere}")
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("code", [0, 2, 4, 5])
def test_reindex_passes_on_configuration_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The indexer is a child with this terminal; its code is ours."""
    seen = tmp_path / "arguments"
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\necho "$@" > {seen}\nexit {code}\n')
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    assert run("reindex", "--config", "some.yaml").exit_code == code
    assert seen.read_text() == "-m indexer --config some.yaml\n"


def test_serve_stops_when_its_first_reindex_finds_a_bad_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 2\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    assert run("serve", "--reindex-on-start").exit_code == 2
