"""Keyboard, screen reader, phone (WCAG 2.2 AA, WID-04, WID-05, WID-07, WID-08)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.patience import wait_until
from tests.widget.conftest import unavailable
from tests.widget.driver import Chat
from tests.widget.stage import START, answer, chunks, done, event, passage, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
PHONE = {
    "viewport": {"width": 375, "height": 667},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
VIEWPORT = '<meta name="viewport" content="width=device-width">'
LONG = "".join(f"Paragraph {n} of a long answer.\n\n" for n in range(40))
RICH = (
    "With **Stripe** [1] and `Bizum`, see [the page](/x).\n\n- one\n- two\n\n```\nlet a = 1;\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n## Title"
)


def violations(page: Page) -> list[str]:
    """What axe-core finds with all rules of WCAG 2.2 AA and its best practices, in the widget."""
    if not AXE.exists():
        unavailable("no axe-core: `npm ci` in tests/widget gets it")
    page.evaluate(
        "() => Promise.all(document.querySelector('.rony-chat-widget-root').shadowRoot.getAnimations()"
        ".map((animation) => animation.finished))"
    )
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE.read_text("utf-8") + "; undefined")
    found: list[str] = page.evaluate(
        """async () => {
          const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
          const say = ({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`;
          return (await axe.run({ runOnly: tags })).violations
            .map(({ id, nodes }) => `${id}: ${nodes.map(say).join('; ')}`);
        }"""
    )
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_finds_nothing_in_any_state(
    new_page: Callable[..., Page], stage: Stage, theme: str, size: str
) -> None:
    page = new_page(
        color_scheme=theme, reduced_motion="reduce", **(PHONE if size == "phone" else {})
    )
    assert stage.info is not None
    stage.info["feedback"] = True
    chat = Chat(page, stage).load(policy=None, body="<main><h1>Host</h1><p>Text</p></main>",
                                  head=VIEWPORT)  # fmt: skip
    chat.launcher.wait_for()
    assert violations(page) == [], "closed"
    chat.open()
    page.locator(".chips .chip").wait_for()
    assert violations(page) == [], "open"
    queue, reading, streaming = threading.Event(), threading.Event(), threading.Event()
    stage.play(
        START, event("queued", position=2, eta_seconds=9.0), queue,
        sources(passage(), passage(2, lang="es", url="")),
        event("progress", processed=1, total=3), reading, chunks(RICH), streaming, done(answer_id="a7"),
    )  # fmt: skip
    chat.ask()
    chat.state.filter(has_text="number 2").wait_for()
    assert violations(page) == [], "queue"
    queue.set()
    chat.state.filter(has_text="33 %").wait_for()
    assert violations(page) == [], "sources"
    reading.set()
    chat.wait_text("Title")
    assert violations(page) == [], "streaming"
    streaming.set()
    chat.settled()
    page.get_by_role("button", name="Not helpful").click()
    assert violations(page) == [], "answer"
    stage.play(
        START, chunks("Half"), event("error", code="model-error", message="x", retryable=True)
    )
    chat.asked()
    assert violations(page) == [], "error"


def test_by_keyboard_alone(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load(body='<a href="#x" id="before">before</a>')
    chat.launcher.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert chat.focused() == "launcher"
    page.keyboard.press("Enter")
    assert chat.focused() == "TEXTAREA"
    page.keyboard.type("How do they pay?")
    page.keyboard.press("Enter")
    chat.settled()
    assert chat.focused() == "TEXTAREA"
    seen = []
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        seen.append(
            chat.inside(
                "(root.activeElement?.getAttribute('aria-label') || root.activeElement?.textContent || '')"
                ".slice(0, 24)"
            )
        )
        if seen[-1] == "Forget this conversation":
            break
    assert seen == [
        "Copy",
        "Source 1: Clothes shop —",
        "1 Clothes shopPayments",
        "Conversation",
        "Close the chat",
        "Forget this conversation",
    ]
    page.keyboard.press("Escape")
    assert not chat.panel.is_visible()
    assert chat.focused() == "launcher"


def test_there_is_no_trap(page: Page, stage: Stage) -> None:
    """WCAG 2.1.2: on a desktop the page stays reachable, open or not."""
    chat = Chat(page, stage).load(body='<a href="#x" id="before">before</a>').open()
    for _ in range(8):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.id") == "before":
            break
    else:
        pytest.fail("the focus never left the chat")
    page.keyboard.press("Escape")
    assert chat.panel.is_visible(), "Escape belongs to the page while the focus is there"


def test_focus_returns_to_what_opened_it(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load(body='<button id="own">Ask us</button>')
    chat.launcher.wait_for()
    page.evaluate("document.getElementById('own').addEventListener('click', () => RonyChat.open())")
    page.locator("#own").click()
    assert chat.focused() == "TEXTAREA"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "own"


def test_roles_and_names(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load()
    launcher = page.get_by_role("button", name="Ask", exact=True)
    launcher.wait_for()
    assert launcher.get_attribute("aria-expanded") == "false"
    chat.open()
    page.get_by_role("dialog", name="Ask Marea").wait_for()
    assert chat.panel.get_attribute("aria-modal") == "false"
    assert page.get_by_role("log", name="Conversation").get_attribute("aria-live") == "off"
    assert page.get_by_role("textbox", name="Write your question").is_visible()
    assert page.get_by_role("group", name="Suggested questions").is_visible()


def test_an_answer_is_announced_once(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load().open()
    page.evaluate(
        """() => { const root = document.querySelector('.rony-chat-widget-root').shadowRoot;
          window.__said = [];
          new MutationObserver(() => window.__said.push(root.querySelector('[role=status]').textContent))
            .observe(root.querySelector('[role=status]'),
              { childList: true, characterData: true, subtree: true }); }"""
    )
    words = [f"word{n} " for n in range(200)]
    stage.play(START, sources(), *(chunks(word) for word in words), done())
    chat.asked()
    assert page.evaluate("window.__said") == ["Looking through the site…", "".join(words).strip()]


def test_enter_that_ends_a_composition_does_not_send(page: Page, stage: Stage) -> None:
    """WID-04: also Safari's, which only the key code betrays."""
    chat = Chat(page, stage).load().open()
    chat.box.fill("にほんご")
    press = """(node, init) => node.dispatchEvent(new KeyboardEvent('keydown',
      { key: 'Enter', bubbles: true, composed: true, cancelable: true, ...init }))"""
    chat.box.evaluate(press, {"isComposing": True})
    chat.box.evaluate(press, {"keyCode": 229})
    page.wait_for_timeout(50)
    assert stage.asked == []
    chat.box.press("Shift+Enter")
    assert chat.box.input_value() == "にほんご\n"
    chat.box.press("Enter")
    chat.settled()
    assert len(stage.asked) == 1


def test_enter_during_an_answer_keeps_the_draft(page: Page, stage: Stage) -> None:
    go = threading.Event()
    chat = Chat(page, stage).load().open()
    stage.play(START, chunks("x"), go, done())
    chat.ask()
    chat.wait_text("x")
    chat.ask("Next")
    assert chat.box.input_value() == "Next"
    go.set()
    chat.settled()
    assert len(stage.asked) == 1


def test_blank_questions_are_not_sent(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load().open()
    chat.ask("  \n ")
    page.wait_for_timeout(30)
    assert stage.asked == []


def test_reading_further_up_is_not_disturbed(page: Page, stage: Stage) -> None:
    """WID-07."""
    go, end = threading.Event(), threading.Event()
    chat = Chat(page, stage).load().open()
    stage.play(START, sources(), chunks(LONG), go, chunks("The last words.\n\n" * 9), end, done())
    chat.ask()
    chat.wait_text("Paragraph 39")
    at_end = "(log) => log.scrollHeight - log.scrollTop - log.clientHeight < 3"
    wait_until(lambda: chat.log.evaluate(at_end))
    # Two frames: the event of the scrolling has been handled then, however slow the machine is.
    chat.log.evaluate("""(log) => { log.scrollTop -= 300;
      return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); }""")
    before = chat.log.evaluate("(log) => log.scrollTop")
    go.set()
    chat.wait_text("The last words.")
    more = page.get_by_role("button", name="New text")
    more.wait_for()
    end.set()
    chat.settled()
    assert chat.log.evaluate("(log) => log.scrollTop") == before
    more.click()
    assert chat.log.evaluate(at_end)
    assert not more.is_visible()


def test_on_a_phone_it_fills_the_screen_and_the_page_stands_still(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    page = new_page(**PHONE)
    chat = Chat(page, stage).load(body='<main><h1>Host</h1><div id="tall"></div></main>', policy=None,
                                  head=VIEWPORT + "<style>#tall{height:3000px}</style>").open()  # fmt: skip
    whole = {"x": 0, "y": 0, "width": 375, "height": 667}
    wait_until(lambda: chat.panel.bounding_box() == whole)
    assert chat.panel.get_attribute("aria-modal") == "true"
    assert chat.focused() == "panel", (
        "focusing the field would open the keyboard over the suggestions"
    )
    assert page.evaluate("getComputedStyle(document.documentElement).overflow") == "hidden"
    assert float(chat.box.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")) >= 16, (
        "iOS would zoom in"
    )
    targets = chat.inside("[...root.querySelectorAll('button')].filter((b) => b.getClientRects().length)"
                          ".map((b) => b.getBoundingClientRect())"
                          ".map((r) => Math.min(r.width, r.height))")  # fmt: skip
    assert min(targets) >= 24
    for _ in range(12):  # here the focus stays inside: what is behind can't be seen
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "rony-chat-widget-root"
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        assert page.evaluate("document.activeElement.className") == "rony-chat-widget-root"
    page.get_by_role("button", name="Close the chat").tap()
    assert page.evaluate("getComputedStyle(document.documentElement).overflow") == "visible"
    assert chat.focused() == "launcher"


def test_above_a_phones_keyboard_the_field_stays_in_view(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    """WID-05: the keyboard shrinks the visual viewport only."""
    page = new_page(**PHONE)
    page.add_init_script(
        """const view = new EventTarget(); Object.assign(view, { height: 667, offsetTop: 0, scale: 1 });
        Object.defineProperty(window, 'visualViewport', { value: view });"""
    )
    chat = Chat(page, stage).load(head=VIEWPORT).open()
    page.evaluate(
        "Object.assign(visualViewport, { height: 367, offsetTop: 40 });"
        "visualViewport.dispatchEvent(new Event('resize'))"
    )
    chat.box.fill("A long draft\n" * 20)
    wait_until(lambda: (chat.panel.bounding_box() or {}).get("height") == 367)
    page.wait_for_timeout(250)
    box, field, send = chat.panel.bounding_box(), chat.box.bounding_box(), chat.send.bounding_box()
    assert box
    assert (box["y"], box["height"]) == (40, 367)
    assert field
    assert field["height"] <= 140
    assert send
    assert send["y"] + send["height"] <= 407


def test_a_swipe_down_on_the_header_closes(new_page: Callable[..., Page], stage: Stage) -> None:
    page = new_page(**PHONE)
    chat = Chat(page, stage).load(head=VIEWPORT).open()
    page.wait_for_timeout(200)
    chat.inside(
        """(() => { const header = root.querySelector('header');
          const touch = (y) => new Touch({ identifier: 1, target: header, clientX: 100, clientY: y });
          header.dispatchEvent(new TouchEvent('touchstart', { touches: [touch(20)] }));
          header.dispatchEvent(new TouchEvent('touchend', { changedTouches: [touch(140)] })); })()"""
    )
    assert not chat.panel.is_visible()


@pytest.mark.parametrize(("width", "height"), [(320, 256), (320, 640), (640, 320)])
def test_at_400_percent_everything_can_be_reached(
    page: Page, stage: Stage, width: int, height: int
) -> None:
    """WCAG 1.4.10: 1280 px at 400 % are 320."""
    page.set_viewport_size({"width": width, "height": height})
    chat = Chat(page, stage).load().open()
    stage.play(answer(RICH))
    chat.asked()
    assert chat.inside(
        "root.querySelector('.panel').scrollWidth <= innerWidth"
        " && root.querySelector('.log').scrollWidth <= root.querySelector('.log').clientWidth"
    )
    log, send = chat.log.bounding_box(), chat.send.bounding_box()
    assert log
    assert log["height"] >= 60
    assert send
    assert send["y"] + send["height"] <= height
    assert page.get_by_role("button", name="Close the chat").is_visible()


def test_motion_is_reduced(new_page: Callable[..., Page], stage: Stage) -> None:
    page = new_page(reduced_motion="reduce")
    chat = Chat(page, stage).load().open()
    stage.play(START, 0.3, done())
    chat.ask()
    chat.state.wait_for()
    assert chat.inside("root.getAnimations().length") == 0


def test_a_link_to_the_same_page_shows_it_on_a_phone(
    new_page: Callable[..., Page], stage: Stage
) -> None:
    page = new_page(**PHONE)
    body = '<main><h1>Host</h1><p id="here">Payments go through Stripe.</p></main>'
    chat = Chat(page, stage).load(body=body, head=VIEWPORT).open()
    stage.play(START, sources(passage(url="/#here")), chunks("x"), done())
    chat.asked()
    chat.cards.first.locator("a").tap()
    chat.panel.wait_for(state="hidden")
    assert page.evaluate("location.hash") == "#here"
