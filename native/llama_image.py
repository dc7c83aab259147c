"""Take llama-server out of the official image, where a Docker engine can pull it.

The image's ``/app`` (server and its libraries) is copied into the cache with a small script beside
it that names the library folder, so that the caller just starts one file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

IMAGE = "ghcr.io/ggml-org/llama.cpp:server-b11434"
INFO_TIMEOUT_SECONDS = 10
# The image is about 100 MB; where the registry is blocked the engine would try for minutes.
PULL_TIMEOUT_SECONDS = 180
COPY_TIMEOUT_SECONDS = 60


def from_image(target: Path, say: Callable[[str], None]) -> Path | None:
    """Return ``target/llama-server``, copied out of the image; None, with a line, if it can't be.

    ``target`` appears whole or not at all.
    """
    docker = shutil.which("docker")
    if docker is None or not _works([docker, "info"], INFO_TIMEOUT_SECONDS):
        return None
    say(f"pulling {IMAGE} (at most {PULL_TIMEOUT_SECONDS} s)")
    if not _works([docker, "pull", "--quiet", IMAGE], PULL_TIMEOUT_SECONDS):
        say(f"{IMAGE} can't be pulled: going on without it")
        return None
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        if not _copy_app(docker, part):
            say(f"/app can't be copied out of {IMAGE}: going on without it")
            return None
        _write_starter(part, target)
        shutil.rmtree(target, ignore_errors=True)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target / "llama-server"


def _copy_app(docker: str, part: Path) -> bool:
    name = f"portfolio-bot-llama-{os.getpid()}"
    if not _works([docker, "create", "--name", name, IMAGE], COPY_TIMEOUT_SECONDS):
        return False
    try:
        copied = _works([docker, "cp", f"{name}:/app", str(part / "app")], COPY_TIMEOUT_SECONDS)
        return copied and (part / "app" / "llama-server").is_file()
    finally:
        _works([docker, "rm", "--force", name], COPY_TIMEOUT_SECONDS)


def _write_starter(part: Path, target: Path) -> None:
    # exec: the caller's signals reach the server itself. The path is the final one, after rename.
    app = shlex.quote(str(target / "app"))
    starter = part / "llama-server"
    starter.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={app} exec {app}/llama-server "$@"\n')
    starter.chmod(0o755)


def _works(command: list[str], timeout_seconds: int) -> bool:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout_seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
