"""What could stop `make demo`, found before it does any work. `make doctor` prints all of it.

Uses the standard library only, so that it can also say why the virtual environment is missing.
Every finding is one line and, where something is wrong, the cure.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from native import ports
from native.llama_server import BUILD, NAME, cache_folder

GB = 1_000_000_000
ROOT = Path(__file__).resolve().parent.parent
PYTHON_LEAST = (3, 11)
DEFAULT_PORTS = {"PORT": 7331, "CHAT_PORT": 7332, "EMBED_PORT": 7333}
"""Ports by the name of the make variable that changes them."""
BUILD_BYTES = 1 * GB
MODEL_BYTES = {"tiny": 1.3 * GB, "default": 2.6 * GB, "nomic": 3.2 * GB, "3b": 5 * GB}
"""Disk that fetching a profile takes at its widest: parts and the file made of them."""
MEMORY_BYTES = {"tiny": 1.2 * GB, "default": 2.2 * GB, "nomic": 2.8 * GB, "3b": 4.2 * GB}
"""Resident size of both llama-servers and the bot, with some room: measured 1.2 GB for tiny and
1.9 GB for default (the embedder's 0.53 GB among them); the others are estimates."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing looked at."""

    name: str
    level: Literal["ok", "warn", "fail"]
    text: str
    cure: str = ""

    def __str__(self) -> str:
        """One line; the cure behind it."""
        return f"{self.text}: {self.cure}" if self.cure else self.text


def check_python() -> Finding:
    """Python is new enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= PYTHON_LEAST:
        return Finding(name="python", level="ok", text=f"Python {version}")
    return Finding(
        name="python",
        level="fail",
        text=f"Python {version} is older than 3.11",
        cure="install a newer one, or name it: make demo PYTHON=/path/to/python3.11",
    )


def check_venv() -> Finding:
    """Virtual environments can be made; Debian packs that apart from Python."""
    if importlib.util.find_spec("ensurepip"):
        return Finding(name="venv", level="ok", text="virtual environments can be made")
    return Finding(
        name="venv",
        level="fail",
        text="this Python can't make virtual environments",
        cure="sudo apt-get install python3-venv",
    )


def check_build_tools(*, needed: bool) -> Finding:
    """A C++ compiler and make; missing is a failure only where llama-server has to be built."""
    compiler = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    missing = [
        name
        for name, found in (("a C++ compiler", compiler), ("make", shutil.which("make")))
        if not found
    ]
    if not missing:
        return Finding(name="compiler", level="ok", text=f"{compiler} and make")
    return Finding(
        name="compiler",
        level="fail" if needed else "warn",
        text=f"{' and '.join(missing)} missing, to build llama-server",
        cure="sudo apt-get install g++ make, or set LLAMA_SERVER to a llama-server you have",
    )


def check_disk(folder: Path, needed_bytes: float) -> Finding:
    """Room for what is still to be downloaded and built."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{free / GB:.1f} GB free in {folder}"
    if free >= needed_bytes:
        return Finding(name="disk", level="ok", text=text)
    return Finding(
        name="disk",
        level="fail",
        text=f"{text}, {needed_bytes / GB:.1f} GB needed",
        cure="free some, or use the small models: make demo PROFILE=tiny",
    )


def check_memory(profile: str, meminfo: Path = Path("/proc/meminfo")) -> Finding:
    """Memory for the servers; too little is a warning, since swap may do."""
    needed = MEMORY_BYTES.get(profile, MEMORY_BYTES["default"])
    try:
        rows = dict(row.split(":", 1) for row in meminfo.read_text().splitlines())
        available = int(rows["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return Finding(name="memory", level="ok", text="memory unknown on this system")
    text = f"{available / GB:.1f} GB of memory available"
    if available >= needed:
        return Finding(name="memory", level="ok", text=text)
    cure = "close something" if profile == "tiny" else "close something, or PROFILE=tiny"
    return Finding(
        name="memory",
        level="warn",
        cure=cure,
        text=f"{text}, profile {profile} takes {needed / GB:.1f} GB",
    )


def check_port(variable: str, port: int, host: str = "127.0.0.1") -> Finding:
    """A port is free; `variable` is the make variable that takes another one."""
    if ports.is_free(port, host):
        return Finding(name="port", level="ok", text=f"port {port} free")
    return Finding(
        name="port",
        level="fail",
        text=f"port {port} is taken by {ports.holder(port)}",
        cure=f"stop it, or take another: make demo {variable}={_other(port)}",
    )


def check_docker() -> Finding:
    """Docker is optional."""
    found = shutil.which("docker")
    return Finding(
        name="docker", level="ok", text=found or "not here; optional, `make demo` does without"
    )


def first_failure(findings: Iterable[Finding]) -> Finding | None:
    """The first thing that would stop the start."""
    return next((finding for finding in findings if finding.level == "fail"), None)


def doctor(profile: str, chosen_ports: Mapping[str, int]) -> list[Finding]:
    """Everything, as if nothing was downloaded or built yet."""
    room = BUILD_BYTES + MODEL_BYTES.get(profile, MODEL_BYTES["default"])
    return [
        check_python(),
        check_venv(),
        check_build_tools(needed=ready_llama_server() is None),
        check_disk(ROOT, room),
        check_memory(profile),
        *(check_port(name, port) for name, port in chosen_ports.items()),
        check_docker(),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each finding; 1 when something would stop `make demo`."""
    parser = argparse.ArgumentParser(prog="python -m native.preflight", description=__doc__)
    parser.add_argument("--profile", default="default", help="models it is to run with")
    for variable, port in DEFAULT_PORTS.items():
        parser.add_argument(f"--{variable.lower().replace('_', '-')}", type=int, default=port)
    options = parser.parse_args(arguments)
    chosen = {name: getattr(options, name.lower()) for name in DEFAULT_PORTS}
    findings = doctor(options.profile, chosen)
    for finding in findings:
        print(f"{finding.level:<4}  {finding.name:<9} {finding}")
    return 1 if first_failure(findings) else 0


def ready_llama_server() -> Path | None:
    """The llama-server that needs no build: named, on PATH or built before. It is not run here."""
    named = os.environ.get("LLAMA_SERVER") or shutil.which(NAME)
    if named:
        return Path(named)
    cache = cache_folder(os.environ)
    kept = (cache / folder / NAME for folder in (BUILD, f"{BUILD}-image"))
    return next((binary for binary in kept if binary.exists()), None)


def _other(port: int) -> int:
    return next((other for other in range(port + 669, 65_000, 10) if ports.is_free(other)), 8000)


if __name__ == "__main__":
    sys.exit(main())
