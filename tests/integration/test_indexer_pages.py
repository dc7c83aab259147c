"""Pages through a whole run: counted by the chat server, estimated without, and left alone when done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from corpus.embedding import EmbeddingClient
from corpus.model import IndexMeta
from corpus.reader import Page, open_index
from corpus.settings import EmbeddingSettings, ProviderSettings, RagSettings, Settings
from corpus.token_estimate import estimated_tokens
from indexer.chat_tokens import ChatTokenCounter
from indexer.job import run
from indexer.report import Report
from tests.fake_embedder import FakeEmbedder

SECTION = "## Part {n}\n\n" + "Some words about one thing. " * 30
BODY = "# Long\n\nBegin.\n\n" + "\n\n".join(SECTION.format(n=n) for n in range(6))


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    with FakeEmbedder(dimension=32) as server:
        yield server


@pytest.fixture
def chat_server() -> Iterator[FakeEmbedder]:
    """Tokenizes as llama-server does; nothing else of it is asked."""
    with FakeEmbedder() as server:
        yield server


class Site:
    def __init__(self, root: Path, embedder: FakeEmbedder, chat: FakeEmbedder) -> None:
        self.posts = root / "posts"
        self.posts.mkdir()
        (self.posts / "long.md").write_text(BODY)
        (self.posts / "short.md").write_text("# Short\n\nA line.")
        self.settings = Settings(
            rag=RagSettings(
                data_path=str(root / "none"), docs_path=str(root / "none"), posts_path=str(self.posts),
                index_path=str(root / "index"), page_tokens=400,
            ),
            embeddings=EmbeddingSettings(endpoint=embedder.url, model="fake", dimension=32),
            providers=(ProviderSettings(endpoint=chat.url, model="chat-model"),),
        )  # fmt: skip

    def run(self) -> Report:
        with (
            EmbeddingClient(self.settings.embeddings) as client,
            ChatTokenCounter(self.settings.provider) as chat,
        ):
            return run(self.settings, client=client, chat=chat)

    def read(self) -> tuple[IndexMeta, tuple[Page, ...]]:
        index = open_index(Path(self.settings.rag.index_path))
        try:
            for number in index.chunk_ids:
                assert index.passage(int(number)) in index.page_of(int(number)).passages
            return index.meta, index.pages
        finally:
            index.close()

    def change_rag(self, **fields: object) -> None:
        rag = msgspec.structs.replace(self.settings.rag, **fields)
        self.settings = msgspec.structs.replace(self.settings, rag=rag)


@pytest.fixture
def site(tmp_path: Path, embedder: FakeEmbedder, chat_server: FakeEmbedder) -> Site:
    return Site(tmp_path, embedder, chat_server)


def test_an_index_knows_its_pages(site: Site, chat_server: FakeEmbedder) -> None:
    site.run()
    meta, pages = site.read()
    assert (meta.tokenizer, meta.pages) == ("chat-model", len(pages))
    long = [page for page in pages if page.document.slug == "long"]
    assert len(long) > 1
    assert [page.ordinal for page in long] == list(range(len(long)))
    assert all(page.tokens <= 400 for page in long)
    assert all(page.tokens == chat_server.tokens(page.text) for page in pages)
    texts = [p.chunk.text for page in long for p in page.passages]
    assert len(texts) == 7
    assert [page for page in pages if page.document.generated]


def test_the_key_of_a_page_is_its_text(site: Site) -> None:
    site.run()
    _, pages = site.read()
    for page in pages:
        assert page.key == hashlib.sha256(page.text.encode()).hexdigest()[:24]
    assert len({page.key for page in pages}) == len(pages)
    assert pages[0].text.startswith(pages[0].document.title)


def test_another_address_or_file_name_keeps_the_keys(site: Site) -> None:
    site.run()
    before = {page.key for page in site.read()[1] if not page.document.generated}
    (site.posts / "short.md").rename(site.posts / "renamed.md")
    site.change_rag(site_url="https://example.com")
    site.run()
    assert {page.key for page in site.read()[1] if not page.document.generated} == before


def test_a_second_run_asks_and_does_nothing(
    site: Site, chat_server: FakeEmbedder, embedder: FakeEmbedder
) -> None:
    site.run()
    chat_server.forget()
    embedder.forget()
    report = site.run()
    assert (report.changed, report.embedded) == (False, 0)
    assert chat_server.requests == []
    assert embedder.passages == []


def test_another_limit_forms_pages_anew_without_embedding(site: Site) -> None:
    site.run()
    before = site.read()[1]
    site.change_rag(page_tokens=2000)
    report = site.run()
    assert (report.changed, report.embedded) == (True, 0)
    assert len(site.read()[1]) < len(before)


def test_without_the_chat_server_pages_are_estimated_until_it_is_back(
    site: Site, chat_server: FakeEmbedder
) -> None:
    chat_server.down = True
    site.run()
    meta, pages = site.read()
    assert meta.tokenizer is None
    assert all(page.tokens == estimated_tokens(page.text) for page in pages)
    asked = len(chat_server.requests)
    assert asked == 1  # no second time-out in one run
    assert not site.run().changed
    chat_server.down = False
    report = site.run()
    assert (report.changed, report.embedded) == (True, 0)
    meta, pages = site.read()
    assert meta.tokenizer == "chat-model"
    assert all(page.tokens == chat_server.tokens(page.text) for page in pages)
    assert not site.run().changed


def test_another_chat_model_counts_anew(site: Site) -> None:
    site.run()
    provider = msgspec.structs.replace(site.settings.provider, model="other")
    site.settings = msgspec.structs.replace(site.settings, providers=(provider,))
    report = site.run()
    assert (report.changed, report.embedded) == (True, 0)
    assert site.read()[0].tokenizer == "other"


def counter(handler: httpx.MockTransport) -> ChatTokenCounter:
    return ChatTokenCounter(ProviderSettings(), transport=handler)


def test_one_closed_connection_is_no_failure() -> None:
    asked: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.content)
        if len(asked) == 1:
            raise httpx.RemoteProtocolError("closed")
        return httpx.Response(200, json={"tokens": [1, 2, 3]})

    with counter(httpx.MockTransport(answer)) as count:
        assert (count("hola"), count.tokenizer) == (3, ProviderSettings().model)
    assert [json.loads(content) for content in asked] == [{"content": "hola"}] * 2


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(503, json={"error": {"code": 503, "message": "Loading model"}}),
        httpx.Response(404, text="not found"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"tokens": None}),
    ],
)
def test_an_answer_without_tokens_is_estimated_once_for_all(response: httpx.Response) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return response

    with counter(httpx.MockTransport(answer)) as count:
        assert count("hola 2024") == estimated_tokens("hola 2024")
        assert count("more") == estimated_tokens("more")
        assert count.tokenizer is None
    assert len(asked) == 1


def test_with_nobody_listening_counts_are_estimated() -> None:
    with ChatTokenCounter(ProviderSettings(endpoint="http://127.0.0.1:9")) as count:
        assert [count("a b") for _ in range(200)] == [estimated_tokens("a b")] * 200
        assert count.tokenizer is None
