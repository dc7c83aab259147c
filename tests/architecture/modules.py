"""Which modules there are, and a fresh interpreter that imports some of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "corpus": ROOT / "packages/corpus/corpus",
    "indexer": ROOT / "services/indexer/indexer",
    "bot": ROOT / "services/bot/bot",
    "models": ROOT / "models",
    "native": ROOT / "native",
}


def modules_of(package: str) -> list[str]:
    """Every module of a package or subpackage; `__main__` is a program, not a module.

    The name of a single module stands for itself.
    """
    top, *rest = package.split(".")
    folder = FOLDERS[top].joinpath(*rest)
    if not folder.is_dir():
        return [package]
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(FOLDERS[top]).with_suffix("").parts
        if parts[-1] != "__main__":
            names = [top, *parts]
            found.append(".".join(names[:-1] if names[-1] == "__init__" else names))
    assert found, f"no modules in {package}"
    return found


def source_of(module: str) -> Path:
    """The file of a module."""
    top, *rest = module.split(".")
    path = FOLDERS[top].joinpath(*rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported_by(modules: Iterable[str]) -> set[str]:
    """All modules that are loaded once `modules` are, in a fresh interpreter."""
    script = (
        "import importlib, json, sys\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    return set(json.loads(run_python(script, json.dumps(list(modules)))))


def run_python(script: str, *arguments: str) -> str:
    """What a script prints; a failure shows its error."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def within(loaded: Iterable[str], package: str) -> list[str]:
    """Those of `loaded` that are `package` or below it."""
    return sorted(name for name in loaded if name == package or name.startswith(f"{package}."))
