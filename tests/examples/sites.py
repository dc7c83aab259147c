"""The examples' production servers, started as their owners start them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from native.ports import free_port
from native.tether import tethered
from tests.live_server import NO_CERTIFICATES
from tests.patience import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[2]
CURE = "`tests/examples/build.sh` installs and builds the examples"
OLDEST_NODE = (22, 12)
NAMES = ("astro", "next")
MADE = {"astro": "dist/server/entry.mjs", "next": ".next/BUILD_ID"}


def find_node() -> str | None:
    """The Node that build.sh installed, else the system's if it is new enough."""
    for program in Path(__file__).parent.glob("node_modules/node-linux-*/bin/node"):
        return str(program)
    program_on_path = shutil.which("node")
    if program_on_path is None:
        return None
    said = subprocess.run((program_on_path, "--version"), capture_output=True, text=True)
    version = re.match(r"v(\d+)\.(\d+)", said.stdout)
    new_enough = version and tuple(map(int, version.groups())) >= OLDEST_NODE
    return program_on_path if new_enough else None


def missing(name: str) -> str | None:
    """What stands in the way of starting the example; None when nothing does."""
    if find_node() is None:
        return f"no Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer: {CURE}"
    if not (ROOT / "examples" / name / MADE[name]).exists():
        return f"examples/{name} is not built: {CURE}"
    return None


@contextmanager
def serving(name: str, bot_url: str, log: Path) -> Iterator[str]:
    """The address of the example `name`, whose proxy asks `bot_url`, until the block ends."""
    node, port, folder = find_node(), free_port(), ROOT / "examples" / name
    assert node is not None
    start = json.loads((folder / "package.json").read_text("utf-8"))["scripts"]["start"]
    path = f"{Path(node).parent}:{folder}/node_modules/.bin:{os.environ['PATH']}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            # What `npm start` runs, without npm between: one process, which ends when it is told to.
            tethered(("/bin/sh", "-c", f"exec {start}")),
            cwd=folder,
            env=os.environ
            | {"BOT_URL": bot_url, "HOST": "127.0.0.1", "PORT": str(port), "PATH": path}
            | {"NEXT_TELEMETRY_DISABLED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or _answers(url))
        assert process.poll() is None, f"it ended at once:\n{log.read_text()[-2000:]}"
        yield url
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def site_client(url: str) -> httpx.Client:
    """A client of the site, with no browser in between."""
    return httpx.Client(
        base_url=url, timeout=PATIENCE_SECONDS, trust_env=False, verify=NO_CERTIFICATES
    )


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
