"""The supervisor with real processes and real signals; it runs as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from native.ports import free_port
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]

SERVER = """\
import http.server, os, signal, subprocess, sys, time
name, port, delay, *rest = sys.argv[1:]
options = dict(item.split("=") for item in rest)
open(f"{name}.pid", "a").write(f"{os.getpid()}\\n")
if "child" in options:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if "stubborn" in options:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(f"0.00.000.001 I srv info of {name}")
print(f"0.00.000.002 W srv warning of {name}")
print(f"0.00.000.003 E srv error of {name}", flush=True)
time.sleep(float(delay))
if "die" in options:
    print("cannot open the model file", flush=True)
    sys.exit(int(options["die"]))
open("order.txt", "a").write(f"{name} healthy\\n")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer.allow_reuse_address = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
if "stubborn" not in options:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
server.serve_forever()
"""

MAIN = """\
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from native.console import Console
from native.service import Service
from native.supervisor import supervise
here = Path({here!r})
def service(name, port, delay=0, *options, **more):
    command = (sys.executable, str(here / "server.py"), name, str(port), str(delay), *options)
    return Service(name=name, command=command, health_url=f"http://127.0.0.1:{{port}}/", **more)
async def plan(supervisor):
{plan}
sys.exit(supervise(plan, folder=here, log_folder=here / "log", console=Console(),
                   term_seconds={term}, backoff_seconds=0.05))
"""


class Run:
    """A supervisor process in a folder of its own."""

    def __init__(self, folder: Path, plan: list[str], term_seconds: float = 5.0) -> None:
        """Start it."""
        self.folder = folder
        (folder / "server.py").write_text(SERVER)
        body = "\n".join(f"    {line}" for line in plan)
        main = MAIN.format(root=str(ROOT), here=str(folder), plan=body, term=term_seconds)
        (folder / "main.py").write_text(main)
        self.output = folder / "output.txt"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(folder / "main.py")],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self) -> str:
        """What it printed so far."""
        return self.output.read_text()

    def pids(self, name: str) -> list[int]:
        """Every process that a service had."""
        path = self.folder / f"{name}.pid"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain; it printed:\n{self.text()}"
            time.sleep(0.02)

    def until_printed(self, text: str) -> None:
        """Wait for a text on its output."""
        self.until(lambda: text in self.text())

    def family(self) -> list[psutil.Process]:
        """Everything it started, and what that started."""
        return list(psutil.Process(self.process.pid).children(recursive=True))


def until_gone(
    processes: list[psutil.Process], seconds: float = PATIENCE_SECONDS
) -> list[psutil.Process]:
    """Those that still run after `seconds`; zombies of a killed parent don't."""
    deadline = time.monotonic() + seconds
    while True:
        left = [
            process
            for process in processes
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        ]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Starts supervisors; kills what a failed test leaves."""
    runs: list[Run] = []

    def started(*plan: str, term_seconds: float = 5.0) -> Run:
        runs.append(Run(tmp_path, list(plan), term_seconds))
        return runs[-1]

    yield started
    for run in runs:
        if run.process.poll() is None:
            family = run.family()
            run.process.kill()
            for process in family:
                process.kill()
        run.process.wait()


@pytest.fixture
def port() -> int:
    """A port that is free now."""
    return free_port()


def test_the_next_one_starts_when_the_one_before_is_healthy(start: Callable[..., Run]) -> None:
    run = start(
        f"await supervisor.start(service('slow', {free_port()}, 0.6))",
        f"await supervisor.start(service('quick', {free_port()}))",
        "print('all up', flush=True)",
    )
    assert run.process.wait(PATIENCE_SECONDS) == 0, run.text()
    assert (run.folder / "order.txt").read_text() == "slow healthy\nquick healthy\n"
    assert "all up" in run.text()


def test_one_that_dies_while_starting_shows_its_last_lines_and_stops_the_rest(
    start: Callable[..., Run],
) -> None:
    run = start(
        f"await supervisor.start(service('first', {free_port()}))",
        f"await supervisor.start(service('second', {free_port()}, 0.1, 'die=3'))",
        "print('never', flush=True)",
    )
    assert run.process.wait(PATIENCE_SECONDS) == 1
    assert "error: second ended with exit code 3 while starting" in run.text()
    assert "    cannot open the model file" in run.text()
    assert "never" not in run.text()
    assert not any(psutil.pid_exists(pid) for pid in run.pids("first"))


def test_one_that_never_gets_healthy_is_given_up(start: Callable[..., Run], port: int) -> None:
    run = start(f"await supervisor.start(service('mute', {port}, 60, ready_seconds=0.5))")
    assert run.process.wait(PATIENCE_SECONDS) == 1
    assert "error: mute was not ready after 0 s" in run.text()
    assert not any(psutil.pid_exists(pid) for pid in run.pids("mute"))


def test_a_program_that_is_not_there_is_one_line(start: Callable[..., Run], port: int) -> None:
    run = start(
        "await supervisor.start(Service(name='ghost', command=('/nonexistent/program',),",
        f"    health_url='http://127.0.0.1:{port}/'))",
    )
    assert run.process.wait(PATIENCE_SECONDS) == 1
    assert "    /nonexistent/program can't be started: No such file" in run.text()
    assert "Traceback" not in run.text()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["ctrl-c", "term", "terminal closed"],
)
def test_a_signal_leaves_nothing_running(
    start: Callable[..., Run], number: signal.Signals, code: int
) -> None:
    run = start(
        f"await supervisor.start(service('one', {free_port()}, 0, 'child=1'))",
        f"await supervisor.start(service('two', {free_port()}))",
        "print('all up', flush=True)",
        "await supervisor.wait()",
    )
    run.until_printed("all up")
    family = run.family()
    assert len(family) == 3
    run.process.send_signal(number)
    assert run.process.wait(PATIENCE_SECONDS) == code, run.text()
    assert until_gone(family) == []
    assert "nothing is left running" in run.text()


def test_a_signal_during_a_step_stops_the_step(start: Callable[..., Run]) -> None:
    run = start(
        "print('step', flush=True)",
        "await supervisor.run((sys.executable, '-c', 'import time; time.sleep(600)'))",
    )
    run.until_printed("step")
    run.until(lambda: len(run.family()) == 1)
    family = run.family()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(PATIENCE_SECONDS) == 0
    assert until_gone(family) == []


def test_a_second_signal_kills_at_once(start: Callable[..., Run], port: int) -> None:
    run = start(
        f"await supervisor.start(service('deaf', {port}, 0, 'stubborn=1'))",
        "print('all up', flush=True)",
        "await supervisor.wait()",
        term_seconds=600.0,
    )
    run.until_printed("all up")
    family = run.family()
    run.process.send_signal(signal.SIGINT)
    run.until_printed("stopping")
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(PATIENCE_SECONDS) == 0
    assert until_gone(family) == []


def test_one_that_ignores_term_is_killed(start: Callable[..., Run], port: int) -> None:
    run = start(
        f"await supervisor.start(service('deaf', {port}, 0, 'stubborn=1'))",
        term_seconds=0.3,
    )
    assert run.process.wait(PATIENCE_SECONDS) == 0, run.text()
    assert not any(psutil.pid_exists(pid) for pid in run.pids("deaf"))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's: prctl")
def test_kill_9_of_the_supervisor_leaves_nothing(start: Callable[..., Run]) -> None:
    run = start(
        f"await supervisor.start(service('one', {free_port()}))",
        f"await supervisor.start(service('two', {free_port()}, 0, 'stubborn=1'))",
        "print('all up', flush=True)",
        "await supervisor.wait()",
    )
    run.until_printed("all up")
    family = run.family()
    assert len(family) == 2
    run.process.kill()
    run.process.wait()
    assert until_gone(family) == []


def test_one_that_dies_later_is_restarted(start: Callable[..., Run], port: int) -> None:
    run = start(
        f"await supervisor.start(service('frail', {port}))",
        "print('all up', flush=True)",
        "await supervisor.wait()",
    )
    run.until_printed("all up")
    os.kill(run.pids("frail")[0], signal.SIGKILL)
    run.until_printed("frail  │ was ended by SIGKILL; restart 1 of 5")
    run.until(lambda: run.text().count("ready after") == 2)
    assert len(run.pids("frail")) == 2
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(PATIENCE_SECONDS) == 0
    assert not any(psutil.pid_exists(pid) for pid in run.pids("frail"))


def test_one_that_keeps_dying_ends_the_run(start: Callable[..., Run], port: int) -> None:
    run = start(
        f"await supervisor.start(service('frail', {port}))",
        "await supervisor.wait()",
    )
    for lives in range(1, 7):
        run.until(lambda lives=lives: run.text().count("ready after") == lives)
        os.kill(run.pids("frail")[-1], signal.SIGUSR1)
    assert run.process.wait(PATIENCE_SECONDS) == 1
    assert len(run.pids("frail")) == 6
    assert "error: frail ended with exit code 7 and was restarted 5 times already" in run.text()


def test_llama_server_is_quiet_on_the_terminal_and_whole_in_the_file(
    start: Callable[..., Run], port: int
) -> None:
    log = "log/noisy.log"
    (start(f"await supervisor.start(service('noisy', {port}, 0.1, llama=True))")).process.wait(
        PATIENCE_SECONDS
    )
    run = start(f"await supervisor.start(service('noisy', {port}, 0.1, llama=True))")
    assert run.process.wait(PATIENCE_SECONDS) == 0
    assert "noisy  │ 0.00.000.003 E srv error of noisy" in run.text()
    assert "info of noisy" not in run.text()
    assert "info of noisy" in (run.folder / log).read_text()
    assert (run.folder / log).read_text().count("info of noisy") == 1
    assert (run.folder / f"{log}.1").read_text().count("info of noisy") == 1


def test_a_step_hands_back_its_code_and_output(start: Callable[..., Run]) -> None:
    run = start(
        "script = 'import os; print(os.environ[\"A\"]); raise SystemExit(5)'",
        "print(await supervisor.run((sys.executable, '-c', script), {'A': 'b'}))",
    )
    assert run.process.wait(PATIENCE_SECONDS) == 0
    assert "(5, 'b\\n')" in run.text()
