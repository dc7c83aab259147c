"""A visitor of a whole site, with the widget on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tests.patience import PATIENCE_SECONDS
from tests.widget.driver import Chat

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

PATIENCE_MS = PATIENCE_SECONDS * 1000
MOST_ARRIVALS = 3
ROOTS = ".rony-chat-widget-root"
ARRIVED = """({
  state: document.readyState,
  scripts: [...document.scripts].map((script) => script.src).filter(Boolean),
  resources: performance.getEntriesByType("resource").map(
    (entry) => `${entry.name} ${entry.responseStatus} ${Math.round(entry.responseEnd)} ms`),
})"""


class Visitor(Chat):
    """The chat of a page that brought it along."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._lost: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("requestfailed", self._lose)

    def arrive(self, url: str) -> None:
        """Go to a page; once more where the browser lost a file of it.

        Beside containers that start and stop, Chromium now and then breaks off a request (one in some
        thousand): a site without one of its scripts never comes alive, here as at a visitor's.
        """
        for _ in range(MOST_ARRIVALS):
            self._lost.clear()
            self.page.goto(url)
            if not self._lost:
                return
        raise AssertionError(f"{url} lost each time: {self._lost}")

    def open(self) -> Self:
        """Press the launcher; where it never came, the failure says what did."""
        from playwright.sync_api import TimeoutError as TooLate

        try:
            return super().open()
        except TooLate as late:
            late.add_note(f"{self.page.evaluate(ARRIVED)}, lost: {self._lost}")
            raise

    def go_to(self, link: str, heading: str) -> None:
        """Press a link of the site; its page comes without a whole new document."""
        self.page.evaluate("window.__same = true")
        self.page.get_by_role("link", name=link).click()
        self.page.locator("h1").filter(has_text=heading).wait_for()
        assert self.page.evaluate("window.__same === true")

    def _lose(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # of a page that was left
            self._lost.append(f"{request.url}: {request.failure}")

    @property
    def bubbles(self) -> int:
        """How many chats there are on the page."""
        return self.page.locator(ROOTS).count()

    @property
    def failure(self) -> str:
        """What the chat says about a question that failed."""
        return self.page.locator(".fail").last.inner_text()
