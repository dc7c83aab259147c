"""Importing a module opens no file, reads no environment, starts no process, makes no socket."""

from __future__ import annotations

import json

import pytest

from tests.architecture.modules import FOLDERS, modules_of, run_python

WATCH = """\
import importlib, json, os, sys

OURS = set(json.loads(sys.argv[2]))
EVENTS = ("open", "socket.", "sqlite3.connect", "subprocess.Popen", "os.system", "os.mkdir",
          "os.remove", "os.rename", "os.listdir", "os.scandir")
found = []

def culprit():
    # The innermost frame that is not the standard library's decides whose doing it is.
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("importlib._bootstrap") or name == "__main__":
            return None  # the import system's own reading of source files
        if name.split(".")[0] not in sys.stdlib_module_names:
            return name if name.split(".")[0] in OURS else None
        frame = frame.f_back
    return None

def watch(event, arguments):
    if event.startswith(EVENTS) and (name := culprit()):
        found.append(f"{name}: {event} {arguments[:1]}")

class Environment(type(os.environ)):
    def __getitem__(self, key):
        if name := culprit():
            found.append(f"{name}: reads ${key}")
        return super().__getitem__(key)

os.environ.__class__ = Environment
sys.addaudithook(watch)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(found))
"""


def effects(modules: list[str], packages: list[str]) -> list[str]:
    """What importing `modules` did, as far as `packages` did it themselves."""
    found: list[str] = json.loads(run_python(WATCH, json.dumps(modules), json.dumps(packages)))
    return found


@pytest.mark.parametrize("package", FOLDERS)
def test_importing_does_nothing(package: str) -> None:
    assert effects(modules_of(package), [package]) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import os; os.environ.get('HOME')", "reads $HOME"),
        ("from pathlib import Path; Path('/etc/hostname').exists() and open('/dev/null')", "open"),
        ("import socket; socket.socket().close()", "socket.__new__"),
        ("import sqlite3; sqlite3.connect(':memory:').close()", "sqlite3.connect"),
    ],
)
def test_the_check_can_fail(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    expected: str,
) -> None:
    folder = tmp_path_factory.mktemp("eager")
    (folder / "eager_module.py").write_text(f"{line}\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    (found, *_) = effects(["eager_module"], ["eager_module"])
    assert expected in found
