"""SIGTERM and Ctrl-C with open streams: an honest last event, a quick end, clean logs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bot.api.stopping import PATIENCE_SECONDS
from bot.cli.serve import GRACE_SECONDS
from native.ports import free_port
from tests.live_server import question
from tests.patience import wait_until
from tests.sse_client import read_sse, without_comments

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def process(
    script: str, patience_seconds: float = PATIENCE_SECONDS
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    port = free_port()
    command = [sys.executable, "-m", "tests.stopping_app", script, str(port), str(patience_seconds)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: answers(url) or running.poll() is not None)
            assert running.poll() is None, running.stderr and running.stderr.read()
            yield running, url
        finally:
            running.kill()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/info", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def stop_with_open_streams(
    script: str, patience_seconds: float, sent: signal.Signals
) -> tuple[list[str], float, int, str]:
    """Codes of the last events, seconds to the end, exit code, log."""
    with process(script, patience_seconds) as (running, url):
        clients = [httpx.Client(timeout=60, trust_env=False) for _ in range(2)]
        streams = [
            client.send(
                client.build_request("POST", f"{url}/api/chat", json=question()), stream=True
            )
            for client in clients
        ]
        try:
            events = [read_sse(stream.iter_raw()) for stream in streams]
            for stream, kind in zip(events, ("chunk", "queued"), strict=True):
                assert any(event["type"] == kind for event in stream), "reads no further than that"
            began = time.monotonic()
            running.send_signal(sent)
            last = [without_comments(stream)[-1] for stream in events]
            code = running.wait(60)
            seconds = time.monotonic() - began
        finally:
            for reply, client in zip(streams, clients, strict=True):
                reply.close()
                client.close()
        assert running.stderr is not None
        return (
            [event.get("code", event["type"]) for event in last],
            seconds,
            code,
            running.stderr.read(),
        )


@pytest.mark.parametrize(
    ("script", "patience_seconds", "sent", "exit_codes"),
    [
        ("hang", 600.0, signal.SIGTERM, {-signal.SIGTERM, 0}),
        ("hang", 600.0, signal.SIGINT, {0}),
        ("deaf", 0.3, signal.SIGTERM, {-signal.SIGTERM, 0}),
    ],
)
def test_open_streams_end_with_restarting_and_the_process_soon_after(
    script: str, patience_seconds: float, sent: signal.Signals, exit_codes: set[int]
) -> None:
    """F12: one being answered, one in the line; also when the model says nothing at all.

    Who hears the signal doesn't use up the patience; who doesn't is ended by it. What neither ends
    is cut after the grace, without a last event.
    """
    codes, seconds, code, log = stop_with_open_streams(script, patience_seconds, sent)
    assert codes == ["restarting", "restarting"]
    assert PATIENCE_SECONDS < GRACE_SECONDS / 5
    assert seconds < GRACE_SECONDS
    assert script == "hang" or seconds >= patience_seconds
    assert code in exit_codes
    for trouble in ("Task was destroyed", "Traceback", "never retrieved", "failed"):
        assert trouble not in log
    assert all(json.loads(line) for line in log.splitlines())


def test_a_taken_port_is_one_clear_line() -> None:
    with process("hang") as (_, url):
        port = url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "bot", "serve", "--port", port],
            cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert second.returncode == 3
    last = second.stderr.strip().splitlines()[-1]
    assert last.startswith(f"Error: can't listen on 127.0.0.1:{port}:")
    assert "--port" in last
    assert "Traceback" not in second.stderr
