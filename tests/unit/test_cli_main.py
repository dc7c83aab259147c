"""The command line: help everywhere, one-line errors, documented exit codes, light imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bot import __version__
from bot.cli.main import cli

RUNNER = CliRunner()


def commands(group: click.Group = cli, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, command in group.commands.items():
        found.append((*prefix, name))
        if isinstance(command, click.Group):
            found += commands(command, (*prefix, name))
    return found


@pytest.mark.parametrize("command", [(), *commands()], ids=" ".join)
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    result = RUNNER.invoke(cli, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert len(result.output.splitlines()) > 4


def test_every_command_of_the_contract_exists() -> None:
    assert {name for name, *_ in commands()} == {
        "serve", "reindex", "ask", "config", "health", "version", "warm", "calibrate", "eval",
    }  # fmt: skip


def test_version_is_printed() -> None:
    assert RUNNER.invoke(cli, ["version"]).output == f"portfolio-bot {__version__}\n"


def test_light_commands_import_nothing_heavy() -> None:
    """`version` and the container's health check must be quick."""
    code = (
        "import sys, bot.cli.main\n"
        "heavy = {'litestar', 'numpy', 'httpx', 'uvicorn', 'redis', 'sqlite3'} & set(sys.modules)\n"
        "sys.exit(' '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_module_and_script_are_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"portfolio-bot {__version__}\n")


def test_valid_configuration_is_summarised(tmp_path: Path) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text("server: {port: 8000, cors_origins: ['https://a.example/']}\n")
    result = RUNNER.invoke(cli, ["config", "validate", "--config", str(path)])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "ok"
    assert "127.0.0.1:8000" in lines[1]
    assert "https://a.example" in lines[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server: {port: 99999}", ["server.port", "99999"]),
        ("server: {prot: 1}", ["server.prot", "did you mean `port`"]),
        ("server: {cors_origins: ['*']}", ["server.cors_origins[0]", "'*'"]),
        ("server: [", ["line 1"]),
        ("- a", ["keys and values"]),
    ],
)
@pytest.mark.parametrize("command", [["config", "validate"], ["serve"], ["health"], ["ask", "x"]])
def test_a_wrong_value_stops_every_command_with_one_line(
    tmp_path: Path, command: list[str], text: str, said: list[str]
) -> None:
    path = tmp_path / "bot.yaml"
    path.write_text(text)
    result = RUNNER.invoke(cli, [*command, "--config", str(path)])
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    for part in said:
        assert part in result.stderr


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    result = RUNNER.invoke(cli, ["config", "validate", "--config", str(path)])
    assert result.exit_code == 2
    assert str(path) in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["ask", "  "], ["ask", "x", "--no-rag", "--url", "http://x"], ["nonsense"],
     ["serve", "--port", "0"], ["health", "--url", "ftp://x"]],
)  # fmt: skip
def test_bad_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert RUNNER.invoke(cli, arguments).exit_code == 2


def test_trusting_every_proxy_is_refused(tmp_path: Path) -> None:
    """RL-01: with `*` the leftmost address counts, which anybody can write."""
    path = tmp_path / "bot.yaml"
    path.write_text("server: {trusted_proxies: ['*']}")
    result = RUNNER.invoke(cli, ["serve", "--config", str(path)])
    assert result.exit_code == 2
    assert "trusted_proxies" in result.stderr
