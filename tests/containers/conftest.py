"""Fixtures of the container tests: an engine, the stack with the models of `tiny`, and the figures.

`make test-containers` runs them. `make test` skips them with one line, so that nobody's running engine
gets a stack by surprise; with PORTFOLIO_BOT_NO_SKIP=1 they run or fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import FIGURE
from tests.containers.gateway_rig import GatewayRig, gateway_rig
from tests.containers.silence import Silence, begin_silence
from tests.containers.stack import MODEL_QUESTION, ROOT, Stack, docker, running_stack

WANTED = "PORTFOLIO_BOT_CONTAINERS"
NO_SKIP = "PORTFOLIO_BOT_NO_SKIP"
CURE = "`make test-containers` starts one and runs these tests"

Figure = Callable[[str, str], None]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All of this folder needs the engine; without it one skipped test stands for all of them."""
    here = Path(__file__).parent
    ours = [item for item in items if item.path.is_relative_to(here)]
    for item in ours:
        item.add_marker(pytest.mark.container)
    if not ours or os.environ.get(NO_SKIP) == "1" or (reason := obstacle()) is None:
        return
    # One line instead of a hundred; a selection by -m or -k may still drop the one that is left.
    ours[0].add_marker(pytest.mark.skip(f"{len(ours)} container tests: {reason}"))
    items[:] = [item for item in items if item not in ours[1:]]
    config.hook.pytest_deselected(items=ours[1:])


def obstacle() -> str | None:
    """Why the containers can't be tested; None when they can."""
    if os.environ.get(WANTED) != "1" and os.environ.get(NO_SKIP) != "1":
        return f"not wanted: {CURE}"
    if shutil.which("docker") is None or docker("info", check=False).returncode:
        return f"no Docker engine answers: {CURE}"
    return None


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """`figure("C5", "3,2 GB")` puts a line into the table at the end (tests/conftest.py)."""

    def remember(name: str, text: str) -> None:
        request.node.user_properties.append((FIGURE, (name, text)))

    return remember


@pytest.fixture(scope="session")
def engine() -> None:
    """A Docker engine that answers; where nothing may be skipped its absence is a failure."""
    if reason := obstacle():
        pytest.fail(f"{reason} ({NO_SKIP}=1 forbids to skip)", pytrace=False)


@pytest.fixture(scope="session")
def rig_and_silence(engine: None) -> Iterator[tuple[GatewayRig, Silence]]:
    """The rig; what takes it long, and nobody's CPU, begins at once."""
    with gateway_rig() as made:
        yield made, begin_silence(made)


@pytest.fixture(scope="session")
def rig(rig_and_silence: tuple[GatewayRig, Silence]) -> GatewayRig:
    """The real gateway before a stand-in for the bot: no models, quick."""
    return rig_and_silence[0]


@pytest.fixture(scope="session")
def silence(rig_and_silence: tuple[GatewayRig, Silence]) -> Silence:
    """The long waits, which began with the rig."""
    return rig_and_silence[1]


@pytest.fixture(scope="session")
def stack(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole stack from compose.yaml, healthy, on a loopback port of its own."""
    folder = tmp_path_factory.mktemp("stack")
    shutil.copytree(ROOT / "data", folder / "data")
    try:
        with running_stack(folder) as made:
            yield made
    except subprocess.CalledProcessError as error:
        said = str(error.stderr or "")[-2000:]
        pytest.fail(f"{' '.join(map(str, error.cmd))}\n{said}", pytrace=False)


@pytest.fixture(scope="session")
def page_is_read(stack: Stack) -> None:
    """The state of MODEL_QUESTION's page is on disk: a first word comes after 1 s, else after 20 s."""
    assert stack.ask(MODEL_QUESTION).last == "done"
