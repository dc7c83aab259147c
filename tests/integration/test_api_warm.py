"""`POST /api/warm` and `chat-bot warm`: for the bot's own machine, and for nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from bot.app import create_app
from bot.cli.main import cli
from corpus.reader import Index
from corpus.settings import PersonaSettings, Settings
from tests.fake_states import FakeStates
from tests.fakes import FakeIndex, fake_ports
from tests.live_server import LiveServer, serve_in_thread, serve_scripted
from tests.small_index import page, small_index, toward


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = small_index(
        tmp_path, *(page(f"posts/{n}.md", f"words {n}", vector=toward(1)) for n in range(3))
    )
    yield opened
    opened.close()


@pytest.fixture
def states() -> FakeStates:
    return FakeStates()


@pytest.fixture
def bot(index: Index, states: FakeStates) -> Iterator[LiveServer]:
    settings = Settings(persona=PersonaSettings(name="Marea"))
    provider = replace(settings.provider, warm_when_idle=False)
    ports = replace(fake_ports(index=FakeIndex(index)), states=states)
    with serve_in_thread(create_app(replace(settings, providers=(provider,)), ports)) as live:
        yield live


def warm(bot: LiveServer) -> Result:
    return CliRunner().invoke(cli, ["warm", "--url", bot.url])


def test_nothing_is_warmed_until_it_is_asked_for(bot: LiveServer, states: FakeStates) -> None:
    """`warm_when_idle: false`"""
    with bot.client() as client:
        assert client.get("/api/info").json()["warmth"]["warm"] == 0
        assert client.get("/api/health").json()["components"]["llm"]["details"]["pages"] == 3
    assert states.began == []


def test_the_command_warms_every_page_and_says_so(bot: LiveServer, states: FakeStates) -> None:
    result = warm(bot)
    assert result.exit_code == 0, result.output
    assert "3 of 3 pages are warm" in result.output
    assert len(states.saved) == 3
    with bot.client() as client:
        details = client.get("/api/health").json()["components"]["llm"]["details"]
    assert (details["warm"], details["pages"]) == (3, 3)
    assert "3 of 3" in warm(bot).output  # nothing is left to do
    assert len(states.began) == 3


def test_pages_that_find_no_room_end_the_command_with_a_reason(
    bot: LiveServer, states: FakeStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.cli.warm.LOOK_SECONDS", 0.05)
    with bot.client() as client:
        client.get("/api/info")
    states.refuse_all = True
    result = warm(bot)
    assert result.exit_code == 1
    assert "0 of 3 pages are warm" in result.output
    assert "no room" in result.output


def test_a_bot_without_states_says_what_to_set(index: Index) -> None:
    settings = Settings(persona=PersonaSettings(name="Marea"))
    app = create_app(settings, fake_ports(index=FakeIndex(index)))
    with serve_in_thread(app) as live:
        result = warm(live)
    assert result.exit_code == 1
    assert "states_path" in result.output
    assert "--slot-save-path" in result.output


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
def test_a_visitor_behind_a_proxy_can_not_start_it(bot: LiveServer, header: str) -> None:
    with bot.client() as client:
        reply = client.post("/api/warm", json={}, headers={header: "203.0.113.9"})
    assert reply.status_code == 403
    assert reply.json()["code"] == "only-here"


def test_a_page_of_another_site_can_not_start_it(bot: LiveServer) -> None:
    with bot.client() as client:
        reply = client.post("/api/warm", json={}, headers={"Origin": "https://evil.example"})
        assert reply.status_code == 403
        assert client.post("/api/warm").status_code == 415


def test_something_else_at_that_address_is_named() -> None:
    with serve_scripted() as live:
        result = CliRunner().invoke(cli, ["warm", "--url", f"{live.url}/nowhere"])
    assert result.exit_code == 1
    assert "is not a portfolio-bot" in result.output
    result = CliRunner().invoke(cli, ["warm", "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 1
    assert "no bot answers" in result.output
    assert CliRunner().invoke(cli, ["warm", "--url", "ftp://x"]).exit_code == 2
