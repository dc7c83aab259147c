"""`make reindex` and `make ask`: the containers do it where they run, and then only Docker is needed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKER = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in "compose ps"*) printf '%s' "$RUNNING" ;; esac
case "$*" in "compose run"* | "compose exec"*) exit "$CODE" ;; esac
"""
QUESTION = """What's "Trama", $HOME or `date`? --json"""


class Machine:
    """A machine whose `docker` writes down what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.calls = folder / "calls"
        self.calls.touch()
        program = folder / "docker"
        program.write_text(DOCKER)
        program.chmod(0o755)
        self._path = f"{folder}:{os.environ['PATH']}"

    def make(
        self, *arguments: str, running: str = "", code: int = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run make; the native targets only print what they would run."""
        made = {"PATH": self._path, "CALLS": str(self.calls), "RUNNING": running, "CODE": str(code)}
        stamp = self.calls  # exists, so that no environment is made
        return subprocess.run(
            ["make", "-C", str(ROOT), "--no-print-directory", f"RUNTIME={stamp}", "PY=echo native",
             *arguments],
            env={**os.environ, **made}, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_reindex_runs_the_container_of_the_running_stack(machine: Machine) -> None:
    done = machine.make("reindex", running="4f2a\n")
    assert done.returncode == 0, done.stderr
    assert machine.asked()[-1] == "compose run --rm --no-deps -T indexer chat-bot-index"
    assert done.stderr.splitlines() == ["the stack in containers runs: its indexer does it"]
    assert "native" not in done.stdout


def test_a_failed_reindex_fails(machine: Machine) -> None:
    assert machine.make("reindex", running="4f2a\n", code=4).returncode != 0


def test_ask_asks_the_bot_of_the_running_stack(machine: Machine) -> None:
    done = machine.make("ask", f"Q={QUESTION.replace('$', '$$')}", running="4f2a\n")
    assert done.returncode == 0, done.stderr
    assert machine.asked()[-1] == f"compose exec -T bot chat-bot ask -- {QUESTION}"


@pytest.mark.parametrize("target", ["reindex", "ask"])
def test_without_a_stack_this_machine_does_it(machine: Machine, target: str) -> None:
    done = machine.make(target, "Q=Which projects are there?")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("native -m native.with_models")
    assert len(done.stderr.splitlines()) == 1
    assert len(machine.asked()) == 1


def test_ask_wants_a_question(machine: Machine) -> None:
    done = machine.make("ask", "Q=")
    assert done.returncode != 0
    assert 'make ask Q="' in done.stderr
