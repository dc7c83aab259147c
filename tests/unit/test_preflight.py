"""What the preflight finds, each as one line with its cure."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from native import ports, preflight
from native.preflight import GB, Finding


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that this process listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_taken_port_names_the_port_the_program_and_the_cure(taken: int) -> None:
    finding = preflight.check_port("PORT", taken)
    assert finding.level == "fail"
    line = str(finding)
    assert f"port {taken} is taken by " in line
    assert f"(process {os.getpid()})" in line
    assert "make demo PORT=" in line
    assert "\n" not in line


def test_the_port_it_proposes_is_free(taken: int) -> None:
    proposed = int(preflight.check_port("CHAT_PORT", taken).cure.rsplit("CHAT_PORT=", 1)[1])
    assert proposed != taken
    assert ports.is_free(proposed)


def test_a_free_port_is_fine() -> None:
    assert preflight.check_port("PORT", ports.free_port()).level == "ok"


def test_a_holder_that_the_system_hides_is_another_program(taken: int, tmp_path: Path) -> None:
    assert ports.holder(taken, proc=tmp_path) == "another program"


def test_too_small_a_disk_says_how_much_is_missing(tmp_path: Path) -> None:
    finding = preflight.check_disk(tmp_path / "not" / "yet", 1e18)
    assert finding.level == "fail"
    assert "1000000000.0 GB needed" in str(finding)
    assert "PROFILE=tiny" in finding.cure
    assert preflight.check_disk(tmp_path, 1).level == "ok"


@pytest.mark.parametrize(
    ("available_gb", "profile", "level"),
    [(4.0, "default", "ok"), (1.5, "default", "warn"), (1.5, "tiny", "ok"), (0.5, "tiny", "warn")],
)
def test_little_memory_is_a_warning(
    tmp_path: Path, available_gb: float, profile: str, level: str
) -> None:
    meminfo = tmp_path / "meminfo"
    kib = int(available_gb * GB / 1024)
    meminfo.write_text(f"MemTotal:  9 kB\nMemAvailable: {kib} kB\n")
    assert preflight.check_memory(profile, meminfo).level == level


def test_unknown_memory_is_no_reason_to_stop(tmp_path: Path) -> None:
    assert preflight.check_memory("default", tmp_path / "none").level == "ok"


def test_no_compiler_stops_only_where_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert preflight.check_build_tools(needed=True).level == "fail"
    finding = preflight.check_build_tools(needed=False)
    assert finding.level == "warn"
    assert "a C++ compiler and make missing" in str(finding)
    assert "LLAMA_SERVER" in finding.cure


def test_the_first_failure_is_the_one_told() -> None:
    findings = [
        Finding(name="a", level="warn", text="a"),
        Finding(name="b", level="fail", text="b"),
        Finding(name="c", level="fail", text="c"),
    ]
    assert preflight.first_failure(findings) is findings[1]
    assert preflight.first_failure(findings[:1]) is None


def test_the_doctor_prints_one_line_for_each_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    monkeypatch.setattr(preflight, "DEFAULT_PORTS", {"PORT": taken})
    assert preflight.main(["--profile", "tiny"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == [
        "python", "venv", "compiler", "disk", "memory", "port", "docker",
    ]  # fmt: skip
    assert lines[5].startswith("fail")
