"""The scripts behind the Makefile, where they have to say what is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import check_locks, settings_reference

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The requirements and package files of this repository, to be spoilt."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for path in [*ROOT.glob("packages/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    return tmp_path


def find_python(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run the search for a Python."""
    return subprocess.run(
        ["sh", str(ROOT / "scripts/find_python.sh")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_requirement_without_a_pin_is_named(copy: Path) -> None:
    with (copy / "requirements/runtime.in").open("a") as file:
        file.write("left-pad  # new\n")
    assert check_locks.problems(copy) == [
        "runtime.in: left-pad is not locked",
        "dev.in: left-pad is not locked",
    ]


def test_a_pin_that_a_package_does_not_allow_is_named(copy: Path) -> None:
    path = copy / "packages/corpus/pyproject.toml"
    path.write_text(path.read_text().replace("msgspec>=0.20", "msgspec>=99"))
    (problem,) = check_locks.problems(copy)
    assert problem.startswith("packages/corpus/pyproject.toml: msgspec>=99 does not allow")


def test_a_pin_without_a_hash_is_named(copy: Path) -> None:
    with (copy / "requirements/dev.txt").open("a") as file:
        file.write("left-pad==1.0\n")
    assert check_locks.problems(copy) == ["dev.txt: left-pad has no hash"]


def test_lock_files_that_disagree_are_named(copy: Path) -> None:
    path = copy / "requirements/dev.txt"
    path.write_text(path.read_text().replace("\nclick==", "\nclick==99."))
    assert any(problem.startswith("click: ") for problem in check_locks.problems(copy))


def test_a_python_that_is_too_old_or_missing_is_one_line_with_the_cure() -> None:
    done = find_python(PYTHON="/nonexistent/python")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: Python 3.11 or newer is needed, found ")
    assert "make demo PYTHON=" in line


def test_a_named_python_is_taken() -> None:
    done = find_python(PYTHON=sys.executable)
    assert done.stdout.strip() == sys.executable


def test_no_field_of_the_settings_is_without_a_default() -> None:
    for section in settings_reference.sections():
        for item in section.settings:
            assert item.default != "(required)", item.path
