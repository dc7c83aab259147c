"""The asynchronous tests on the images' own Python: all other tests run on the machine's, in CI Debian 12's.

On 3.13 alone an answer whose visitor had left was written to its end (test_api_leaving_model.py), and a
stalled reader's waited for the garbage collector (test_api_leaving.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.containers.conftest import Figure
from tests.containers.gateway_rig import base_image
from tests.containers.stack import PROJECT, ROOT, docker

RECIPE = "tests/containers/python/Dockerfile"
TESTS_IMAGE = "portfolio-bot/tests:local"
"""The tag that .ci/run gives it too."""
BOT_IMAGE = "portfolio-bot/bot:test"
CONTAINER = f"{PROJECT}-python"
LEFT_OUT = {"test_chat_linear_time.py"}
"""24 of 100 s, and no event loop in it."""
FEWEST_PASSED = 1000
"""There were 2524; a selection that finds fewer than this has lost its files."""
RUN_SECONDS = 1200.0
TAIL_CHARACTERS = 8000
CONTENTS = (
    "import importlib.metadata, json, platform\n"
    "found = {each.name: each.version for each in importlib.metadata.distributions()}\n"
    "print(json.dumps({'python': platform.python_version(), 'packages': found}))\n"
)


def built(recipe: str, tag: str) -> str:
    """The image of a Dockerfile; its layers are those of .ci/run and of the stack."""
    certificates = os.environ.get("PIP_CERT")
    secret = ("--secret", f"id=ca,src={certificates}") if certificates else ()
    # Not `docker build`: Debian 12's has no secrets.
    made = docker("buildx", "build", "--load", "--progress", "plain", *secret, "--file", str(ROOT / recipe),
                  "--tag", tag, str(ROOT), check=False, timeout_seconds=900)  # fmt: skip
    if made.returncode:
        pytest.fail(f"{recipe}:\n{made.stderr[-TAIL_CHARACTERS:]}", pytrace=False)
    return tag


def contents(image: str) -> tuple[str, set[tuple[str, str]]]:
    """Version of an image's Python, and its packages but those of this repository."""
    found = json.loads(docker("run", "--rm", image, "python", "-c", CONTENTS).stdout)
    packages = {
        each for each in found["packages"].items() if not each[0].startswith("portfolio-bot")
    }
    return found["python"], packages


def is_chosen(path: Path) -> bool:
    """Whether a module tests the API or the chat, or has a coroutine for a test."""
    if path.name in LEFT_OUT:
        return False
    return (
        path.match("test_api_*")
        or path.match("test_chat_*")
        or "mark.anyio" in path.read_text("utf-8")
    )


def modules() -> list[str]:
    """The modules to run, from the root."""
    found = (
        path for kind in ("integration", "unit") for path in ROOT.glob(f"tests/{kind}/test_*.py")
    )
    return sorted(str(path.relative_to(ROOT)) for path in found if is_chosen(path))


def pytest_in(image: str) -> tuple[str, str]:
    """Exit code of pytest inside, or that it did not end; and all it wrote."""
    docker("rm", "--force", CONTAINER, check=False)
    try:
        docker(
            "run", "--detach", "--name", CONTAINER, "--init", "--network", "none", "--read-only",
            "--tmpfs", "/tmp", "--env", "HOME=/tmp", "--env", "HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis",
            "--cap-drop", "ALL",
            "--security-opt", "no-new-privileges", "--volume", f"{ROOT}:/repository:ro",
            "--env", "PORTFOLIO_BOT_NO_SKIP=1", image,
            # What waits in vain takes a minute each; where one hangs, its stack is written.
            "python", "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "--maxfail=5",
            "-o", "faulthandler_timeout=180", "-m", "not redis and not models and not browser", *modules(),
        )  # fmt: skip
        try:
            code = docker("wait", CONTAINER, timeout_seconds=RUN_SECONDS).stdout.strip()
        except subprocess.TimeoutExpired:
            code = f"none after {RUN_SECONDS:.0f} s"
        logs = docker("logs", CONTAINER)
        return code, logs.stderr + logs.stdout
    finally:
        docker("rm", "--force", CONTAINER, check=False)


def test_asynchronous_tests_pass_on_the_python_of_the_images(engine: None, figure: Figure) -> None:
    assert f"\nFROM {base_image()}\n" in (ROOT / RECIPE).read_text("utf-8")
    version, packages = contents(built("services/bot/Dockerfile", BOT_IMAGE))
    image = built(RECIPE, TESTS_IMAGE)
    own_version, own_packages = contents(image)
    assert (own_version, packages - own_packages) == (version, set()), "not what the bot has"

    begun = time.monotonic()
    code, said = pytest_in(image)
    seconds = time.monotonic() - begun
    passed = re.search(r"\b(\d+) passed", said)
    if code != "0" or passed is None or f"Python {version}" not in said:
        pytest.fail(
            f"pytest on Python {version}, exit code {code}:\n{said[-TAIL_CHARACTERS:]}",
            pytrace=False,
        )
    assert int(passed[1]) >= FEWEST_PASSED, said[-TAIL_CHARACTERS:]
    figure(f"{version.rpartition('.')[0]} tests", f"{passed[1]} passed on Python {version} of the bot's "
           f"image in {seconds:.0f} s")  # fmt: skip
