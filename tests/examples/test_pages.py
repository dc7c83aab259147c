"""The chat on the examples' pages: what the proxy brings, and what the site's own navigation leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.adapters.limiter import LocalLimiter
from bot.chat.errors import Busy
from bot.chat.events import Chunk
from corpus.settings import RateLimitSettings
from tests.examples.sites import serving
from tests.fakes import SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.examples.conftest import ChosenLimiter
    from tests.examples.visitor import Visitor
    from tests.live_server import LiveServer

pytestmark = [pytest.mark.examples, pytest.mark.browser]


def test_what_is_destroyed_stays_away_on_the_next_page(
    visit: Callable[..., Visitor], site: str, bot: LiveServer
) -> None:
    chat = visit(site).open()
    chat.page.evaluate("RonyChat.destroy()")
    chat.go_to("About", "About me")
    assert chat.bubbles == 0


def test_the_next_document_has_the_conversation(
    visit: Callable[..., Visitor], site: str, bot: LiveServer
) -> None:
    chat = visit(site).open().asked("¿Con qué se paga?")
    chat.arrive(site + "/about")
    chat.open().wait_text("Con Stripe")
    chat.asked("¿Y los envíos?")
    first, second = bot.chat.asks
    assert [turn.content for turn in second.history] == [first.question, "Con Stripe [1]."]
    assert second.conversation_id


def test_the_bot_s_name_and_questions_come_through_the_proxy(
    visit: Callable[..., Visitor], site: str, bot: LiveServer
) -> None:
    chat = visit(site).open()
    chat.page.locator("h2").filter(has_text="Ask Marea").wait_for()
    chat.page.get_by_role("button", name="What do you build?").click()
    chat.wait_text("Con Stripe")
    assert bot.chat.asks[0].question == "What do you build?"


def test_the_limit_is_said_in_the_widget_s_words(
    visit: Callable[..., Visitor], site: str, bot: LiveServer, limiter: ChosenLimiter
) -> None:
    limiter.now = LocalLimiter(RateLimitSettings(requests_per_minute=1, burst=1))
    chat = visit(site).open().asked()
    chat.asked("Again?")
    assert "Too many questions in a row." in chat.failure
    # Retry-After came through: the button counts down.
    assert "in " in chat.page.locator(".again").inner_text()
    assert len(bot.chat.asks) == 1


def test_a_full_line_is_said_in_the_widget_s_words(
    visit: Callable[..., Visitor], site: str, bot: LiveServer
) -> None:
    bot.chat.refuse_with = Busy(30)
    chat = visit(site).open().asked()
    assert "Many people are asking right now." in chat.failure
    assert "in " in chat.page.locator(".again").inner_text()


def test_a_bot_that_stops_in_the_middle_leaves_what_was_said(
    visit: Callable[..., Visitor], site: str, bot: LiveServer
) -> None:
    bot.chat.enqueue(SOURCES, Chunk(content="So far."), RuntimeError("secret"))
    chat = visit(site).open().asked()
    assert chat.text.inner_text() == "So far."
    assert chat.failure
    assert "secret" not in chat.page.content()


def test_without_a_bot_the_site_works_and_the_chat_says_so(
    visit: Callable[..., Visitor], example: str, logs: Path
) -> None:
    with serving(example, "http://127.0.0.1:9", logs / f"{example}-away.log") as url:
        chat = visit(url).open().asked()
        assert "The chat is not available now." in chat.failure
        chat.go_to("About", "About me")


@pytest.mark.parametrize("example", ["next"], indirect=True)
@pytest.mark.parametrize("strategy", ["lazyOnload", "afterInteractive"])
def test_either_strategy_of_next_s_script_makes_one_chat(
    visit: Callable[..., Visitor], site: str, bot: LiveServer, strategy: str
) -> None:
    chat = visit(site, change=(r"\"lazyOnload\"", rf"\"{strategy}\"")).open().asked()
    assert "Con Stripe" in chat.text.inner_text()
    chat.go_to("About", "About me")
    chat.go_to("Home", "My portfolio")
    assert chat.bubbles == 1
    assert len(bot.chat.asks) == 1
