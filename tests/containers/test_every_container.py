"""Any one container stopped, killed or paused during an answer: how the visitor's stream ends.

`done` or `error` is the last event as long as bot and gateway live. A bot or a gateway that was killed can
say nothing more, and Caddy can't add an event to a stream that has begun: it cuts it. Then the rule of
docs/http-api.md counts, that a stream without `done` or `error` has failed; the widget keeps to it, and
sends the page its `rony-chat:error` as after any other failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import MODEL_QUESTION, UNREAD_QUESTION, Stack
from tests.containers.test_faults import FIXED_QUESTION, SHORT_QUESTION, heal, kill
from tests.sse_client import COMMENT, read_sse
from tests.widget.conftest import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.faults
__all__ = ["heal"]

HELD_SECONDS = 2.0
"""How long a paused or stopped container stays so."""
NOT_NEEDED = (
    *((act, service) for service in ("redis", "embed") for act in ("pause", "stop", "kill")),
    ("pause", "bot"),
    ("pause", "gateway"),
)
"""What an answer gets over while the model works at it."""


def stop(stack: Stack, service: str) -> None:
    """`docker stop` with the grace of compose.yaml, then the owner's `start`."""
    stack.run("stop", service)
    time.sleep(HELD_SECONDS)
    stack.run("start", service)


def pause(stack: Stack, service: str) -> None:
    """Frozen for a while, then it goes on."""
    stack.run("pause", service)
    time.sleep(HELD_SECONDS)
    stack.run("unpause", service)


ACTS: dict[str, Callable[[Stack, str], None]] = {"stop": stop, "kill": kill, "pause": pause}


def last_event(stack: Stack, act: Callable[[], object], *, question: str) -> str:
    """Ask; act when the sources come, before the model's first word; how the stream ended."""
    body = {"messages": [{"role": "user", "content": question}]}
    worker = threading.Thread(target=act)
    last = "nothing"
    try:
        with httpx.stream("POST", f"{stack.url}/api/chat", json=body, timeout=600) as reply:
            assert reply.status_code == 200
            for event in read_sse(reply.iter_raw()):
                if event is COMMENT:
                    continue
                last = str(event["type"])
                if last == "sources" and not worker.ident:
                    worker.start()
    except httpx.HTTPError:
        last = "cut"
    assert worker.ident, f"the model was never asked: {last}"
    worker.join()
    return last if last in ("done", "error") else "cut"


def test_what_an_answer_gets_over(stack: Stack, page_is_read: None, figure: Figure) -> None:
    """The model is frozen meanwhile, so that all of it happens during the answer."""

    def act() -> None:
        stack.run("pause", "chat")
        for name, service in NOT_NEEDED:
            ACTS[name](stack, service)
        stack.run("unpause", "chat")

    assert last_event(stack, act, question=SHORT_QUESTION) == "done"
    back = stack.wait_until_good()
    figure("any container: 1 answer", "chat, bot, gateway paused, redis, embed paused, stopped, killed: "
           f"done; healthy {back:.1f} s after it")  # fmt: skip


@pytest.mark.parametrize(("service", "act", "question", "expected"), [
    ("chat", "stop", UNREAD_QUESTION, {"done", "error"}),  # done: with the passages, or in its grace of 5 s
    ("gateway", "stop", MODEL_QUESTION, {"done", "cut"}),  # it waits 25 s for its streams
    ("gateway", "kill", UNREAD_QUESTION, {"cut"}),
], ids=["chat-stop", "gateway-stop", "gateway-kill"])  # fmt: skip
def test_what_ends_an_answer(
    stack: Stack, page_is_read: None, service: str, act: str, question: str, expected: set[str],
    figure: Figure,
) -> None:  # fmt: skip
    """Model killed: F1; model that hangs: F2; bot stopped: F12; bot killed: F13."""
    ended = last_event(stack, lambda: ACTS[act](stack, service), question=question)
    assert ended in expected
    back = stack.wait_until_good()
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure(f"any container: {service} {act}", f"ends with {ended}; healthy {back:.1f} s later")


@pytest.mark.browser
def test_the_widget_says_that_an_answer_broke_off(stack: Stack, figure: Figure) -> None:
    """The bot, then the gateway, killed while the demo page waits for the model."""
    with chromium() as browser:
        said = {
            name: broken_off(stack, browser.new_page(locale="en-GB"), name)
            for name in ("bot", "gateway")
        }
    figure("widget", "; ".join(f"{name} killed: {text!r}" for name, text in said.items()))


def broken_off(stack: Stack, page: Page, service: str) -> str:
    """What stands under the answer after the container was killed; there must be a way to ask again."""
    page.set_default_timeout(60_000)
    page.goto(stack.url)
    page.evaluate(
        "addEventListener('rony-chat:error', () => { window.ends = (window.ends ?? 0) + 1; })"
    )
    page.locator(".launcher").click()
    page.locator("textarea").fill(UNREAD_QUESTION)
    page.locator("textarea").press("Enter")
    page.locator(".turn .cards li").first.wait_for()
    kill(stack, service)
    text = page.locator(".fail").inner_text()
    assert page.locator(".again").is_visible()
    assert "broke off" in text or "can't be reached" in text
    # The page gets its last event all the same: from the widget, since nobody else is left to send one.
    page.wait_for_timeout(1000)
    assert page.evaluate("window.ends") == 1
    stack.wait_until_good()
    return text.splitlines()[0]
