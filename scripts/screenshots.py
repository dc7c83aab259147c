"""Pictures of the demo page and the widget for the docs, against a bot with scripted answers.

`python -m scripts.screenshots [folder]`; needs playwright and Chromium (`$CHROMIUM` names another one).
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from bot.chat.events import (
    Chunk,
    Done,
    Event,
    Failed,
    Progress,
    SourcePassage,
    Sources,
    Timings,
    Usage,
)
from bot.chat.service import Info
from tests.fakes import HANG, ScriptedChat
from tests.live_server import LiveServer, question, serve_in_thread
from tests.patience import wait_until

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/screenshots"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
DESKTOP = {"width": 1280, "height": 800}
PHONE = {
    "viewport": {"width": 390, "height": 760},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
MOST_BYTES = 150_000


def passage(n: int, title: str, section: str, url: str, lang: Any, quote: str) -> SourcePassage:
    """A passage of the sample site."""
    return SourcePassage(
        n=n, title=title, section=section, url=url, lang=lang, kind="project", quote=quote
    )


SHOP = Sources(
    documents=("clothes-shop.md", "sqlite-en-produccion.md"),
    passages=(
        passage(1, "Trama: online clothes shop", "Stack", "/projects/clothes-shop#stack", "en",
                "Payments: Stripe. Cards and wallets go through Stripe Checkout, so card numbers never "
                "touch our server."),
        passage(2, "Trama: online clothes shop", "Decisions and their reasons",
                "/projects/clothes-shop#decisions-and-their-reasons", "en",
                "Stock is reserved when the customer starts to pay, not when a garment enters the "
                "basket."),
        passage(3, "SQLite en producción, tres años después", "Cuándo no la usaríamos",
                "/posts/sqlite-en-produccion#cuándo-no-la-usaríamos", "es",
                "Para la tienda de ropa elegimos PostgreSQL, porque dos cajas registradoras y la web "
                "compiten por la misma última camisa."),
    ),
)  # fmt: skip
ANSWER = (
    "Customers pay through **Stripe** [1]:\n\n- cards\n- wallets\n\n"
    "A garment is reserved when the customer starts to pay [2]."
)
RESPUESTA = (
    "En la tienda se paga con **Stripe** [1]:\n\n- tarjetas\n- monederos electrónicos\n\n"
    "La prenda se reserva cuando el cliente empieza a pagar [2]."
)
DONE = Done(usage=Usage(), finish_reason="stop", route="answer", timings=Timings(total_ms=900.0))
CUT = Failed(code="model-interrupted", message="The model stopped.", retryable=True)


class DemoChat(ScriptedChat):
    """Scripted answers, and the sample site's own words about itself."""

    async def info(self) -> Info:
        return Info(
            name="Marea",
            model="qwen2.5-1.5b-instruct",
            persona="Marea",
            topics={
                "en": ("the studio's projects", "its blog", "its services", "its CV"),
                "es": ("los proyectos del estudio", "su blog", "sus servicios", "su currículum"),
            },
            languages=("en", "es"),
            suggested_questions={
                "en": ("Which projects are there?", "How do customers pay in the clothes shop?",
                       "What does the studio not do?"),
                "es": ("¿Qué proyectos hay?", "¿Con qué se paga en la tienda de ropa?",
                       "¿Cómo trabaja el estudio?"),
            },
        )  # fmt: skip


@contextmanager
def demo_bot() -> Iterator[LiveServer]:
    """The bot with the demo page and scripted answers."""
    from bot.app import create_app
    from corpus.settings import Settings
    from tests.fakes import fake_ports

    with serve_in_thread(create_app(Settings(), fake_ports(), make_service=DemoChat)) as live:
        yield live


def ask(page: Page, words: str) -> None:
    """Open the chat and ask."""
    page.locator(".launcher").click()
    page.locator(".chips .chip").first.wait_for()
    page.locator("textarea").fill(words)
    page.locator("textarea").press("Enter")


def pieces(text: str) -> list[Event]:
    """The text word by word."""
    return [Chunk(content=word) for word in text.split(" ") for word in (word + " ",)]


def picture(
    browser: Browser,
    bot: LiveServer,
    name: str,
    shoot: Callable[[Page], None],
    folder: Path,
    **options: Any,
) -> None:
    """One picture of the page in a context of its own."""
    context = browser.new_context(
        **{"viewport": DESKTOP, "locale": "en-GB", "reduced_motion": "reduce", **options}
    )
    page = context.new_page()
    page.goto(bot.url + "/")
    page.locator(".know:visible .questions button").first.wait_for()
    page.locator(".launcher").wait_for()
    shoot(page)
    page.wait_for_timeout(150)
    file = folder / f"{name}.png"
    page.screenshot(path=file)
    size = file.stat().st_size
    print(f"{file.name}: {size // 1000} kB")
    if size > MOST_BYTES:
        raise SystemExit(f"{file.name} has {size} bytes, {MOST_BYTES} at most")
    context.close()
    wait_until(lambda: bot.chat.open_answers == 0 and bot.chat.admitted == 0)


def shoot_all(browser: Browser, bot: LiveServer, folder: Path) -> None:
    """Every state that the README and docs/widget.md show."""
    english, spanish = (
        "How do customers pay in the clothes shop?",
        "¿Con qué se paga en la tienda de ropa?",
    )

    def answered(text: str, words: str) -> Callable[[Page], None]:
        def shoot(page: Page) -> None:
            bot.chat.enqueue(SHOP, *pieces(text), DONE)
            ask(page, words)
            page.locator(".tools .i").first.wait_for()

        return shoot

    def state(words: str, *script: Any, until: str) -> Callable[[Page], None]:
        def shoot(page: Page) -> None:
            bot.chat.enqueue(*script)
            ask(page, words)
            page.locator(until).first.wait_for()

        return shoot

    def queued(page: Page) -> None:
        leave = threading.Event()
        threads = []
        for n in range(2):
            bot.chat.enqueue(HANG)
            threads.append(threading.Thread(target=wait_in_line, args=(bot, leave)))
            threads[-1].start()
            wait_until(lambda n=n: bot.chat.admitted == n + 1)  # type: ignore[misc]
        ask(page, english)
        page.locator(".state", has_text="number 2").wait_for()
        page.on("close", lambda _: leave.set())
        page.context.on("close", lambda _: leave.set())

    def welcome(page: Page) -> None:
        page.locator(".launcher").click()
        page.locator(".chips .chip").first.wait_for()

    half = ANSWER[: ANSWER.index("A garment")]
    shots: list[tuple[str, Callable[[Page], None], dict[str, Any]]] = [
        ("desktop", answered(ANSWER, english), {}),
        ("welcome", welcome, {}),
        ("mobile", answered(RESPUESTA, spanish), {**PHONE, "locale": "es-ES"}),
        ("dark", answered(RESPUESTA, spanish), {"color_scheme": "dark", "locale": "es-ES"}),
        (
            "sources",
            state(english, SHOP, Progress(processed=620, total=1000), HANG, until="progress"),
            {},
        ),
        ("streaming", state(english, SHOP, *pieces(half), HANG, until=".md li + li"), {}),
        ("queue", queued, {}),
        ("error", state(english, SHOP, *pieces(half), 0.2, CUT, until=".fail"), {}),
    ]
    for name, shoot, options in shots:
        picture(browser, bot, name, shoot, folder, **options)


def wait_in_line(bot: LiveServer, leave: threading.Event) -> None:
    """Another visitor, who leaves when told."""
    with bot.client() as client, client.stream("POST", "/api/chat", json=question()) as reply:
        assert reply.status_code == 200
        leave.wait(20)


def main() -> None:
    """Write all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    with demo_bot() as bot, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        shoot_all(browser, bot, folder)
        browser.close()


if __name__ == "__main__":
    main()
