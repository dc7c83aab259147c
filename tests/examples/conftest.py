"""The examples as they are started for real, each in front of a bot, and a Chromium to look at them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from bot.adapters.limiter import LocalLimiter
from bot.adapters.llamacpp import LlamaServer
from bot.app import create_app
from corpus.settings import ProviderSettings, Settings
from tests.examples.recorder import recording
from tests.examples.sites import CURE, NAMES, missing, serving, site_client
from tests.examples.visitor import Visitor
from tests.fake_llama import FakeLlama
from tests.fakes import PATIENT, FakeEmbedder, FakeIndex, fake_ports
from tests.live_server import serve_in_thread, serve_scripted
from tests.small_index import page, small_index, toward
from tests.widget.conftest import chromium, unavailable, watch

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    from playwright.sync_api import Browser, Page, Route

    from bot.chat.ports.sharing import Limiter, Verdict
    from tests.examples.recorder import Recorder
    from tests.live_server import LiveServer
    from tests.widget.conftest import Watched


@pytest.fixture(scope="session", params=NAMES)
def example(request: pytest.FixtureRequest) -> str:
    """The name of an example that is built."""
    name: str = request.param
    if shutil.which("npm") is None:
        unavailable(f"no npm: `apt-get install npm` gets it, then {CURE}")
    if problem := missing(name):
        unavailable(problem)
    return name


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the sites write what they say."""
    return tmp_path_factory.mktemp("sites")


@pytest.fixture(scope="session")
def shared_recorder() -> Iterator[Recorder]:
    """A bot that notes what reaches it."""
    with recording() as recorder:
        yield recorder


@pytest.fixture(scope="session")
def recorded_url(example: str, shared_recorder: Recorder, logs: Path) -> Iterator[str]:
    """The example in front of the recorder."""
    with serving(example, shared_recorder.url, logs / f"{example}-recorded.log") as url:
        yield url


@pytest.fixture
def recorded(recorded_url: str, shared_recorder: Recorder) -> Iterator[httpx.Client]:
    """A client of that site."""
    with site_client(recorded_url) as client:
        yield client


@pytest.fixture
def recorder(shared_recorder: Recorder) -> Recorder:
    """The recorder, as new."""
    shared_recorder.answers(200)
    return shared_recorder


class ChosenLimiter:
    """A limiter that a test may replace while the bot runs."""

    def __init__(self) -> None:
        self.now: Limiter = LocalLimiter(PATIENT)

    async def check(self, key: str) -> Verdict:
        return await self.now.check(key)


@pytest.fixture(scope="session")
def shared_limiter() -> ChosenLimiter:
    """The limiter of the scripted bot."""
    return ChosenLimiter()


@pytest.fixture(scope="session")
def shared_bot(shared_limiter: ChosenLimiter) -> Iterator[LiveServer]:
    """A bot whose answers are scripted. It believes its own machine's proxies, as configured by default."""
    with serve_scripted(
        ports=fake_ports(limiter=shared_limiter), trusted_proxies=Settings().server.trusted_proxies
    ) as live:
        yield live


@pytest.fixture
def limiter(shared_limiter: ChosenLimiter) -> ChosenLimiter:
    """The limiter, letting everything pass."""
    shared_limiter.now = LocalLimiter(PATIENT)
    return shared_limiter


@pytest.fixture
def bot(shared_bot: LiveServer, limiter: ChosenLimiter) -> LiveServer:
    """The scripted bot, as new."""
    shared_bot.chat.scripts.clear()
    shared_bot.chat.asks.clear()
    shared_bot.chat.refuse_with = None
    return shared_bot


@pytest.fixture(scope="session")
def site(example: str, shared_bot: LiveServer, logs: Path) -> Iterator[str]:
    """The address of the example in front of the scripted bot."""
    with serving(example, shared_bot.url, logs / f"{example}.log") as url:
        yield url


@pytest.fixture(scope="session")
def llama() -> Iterator[FakeLlama]:
    """The language model's server, from a script."""
    with FakeLlama() as fake:
        yield fake


@pytest.fixture(scope="session")
def answering_bot(
    llama: FakeLlama, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """The bot itself, with an index and a model that is reached over the wire."""
    model = LlamaServer(ProviderSettings(endpoint=llama.url, model="fake-model"))
    index = small_index(
        tmp_path_factory.mktemp("index"),
        page("projects/shop.md", "In the shop customers pay by card or in cash, and they get a letter"
             " when the parcel is on its way.", vector=toward(1), kind="project", title="Clothes shop"),
        *(page(f"posts/{n}.md", f"filler {n}", vector=toward(0, 1)) for n in range(10)),
    )  # fmt: skip
    ports = fake_ports(model=model, embedder=FakeEmbedder(8), index=FakeIndex(index))  # type: ignore[arg-type]
    with serve_in_thread(create_app(Settings(), ports)) as live:
        live.in_loop(model.open)
        yield live
        live.in_loop(model.aclose)
    index.close()


@pytest.fixture(scope="session")
def answering_site(example: str, answering_bot: LiveServer, logs: Path) -> Iterator[str]:
    """The address of the example in front of the bot itself."""
    with serving(example, answering_bot.url, logs / f"{example}-answering.log") as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with the file's tests: while Playwright's event loop runs, no async test can.

    A fixture of scope `package` would stay until the end, since these folders are no packages.
    """
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Go to a site in a fresh context; in the end no page has broken a rule."""
    pages: list[tuple[Page, Watched]] = []

    def go(url: str, *, change: tuple[str, str] | None = None) -> Visitor:
        """`change` replaces one text of the first page by another."""
        context = browser.new_context(locale="en-GB", viewport={"width": 1100, "height": 800})
        page = context.new_page()
        visitor = Visitor(page)
        pages.append((page, watch(page, url)))
        if change is not None:
            page.route(url + "/", lambda route: _changed(route, *change))
        visitor.arrive(url + "/")
        return visitor

    yield go
    try:
        for page, watched in pages:
            if not page.is_closed():
                watched.check(page)
    finally:
        for page, _ in pages:
            page.context.close()


def _changed(route: Route, old: str, new: str) -> None:
    reply = route.fetch()
    text = reply.text()
    assert text.count(old) == 1
    route.fulfill(response=reply, body=text.replace(old, new))
