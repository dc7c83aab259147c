"""A visitor of a whole site, with the widget on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.patience import PATIENCE_SECONDS
from tests.widget.driver import Chat

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_MS = PATIENCE_SECONDS * 1000
ROOTS = ".rony-chat-widget-root"


class Visitor(Chat):
    """The chat of a page that brought it along."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def go_to(self, link: str, heading: str) -> None:
        """Press a link of the site; its page comes without a whole new document."""
        self.page.evaluate("window.__same = true")
        self.page.get_by_role("link", name=link).click()
        self.page.locator("h1").filter(has_text=heading).wait_for()
        assert self.page.evaluate("window.__same === true")

    @property
    def bubbles(self) -> int:
        """How many chats there are on the page."""
        return self.page.locator(ROOTS).count()

    @property
    def failure(self) -> str:
        """What the chat says about a question that failed."""
        return self.page.locator(".fail").last.inner_text()
