"""The whole product on real parts: sample site, real embedder, real language models, real sockets.

What a visitor asks here is what the README promises. The questions that need a language model are
asked of the 1.5B model of the profile `default` and of the 0.5B one of `tiny`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from bot.app import create_app
from corpus.embedding import EmbeddingClient
from corpus.language import detect_language
from corpus.settings import KnownAnswerSettings, ProviderSettings, Settings
from corpus.settings_file import load_settings
from corpus.text import fold
from indexer import job
from indexer.chat_tokens import ChatTokenCounter
from tests.conftest import ROOT, ModelServer
from tests.live_server import serve_in_thread
from tests.sse_client import read_sse, without_comments

pytestmark = pytest.mark.models
ANSWER_SECONDS = 900
PROJECTS = {
    "clothes-shop.md", "contraste.md", "faro-bot.md", "guia-museo.md",
    "pan-a-las-siete.md", "rony-tui.md", "tide-map.md", "tidecalc.md",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(
    embed_server: ModelServer, chat_server: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """Settings of the sample site, indexed with the real embedder and the real count of tokens."""
    settings = load_settings(ROOT / "configs/portfolio-bot.yaml", {})
    rag = msgspec.structs.replace(
        settings.rag,
        data_path=str(ROOT / "data/projects"),
        docs_path=str(ROOT / "data/docs"),
        posts_path=str(ROOT / "data/posts"),
        index_path=str(tmp_path_factory.mktemp("index")),
    )
    embeddings = msgspec.structs.replace(settings.embeddings, endpoint=embed_server.url)
    settings = msgspec.structs.replace(settings, rag=rag, embeddings=embeddings)
    with (
        EmbeddingClient(settings.embeddings) as client,
        ChatTokenCounter(with_model(settings, chat_server).provider) as counter,
    ):
        report = job.run(settings, client=client, chat=counter)
    assert not report.keyword_only
    assert report.skipped == {"draft": 1, "readme": 1}
    return settings


@pytest.fixture(scope="module")
def bot(site: Settings, default_chat_server: ModelServer) -> Iterator[str]:
    """Address of the bot with the 1.5B model."""
    with serve_in_thread(create_app(with_model(site, default_chat_server))) as server:
        yield server.url


@pytest.fixture(scope="module")
def tiny_bot(site: Settings, chat_server: ModelServer) -> Iterator[str]:
    """Address of the bot with the 0.5B model."""
    with serve_in_thread(create_app(with_model(site, chat_server))) as server:
        yield server.url


def with_model(settings: Settings, server: ModelServer) -> Settings:
    # Deadlines of a crowded test machine, not of the product. The questions are asked of the model:
    # after 5 s of rest the bot would have its answers to the suggested ones ready.
    provider = ProviderSettings(
        model=server.model, endpoint=server.url, first_token_seconds=600, total_seconds=900,
        warm_when_idle=False,
    )  # fmt: skip
    known = KnownAnswerSettings(enabled=False)
    return msgspec.structs.replace(settings, providers=(provider,), known_answers=known)


def ask(url: str, question: str, *history: str) -> dict[str, Any]:
    """Route, text and sources of a streamed answer; fails on anything but a good stream."""
    roles = ("user", "assistant")
    messages = [
        {"role": roles[i % 2], "content": text} for i, text in enumerate((*history, question))
    ]
    with httpx.stream(
        "POST", f"{url}/api/chat", json={"messages": messages}, timeout=ANSWER_SECONDS
    ) as response:
        assert response.status_code == 200
        events = without_comments(read_sse(response.iter_bytes()))
    assert [events[0]["type"], events[-1]["type"]] == ["start", "done"], events[-1]
    sources = next(event for event in events if event["type"] == "sources")
    return {
        "route": events[-1]["route"],
        "usage": events[-1]["usage"],
        "text": "".join(event["content"] for event in events if event["type"] == "chunk"),
        "documents": sources["documents"],
        "passages": {passage["n"]: passage for passage in sources["passages"]},
        "types": [event["type"] for event in events],
    }


@pytest.mark.parametrize("model", ["bot", "tiny_bot"])
@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Con qué se paga en la tienda de ropa?", "es"),
        ("How do customers pay in the clothes shop?", "en"),
    ],
)
def test_the_shop_takes_stripe_and_the_english_document_is_cited(
    request: pytest.FixtureRequest, model: str, question: str, language: str
) -> None:
    answer = ask(request.getfixturevalue(model), question)
    assert answer["route"] == "answer"
    assert "stripe" in answer["text"].lower()
    cited = [passage for n, passage in answer["passages"].items() if f"[{n}]" in answer["text"]]
    assert any(passage["url"].startswith("/projects/clothes-shop") for passage in cited), answer
    if model == "bot":  # the 0.5B model copies whole English sentences into Spanish ones
        assert detect_language(answer["text"]) in (language, None)
    assert answer["types"].index("sources") < answer["types"].index("chunk")


@pytest.mark.parametrize("model", ["bot", "tiny_bot"])
def test_a_job_in_the_cv_names_the_employer(request: pytest.FixtureRequest, model: str) -> None:
    answer = ask(
        request.getfixturevalue(model),
        "Which company hired the studio to rewrite its water meter readings?",
    )
    assert answer["route"] == "answer"
    assert "Metrimex" in answer["text"]
    assert "cv.mdx" in answer["documents"]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Cuál es la capital de Francia?", "es"),
        ("Who won the 2022 world cup?", "en"),
        ("¿Tenéis experiencia con Kubernetes?", "es"),
        ("Do you accept PayPal in the clothes shop?", "en"),
    ],
)
def test_what_the_content_does_not_hold_is_refused_without_the_model(
    tiny_bot: str, question: str, language: str
) -> None:
    answer = ask(tiny_bot, question)
    assert answer["route"] == "refusal"
    assert answer["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert detect_language(answer["text"].splitlines()[0]) == language
    assert answer["passages"]
    assert "progress" not in answer["types"]


def test_hola_is_greeted_in_spanish(tiny_bot: str) -> None:
    body = {"messages": [{"role": "user", "content": "Hola"}], "stream": False}
    answer = httpx.post(f"{tiny_bot}/api/chat", json=body).json()
    assert answer["content"].startswith("¡Hola!")
    assert answer["usage"]["input_tokens"] == 0


@pytest.mark.parametrize("question", ["¿Qué proyectos hay?", "Which projects are there?"])
def test_the_list_of_projects_is_exact(tiny_bot: str, question: str) -> None:
    answer = ask(tiny_bot, question)
    assert answer["route"] == "catalogue"
    assert set(answer["documents"]) == PROJECTS
    assert len(answer["documents"]) == len(PROJECTS)


def test_a_follow_up_is_understood_by_the_question_before(bot: str) -> None:
    """RAG-02: searched alone, «¿Y en qué lenguaje?» would find anything."""
    answer = ask(
        bot,
        "¿Y en qué lenguaje está escrito?",
        "¿Qué es rony-tui?",
        "rony-tui es un agente de terminal [1].",
    )
    assert answer["route"] == "answer"
    assert answer["documents"][0] == "rony-tui.md"
    assert "go" in fold(answer["text"]).split() or "Go" in answer["text"]


def test_markers_of_hidden_text_are_nowhere_in_the_index(site: Settings) -> None:
    index = next(Path(site.rag.index_path).glob("index-*.db")).read_bytes()
    assert b"NOT-INDEXED" not in index
