"""Evaluated pages in containers: saved on the volume both share, and used by a server that starts anew."""

from __future__ import annotations

from tests.containers.conftest import Figure
from tests.containers.stack import MODEL_QUESTION, Stack, docker


def test_a_restarted_chat_server_reads_the_page_from_the_volume(
    stack: Stack, figure: Figure
) -> None:
    cold = stack.ask(MODEL_QUESTION)
    assert cold.last == "done", cold.events
    names = stack.execute("bot", "ls", "/states").stdout.split()
    assert [name for name in names if name.startswith("p-") and name.endswith(".kv")], names
    assert not [name for name in names if name.startswith("t-")], "a draft was left behind"
    docker("restart", stack.container("chat"))
    stack.wait_until_good()
    warm = stack.ask(MODEL_QUESTION)
    assert warm.last == "done", warm.events
    timings = warm.events[-1]["timings"]
    assert timings["cached_tokens"] > timings["evaluated_tokens"] > 0, timings
    figure("states after a restart", f"{timings['cached_tokens']} tokens restored, "
           f"{timings['evaluated_tokens']} evaluated")  # fmt: skip
