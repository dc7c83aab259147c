"""What a visitor does, in the words of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tests.widget.stage import STRICT, Stage

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


class Chat:
    """The widget on a host page."""

    def __init__(self, page: Page, stage: Stage) -> None:
        self.page = page
        self.stage = stage

    def load(
        self,
        attributes: str = "",
        *,
        body: str = "<h1>Host</h1>",
        policy: str | None = STRICT,
        path: str = "/",
        head: str = "",
    ) -> Chat:
        """Go to a host page that has the tag."""
        tag = f'<script src="/chat-widget.js" {attributes} defer></script>'
        self.page.goto(self.stage.host(body, path=path, policy=policy, head=tag + head))
        return self

    def open(self) -> Self:
        """Press the launcher."""
        self.launcher.click()
        return self

    def ask(self, question: str = "How do customers pay?") -> Self:
        """Type a question and press Enter."""
        self.box.fill(question)
        self.box.press("Enter")
        return self

    def asked(self, question: str = "How do customers pay?") -> Self:
        """Ask, and wait until the answer has ended."""
        self.ask(question)
        self.settled()
        return self

    def settled(self) -> None:
        """Wait until nothing runs."""
        self.page.locator(".send[aria-label='Send'], .send[aria-label='Enviar']").wait_for()

    @property
    def launcher(self) -> Locator:
        return self.page.locator(".launcher")

    @property
    def panel(self) -> Locator:
        return self.page.locator(".panel")

    @property
    def box(self) -> Locator:
        return self.page.locator("textarea")

    @property
    def send(self) -> Locator:
        return self.page.locator(".send")

    @property
    def log(self) -> Locator:
        return self.page.locator(".log")

    @property
    def state(self) -> Locator:
        return self.page.locator(".state").last

    @property
    def text(self) -> Locator:
        """The last answer."""
        return self.page.locator(".md").last

    @property
    def cards(self) -> Locator:
        """The sources of the last answer."""
        return self.page.locator(".turn").last.locator(".cards li")

    def wait_text(self, words: str) -> None:
        """Wait until the last answer holds `words`."""
        self.text.filter(has_text=words).wait_for()

    def inside(self, script: str) -> Any:
        """Evaluate with `root`, the widget's shadow root."""
        return self.page.evaluate(
            "() => { const root = document.querySelector('.rony-chat-widget-root').shadowRoot; "
            f"return {script}; }}"
        )

    def focused(self) -> str:
        """Class or tag of what has the focus inside the widget."""
        found: str = self.inside(
            "root.activeElement ? root.activeElement.className || root.activeElement.tagName : ''"
        )
        return found


def stored(page: Page) -> dict[str, dict[str, str]]:
    """Everything the page keeps on the device."""
    found: dict[str, dict[str, str]] = page.evaluate(
        "() => ({ local: {...localStorage}, session: {...sessionStorage} })"
    )
    return found
