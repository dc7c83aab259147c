"""On other people's pages: tags, policies, themes, navigations (WID-03, WID-06, X9)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.patience import wait_until
from tests.widget.driver import Chat
from tests.widget.stage import SITE, START, STRICT, chunks, done, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser

TAG = '<script src="/chat-widget.js" defer></script>'
ADD_TAG = """(src) => new Promise((resolve) => {
  const script = document.createElement('script');
  script.src = src; script.onload = resolve; document.head.append(script); })"""
NEW_BODY = (
    "const body = document.createElement('body'); body.append('Another page');"
    "document.body.replaceWith(body);"
)
SWAPS = {
    "body replaced": NEW_BODY,
    "astro": NEW_BODY + "document.dispatchEvent(new Event('astro:after-swap'));",
    "body emptied": "document.body.textContent = '';",
}
ROOTS = ".rony-chat-widget-root"


def go_to(
    page: Page, stage: Stage, *, head: str = "", body: str = "", policy: str | None = STRICT
) -> Chat:
    """A host page as written."""
    page.goto(stage.host(body, head=head, policy=policy))
    return Chat(page, stage)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ('<script src="/chat-widget.js"></script>', "<p>before body, no defer</p>"),
        ("", '<p>x</p><script src="/chat-widget.js"></script>'),
        ('<script src="/chat-widget.js" async></script>', "x"),
        ('<script type="module" src="/chat-widget.js"></script>', "x"),
        (TAG + TAG, TAG),
    ],
    ids=["head", "body", "async", "module", "three times"],
)
def test_wherever_the_tag_is(page: Page, stage: Stage, head: str, body: str) -> None:
    chat = go_to(page, stage, head=head, body=body)
    chat.launcher.wait_for()
    assert page.locator(ROOTS).count() == 1
    assert "Con Stripe" in chat.open().asked().text.inner_text()


def test_added_by_a_script_and_added_again(page: Page, stage: Stage) -> None:
    """As Next's <Script> and Astro's router do it."""
    chat = go_to(page, stage, policy=None)
    for n in range(3):
        page.evaluate(ADD_TAG, f"/chat-widget.js?{n}")
    chat.launcher.wait_for()
    assert page.locator(ROOTS).count() == 1
    chat.open().asked()
    assert len(stage.asked) == 1


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS.keys())
def test_it_survives_a_client_side_navigation_in_the_middle_of_an_answer(
    page: Page, stage: Stage, swap: str
) -> None:
    go = threading.Event()
    chat = Chat(page, stage).load().open()
    stage.play(START, sources(), chunks("Half "), go, chunks("and whole."), done())
    chat.ask()
    chat.wait_text("Half")
    chat.box.fill("my draft")
    for _ in range(3):
        page.evaluate(swap)
    assert page.locator(ROOTS).count() == 1
    assert chat.panel.is_visible()
    assert chat.box.input_value() == "my draft"
    assert chat.panel.evaluate("node => getComputedStyle(node).position") == "fixed"
    go.set()
    chat.wait_text("and whole.")
    chat.settled()
    assert len(stage.asked) == 1


def test_it_does_not_fight_with_a_page_that_removes_it(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load()
    chat.launcher.wait_for()
    page.evaluate("""() => { const root = document.querySelector('.rony-chat-widget-root');
      window.__removed = 0;
      new MutationObserver(() => { if (root.isConnected) { window.__removed++; root.remove(); } })
        .observe(document.body, { childList: true });
      root.remove(); }""")
    page.wait_for_timeout(100)
    assert page.evaluate("window.__removed") <= 25


def test_destroy_leaves_nothing_and_can_begin_anew(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load(policy=None).open()
    stage.play(START, sources(), chunks("Half"), threading.Event(), done())
    chat.ask()
    chat.wait_text("Half")
    page.evaluate("RonyChat.destroy()")
    assert stage.left.wait(60)
    assert page.evaluate(
        "[typeof RonyChat, document.querySelectorAll('.rony-chat-widget-root').length,"
        " document.documentElement.style.overflow]"
    ) == ["undefined", 0, ""]
    page.evaluate(NEW_BODY)
    assert page.locator(ROOTS).count() == 0
    page.evaluate(ADD_TAG, "/chat-widget.js")
    chat.open().asked()
    assert "Con Stripe" in chat.text.inner_text()


def test_the_page_can_open_ask_and_close(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load()
    chat.launcher.wait_for()
    page.evaluate("""() => { window.__events = [];
      for (const name of ['open', 'answer', 'error', 'close', 'forget'])
        document.addEventListener(`rony-chat:${name}`,
        ({ detail: { milliseconds, ...rest } }) => window.__events.push([name, rest])); }""")
    page.evaluate("RonyChat.ask('What is Trama?')")
    page.evaluate("RonyChat.close()")
    assert not chat.panel.is_visible()
    assert stage.asked[0]["messages"][0]["content"] == "What is Trama?"
    assert page.evaluate("window.__events") == [
        ["open", {}], ["answer", {"route": "answer", "sources": 1}], ["close", {}]]  # fmt: skip
    assert page.evaluate("JSON.stringify(window.__events)").find("Trama") < 0


def test_a_page_can_take_over_the_links_to_sources(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load().open().asked()
    page.evaluate(
        """document.addEventListener('rony-chat:source',
          (event) => { event.preventDefault(); window.__source = event.detail; })"""
    )
    chat.text.locator("a.cite").click()
    assert page.url == stage.origin + "/"
    assert page.evaluate("window.__source") == {
        "n": 1, "title": "Clothes shop", "section": "Payments", "lang": "en",
        "url": "/projects/clothes-shop#payments",
        "quote": "Payments go through Stripe, with cards and Bizum.",
    }  # fmt: skip


def test_an_answer_that_ended_behind_the_closed_panel_shows_on_the_button(
    page: Page, stage: Stage
) -> None:
    go = threading.Event()
    chat = Chat(page, stage).load().open()
    stage.play(START, chunks("x"), go, done())
    chat.ask()
    chat.wait_text("x")
    page.keyboard.press("Escape")
    go.set()
    page.locator(".launcher.new").wait_for()
    chat.open()
    page.keyboard.press("Escape")
    assert not page.locator(".launcher.new").count()


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("", "/api/chat"),
        ('data-api-url="ORIGIN"', "/api/chat"),
        ('data-api-url="ORIGIN/"', "/api/chat"),
        ('data-api-url="/api/bot"', "/api/bot"),
        ('data-api-url="/proxy/chat/"', "/proxy/chat"),
    ],
)
def test_where_it_asks(page: Page, stage: Stage, given: str, asked: str) -> None:
    chat = Chat(page, stage).load(given.replace("ORIGIN", stage.origin)).open().asked()
    assert "Con Stripe" in chat.text.inner_text()
    info = asked.removesuffix("/chat") + "/info"
    assert [path for path in stage.paths if not path.startswith("/chat-widget")] == [
        "/",
        info,
        asked,
    ]


def test_the_tag_says_title_greeting_label_and_place(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load(
        'data-title="Ask Ana" data-greeting="Hi &lt;b&gt;there" data-label="Talk" data-position="bottom-left"'
    )
    assert chat.launcher.inner_text() == "Talk"
    box = chat.launcher.bounding_box()
    assert box
    assert box["x"] == 20
    chat.open()
    page.wait_for_timeout(50)
    assert page.locator("h2").inner_text() == "Ask Ana"
    assert page.locator(".hi").inner_text() == "Hi <b>there"
    panel = chat.panel.bounding_box()
    assert panel
    assert round(panel["x"]) == 20


@pytest.mark.parametrize(
    ("tag", "page_lang", "locale", "expected"),
    [
        ("", "en", "es-ES", "Ask"),
        ("", "es-MX", "en-US", "Pregunta"),
        ('data-lang="es"', "en", "en-US", "Pregunta"),
        ("", "", "es-AR", "Pregunta"),
        ("", "gl", "fr-FR", "Ask"),
    ],
)
def test_its_language(
    new_page: Callable[..., Page],
    stage: Stage,
    tag: str,
    page_lang: str,
    locale: str,
    expected: str,
) -> None:
    page = new_page(locale=locale)
    stage.pages["/"] = (
        f'<!doctype html><html lang="{page_lang}"><title>x</title>'
        f'<script src="/chat-widget.js" {tag} defer></script>',
        {},
    )
    page.goto(stage.origin + "/")
    assert page.locator(".launcher").inner_text() == expected
    page.locator(".launcher").click()
    wanted = "Escribe tu pregunta" if expected == "Pregunta" else "Write your question"
    assert page.locator("textarea").get_attribute("placeholder") == wanted


def test_its_theme_follows_system_page_and_tag(new_page: Callable[..., Page], stage: Stage) -> None:
    page = new_page(color_scheme="dark")
    chat = Chat(page, stage).load()
    chat.launcher.wait_for()
    page.locator(".frame[data-theme=dark]").wait_for(state="attached")
    page.emulate_media(color_scheme="light")
    page.locator(".frame[data-theme=light]").wait_for(state="attached")
    for change, expected in (
        ("document.documentElement.classList.add('dark')", "dark"),
        ("document.documentElement.dataset.theme = 'light'", "light"),
        ("document.documentElement.removeAttribute('data-theme')", "dark"),
        ("document.documentElement.className = 'darker-menu'", "light"),
        ("document.body.dataset.theme = 'my-dark'", "dark"),
        (
            "document.body.removeAttribute('data-theme');"
            "document.documentElement.style.colorScheme = 'dark'",
            "dark",
        ),
    ):
        page.evaluate(change)
        page.locator(f".frame[data-theme={expected}]").wait_for(state="attached")
    chat.load('data-theme="light"')
    page.evaluate("document.documentElement.classList.add('dark')")
    page.wait_for_timeout(50)
    assert page.locator(".frame").get_attribute("data-theme") == "light"


def test_its_colours_and_shape_come_from_custom_properties(page: Page, stage: Stage) -> None:
    rules = "--rony-accent: rgb(120, 0, 90); --rony-radius: 3px; --rony-font: monospace;"
    style = f"<style>.rony-chat-widget-root {{ {rules} }}</style>"
    chat = Chat(page, stage).load(policy=None, head=style).open()
    assert chat.send.evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(120, 0, 90)"
    assert chat.panel.evaluate(
        "node => [getComputedStyle(node).borderRadius, getComputedStyle(node).fontFamily]"
    ) == ["3px", "monospace"]


def test_loading_moves_nothing_and_costs_little(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    page = new_page()
    page.add_init_script("""window.__shifts = 0; new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.__shifts += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });""")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def script_seconds(head: str) -> float:
        page.goto(stage.host("<main><h1>Host</h1><p>Text</p></main>", head=head))
        page.wait_for_timeout(60)
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(item["value"] for item in metrics if item["name"] == "ScriptDuration"))

    script_seconds("")
    bare = script_seconds("")
    with_widget = script_seconds(TAG)
    page.locator(".launcher").wait_for()
    assert page.evaluate("window.__shifts") == 0
    assert with_widget - bare < 0.05


def test_without_its_style_sheet_it_stays_out_of_sight(page: Page, stage: Stage) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.route("**/chat-widget.css", lambda route: route.fulfill(status=404))
    chat = Chat(page, stage).load()
    page.wait_for_function("() => document.querySelector('.rony-chat-widget-root')")

    def told() -> bool:
        page.wait_for_timeout(20)  # lets what the console says in
        return any("chat-widget.css could not be loaded" in line for line in said)

    wait_until(told)
    assert not chat.launcher.is_visible()
    page.unroute("**/chat-widget.css")


def test_the_documented_policy_is_enough() -> None:
    page = (SITE.parents[2] / "docs/widget.md").read_text("utf-8")
    for directive in ("script-src", "style-src", "connect-src"):
        assert f"{directive} https://chat.example.com" in page
