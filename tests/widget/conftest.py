"""One Chromium for all widget tests, a fresh context for each, and a watch over what a page does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests.widget.stage import Stage, running_stage

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
# No other host exists; intercepting each request in Python instead would double the time of a test.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
WATCH = """
window.__pwn = 0;
window.__violations = [];
window.alert = window.confirm = window.prompt = window.print = () => { window.__pwn++; };
document.addEventListener("securitypolicyviolation",
  (event) => window.__violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


def unavailable(reason: str) -> NoReturn:
    """Skip, or fail where nothing may be skipped."""
    if os.environ.get("PORTFOLIO_BOT_NO_SKIP") == "1":
        pytest.fail(f"{reason} (PORTFOLIO_BOT_NO_SKIP=1 forbids to skip)", pytrace=False)
    pytest.skip(reason)


def find_chromium() -> str | None:
    """`$CHROMIUM`, else the system's own."""
    return (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """A real Chromium until the block ends; skips where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        unavailable("no playwright: `pip install -r requirements/dev.txt` gets it")
    if (program := find_chromium()) is None:
        unavailable("no chromium: `apt-get install chromium` gets it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, ALONE])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with the file's tests: while Playwright's event loop runs, no async test can."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_stage() -> Iterator[Stage]:
    """The server of the host pages."""
    with running_stage() as stage:
        yield stage


@pytest.fixture
def stage(shared_stage: Stage) -> Stage:
    """The server, as new."""
    shared_stage.forget()
    return shared_stage


class Watched:
    """What a page did that it must not do."""

    def __init__(self) -> None:
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        self.own: tuple[str, ...] = ()

    def check(self, page: Page) -> None:
        """Fail when there was anything; begin anew."""
        found = page.evaluate(
            "({ violations: window.__violations || [], executed: window.__pwn || 0 })"
        )
        seen = {**found, "foreign": self.foreign, "errors": self.errors, "dialogs": self.dialogs}
        self.foreign, self.errors, self.dialogs = [], [], []
        assert not any(seen.values()), seen


def watch(page: Page, *own: str) -> Watched:
    """Record requests to other origins than `own` script errors and dialogs."""
    watched = Watched()
    watched.own = tuple(f"{origin}/" for origin in own)

    def look(request: Any) -> None:
        if not request.url.startswith((*watched.own, "about:", "blob:")):
            watched.foreign.append(request.url)

    def dismiss(dialog: Any) -> None:
        watched.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("request", look)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("dialog", dismiss)
    page.add_init_script(WATCH)
    return watched


@pytest.fixture(scope="module")
def shared_page(browser: Browser, shared_stage: Stage) -> Iterator[tuple[Page, Watched]]:
    """One page: a new renderer for each test would take longer than most tests."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(30_000)
    yield page, watch(page, shared_stage.origin)
    context.close()


@pytest.fixture
def page(shared_page: tuple[Page, Watched], stage: Stage) -> Iterator[Page]:
    """A page without storage, which must end without violation, error or foreign request."""
    page, watched = shared_page
    page.set_viewport_size({"width": 1100, "height": 800})
    yield page
    try:
        watched.check(page)
    finally:
        page.evaluate(
            "if (location.protocol === 'http:') { localStorage.clear(); sessionStorage.clear(); }"
        )
        page.context.clear_permissions()
        page.goto("about:blank")


@pytest.fixture
def new_page(browser: Browser, stage: Stage) -> Iterator[Callable[..., Page]]:
    """Pages in contexts of their own, checked in the same way: touch, dark, other languages."""
    made: list[tuple[Page, Watched]] = []

    def make(*own: str, **options: Any) -> Page:
        page = browser.new_context(
            **{"locale": "en-GB", "viewport": {"width": 1100, "height": 800}, **options}
        ).new_page()
        page.set_default_timeout(30_000)
        made.append((page, watch(page, stage.origin, *own)))
        return page

    yield make
    try:
        for page, watched in made:
            watched.check(page)
    finally:
        for page, _ in made:
            page.context.close()
