"""With the bot itself over the wire: another origin, its limits, the line, and the demo page."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from bot.adapters.limiter import LocalLimiter
from bot.chat.events import Chunk, Progress
from corpus.settings import RateLimitSettings
from tests.fakes import DONE, HANG, SOURCES, fake_ports
from tests.live_server import question, serve_scripted
from tests.patience import wait_until
from tests.widget.driver import Chat
from tests.widget.stage import SITE
from tests.widget.test_access import PHONE, violations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

    from tests.live_server import LiveServer
    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser


@pytest.fixture
def bot(stage: Stage) -> Iterator[LiveServer]:
    """A bot that lets the host page's origin ask."""
    with serve_scripted(server={"cors_origins": (stage.origin,)}) as live:
        yield live


def embed(page: Page, stage: Stage, bot: LiveServer, *, policy: str | None = None) -> Chat:
    """A host page of another origin with the tag of the bot's own widget."""
    allowed = policy or (
        f"default-src 'none'; script-src {bot.url}; style-src {bot.url}; connect-src {bot.url}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    tag = f'<script src="{bot.url}/chat-widget.js" data-api-url="{bot.url}" defer></script>'
    page.goto(stage.host("<h1>Host</h1>", head=tag, policy=allowed))
    return Chat(page, stage)


def test_a_tag_and_an_allowed_origin_are_all_it_takes(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    page = new_page(bot.url)
    chat = embed(page, stage, bot).open().asked("¿Con qué se paga?")
    assert chat.text.inner_text() == "Con Stripe 1."
    assert chat.cards.count() == 1
    assert page.locator("h2").inner_text() == "Ask Marea"
    chat.asked("¿Y los envíos?")
    second = bot.chat.asks[1]
    assert [message.content for message in second.history] == [
        "¿Con qué se paga?",
        "Con Stripe [1].",
    ]
    assert second.conversation_id


def test_its_style_survives_a_navigation_on_another_origin_too(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    page = new_page(bot.url)
    chat = embed(page, stage, bot).open()
    page.evaluate("document.body.replaceWith(document.createElement('body'))")
    chat.panel.wait_for()
    wait_until(lambda: chat.panel.evaluate("node => getComputedStyle(node).position") == "fixed")


def test_an_origin_that_is_not_allowed_is_told_so_politely(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    with serve_scripted() as bot:
        page = new_page(bot.url)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        chat = embed(page, stage, bot).open().asked()
        assert "can't be reached" in page.locator(".fail").inner_text()
        # And the owner, who looks at the console, is told which setting it is.
        hint = f"add {stage.origin} to its server.cors_origins"
        assert [text for text in said if hint in text], said
        assert chat.text.inner_text() == ""
        assert bot.chat.asks == []


def test_the_limit_of_another_origin_can_be_read(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    """CORS-01: a 429 without CORS headers would only be "Failed to fetch"."""
    limiter = LocalLimiter(RateLimitSettings(requests_per_minute=6, burst=1))
    with serve_scripted(
        ports=fake_ports(limiter=limiter), server={"cors_origins": (stage.origin,)}
    ) as bot:
        page = new_page(bot.url)
        chat = embed(page, stage, bot).open().asked()
        chat.asked("Again?")
        assert "Too many questions in a row." in page.locator(".fail").inner_text()
        assert "in 10 s" in page.locator(".again").inner_text()


def test_a_thumb_reaches_the_bots_numbers(new_page: Callable[..., Page], stage: Stage) -> None:
    settings = {"cors_origins": (stage.origin,), "metrics_networks": ("127.0.0.1",)}
    with serve_scripted(server=settings) as bot, bot.client() as owner:
        page = new_page(bot.url)
        chat = embed(page, stage, bot).open()
        page.locator("h2").filter(has_text="Ask Marea").wait_for()
        chat.asked("¿Con qué se paga?")
        page.get_by_role("button", name="Not helpful").click()
        page.get_by_role("button", name="It is outdated").click()
        down = 'portfolio_bot_feedback_total{rating="down",reason="outdated"} 1'
        wait_until(lambda: down in owner.get("/metrics").text)
        chat.asked("¿Y los envíos?")
        page.get_by_role("button", name="Helpful", exact=True).click()
        up = 'portfolio_bot_feedback_total{rating="up",reason="none"} 1'
        wait_until(lambda: up in owner.get("/metrics").text)


def test_two_visitors_stand_in_line(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    bot.chat.enqueue(SOURCES, HANG)
    other = bot.client()
    leave = threading.Event()

    def hold() -> None:
        with other.stream("POST", "/api/chat", json=question()) as reply:
            reply.read if leave.wait(60) else None

    first = threading.Thread(target=hold)
    first.start()
    wait_until(lambda: bot.chat.admitted == 1)
    page = new_page(bot.url)
    chat = embed(page, stage, bot).open().ask()
    chat.state.filter(has_text="You are next").wait_for()
    leave.set()
    chat.wait_text("Con Stripe")
    chat.settled()
    first.join(60)
    other.close()


def test_stopping_frees_the_model(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    bot.chat.enqueue(SOURCES, Progress(processed=10, total=20), Chunk(content="So far"), HANG)
    page = new_page(bot.url)
    chat = embed(page, stage, bot).open().ask()
    chat.wait_text("So far")
    page.wait_for_timeout(400)
    chat.send.click()
    wait_until(lambda: bot.chat.open_answers == 0)


def test_a_bot_that_restarts_says_so_and_the_text_stays(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    bot.chat.enqueue(SOURCES, Chunk(content="So far"), HANG)
    page = new_page(bot.url)
    chat = embed(page, stage, bot).open().ask()
    chat.wait_text("So far")
    bot.chat.drain()
    chat.settled()
    assert "The answer broke off." in page.locator(".fail").inner_text()
    assert chat.text.inner_text() == "So far"


# ---- the demo page -----------------------------------------------------------------------------


@pytest.fixture
def demo() -> Iterator[LiveServer]:
    """A bot with its page."""
    with serve_scripted() as live:
        yield live


@pytest.mark.parametrize(
    ("locale", "heading", "say", "suggestion"),
    [
        ("en-GB", "What the chat knows", "Ask Marea", "What do you build?"),
        ("es-ES", "Lo que sabe el chat", "Pregunta a Marea", "¿Qué hacéis?"),
    ],
)
def test_the_demo_page_speaks_both_languages(
    new_page: Callable[..., Page],
    demo: LiveServer,
    locale: str,
    heading: str,
    say: str,
    suggestion: str,
) -> None:
    page = new_page(demo.url, locale=locale)
    page.goto(demo.url + "/")
    assert page.get_by_role("heading", name=heading).is_visible()
    assert page.locator("main:visible").count() == 1
    page.locator(".know:visible .topics").filter(has_text="web").wait_for()
    page.locator(".questions:visible").get_by_role("button", name=suggestion).click()
    page.locator(".md").filter(has_text="Con Stripe").wait_for()
    assert page.get_by_role("dialog", name=say).is_visible()
    demo.chat.enqueue(SOURCES, DONE)
    page.locator(".panel button[aria-label^='C']").last.click()
    page.locator(".projects:visible button").first.click()
    assert page.locator(".turn").count() == 2
    page.goto(demo.url + ("/?lang=es" if locale == "en-GB" else "/?lang=en"))
    assert page.evaluate("document.documentElement.lang") == ("es" if locale == "en-GB" else "en")


def test_a_source_link_of_the_demo_shows_its_passage(
    new_page: Callable[..., Page], demo: LiveServer
) -> None:
    page = new_page(demo.url)
    page.goto(demo.url + "/")
    page.locator(".launcher").click()
    page.locator("textarea").fill("x")
    page.locator("textarea").press("Enter")
    page.locator(".cards a").click()
    passage = page.locator("dialog#passage")
    assert passage.is_visible()
    assert "Payments: Stripe." in passage.inner_text()
    assert "/projects/clothes-shop#payments" in passage.inner_text()
    passage.get_by_role("button", name="Close").click()
    assert not passage.is_visible()
    assert page.url == demo.url + "/"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_finds_nothing_on_the_demo_page(
    new_page: Callable[..., Page], demo: LiveServer, theme: str, size: str
) -> None:
    # The page's own policy would keep axe's script out.
    page = new_page(
        demo.url, color_scheme=theme, bypass_csp=True, **(PHONE if size == "phone" else {})
    )
    page.goto(demo.url + "/")
    page.locator(".know:visible .questions button").first.wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_demo_says_when_the_bot_does_not_answer(
    new_page: Callable[..., Page], demo: LiveServer
) -> None:
    page = new_page(demo.url)
    page.route("**/api/info", lambda route: route.fulfill(status=503, body="no"))
    page.goto(demo.url + "/")
    page.get_by_text("The bot behind the chat can't be reached").wait_for()


def test_the_example_for_plain_html_works_as_it_is(
    new_page: Callable[..., Page], stage: Stage, bot: LiveServer
) -> None:
    """Only its two addresses are replaced: that of the bot, and its own."""
    folder = SITE.parents[2] / "examples/html"
    html = (folder / "index.html").read_text("utf-8")
    assert html.count("http://127.0.0.1:7331") == 5
    stage.pages["/"] = (html.replace("http://127.0.0.1:7331", bot.url), {})
    page = new_page(bot.url)
    page.route("**/style.css", lambda route: route.fulfill(path=folder / "style.css"))
    page.goto(stage.origin + "/")
    page.locator(".launcher").click()
    page.get_by_role("button", name="What does the studio not do?").click()
    page.locator(".md").filter(has_text="Con Stripe").wait_for()
    accent = page.locator(".send").evaluate("node => getComputedStyle(node).backgroundColor")
    assert accent == "rgb(122, 46, 93)"
