"""Health tells the truth, in time, whatever hangs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.api.probes import EMBEDDER_FRESH_SECONDS, FRESH_SECONDS
from bot.api.timing import Timing
from bot.app import create_app
from bot.chat.calibrations import OwnCalibration
from bot.chat.errors import ModelLoading, ModelUnavailable
from bot.chat.gate import Calibration
from bot.chat.ports import ChatServer
from corpus.errors import EmbedderUnavailable, EmbeddingRejected
from corpus.model import Chunk, Document, EmbeddingIdentity, IndexMeta
from corpus.reader import Index, open_index
from corpus.settings import Settings
from corpus.vectors import Vector, unit
from corpus.writer import IndexBatch, IndexEntry, publish, writer_lock
from tests.clock import Clock
from tests.fakes import HANG, FakeEmbedder, FakeIndex, FakeModel, ScriptedChat, fake_ports
from tests.live_server import serve_in_thread, serve_scripted

QUICK = Timing(probe_seconds=0.3)
"""Only what hangs for ever waits so long; a bound that were missing ends in the client's timeout."""


@pytest.fixture
def index(tmp_path: Path) -> Any:
    document = Document(path="projects/a.md", kind="project", title="A", url="/a", lang="en")
    entry = IndexEntry(
        chunk=Chunk(heading="", anchor="", text="text", ordinal=0),
        text_hash="x",
        vector=unit([1.0, 0]),
    )
    meta = IndexMeta(
        schema_version=1,
        chunker_version=1,
        embedding=EmbeddingIdentity(model="m", dimension=2, query_prefix="", passage_prefix=""),
        documents=1,
        chunks=1,
        vectors=1,
        source_hash="0123456789",
        built_at="2026-11-30T00:00:00Z",
    )
    from corpus.schema import SCHEMA_VERSION

    with writer_lock(tmp_path):
        publish(
            tmp_path,
            replace(meta, schema_version=SCHEMA_VERSION),
            [IndexBatch(document=document, entries=(entry,))],
        )
    opened: Index = open_index(tmp_path)
    yield opened
    opened.close()


def health(
    index: Index | None,
    *,
    model: Exception | str | None = None,
    embedder: Exception | str | None = None,
    problem: str | None = None,
    dense: bool = True,
    query: str = "?deep=true",
) -> tuple[int, dict[str, Any]]:
    fake_model, fake_embedder = FakeModel(), FakeEmbedder()
    fake_model.problem, fake_embedder.problem = model, embedder
    ports = fake_ports(
        model=fake_model,
        embedder=fake_embedder,
        index=FakeIndex(index, problem=problem, dense=dense),
    )
    with serve_scripted(ports=ports, timing=QUICK) as bot, bot.client() as client:
        reply = client.get(f"/api/health{query}")
        return reply.status_code, reply.json()


def test_all_well_is_healthy_with_every_field(index: Index) -> None:
    status, body = health(index)
    assert (status, body["status"]) == (200, "healthy")
    assert list(body) == ["status", "version", "checked_at", "components"]
    assert datetime.fromisoformat(body["checked_at"]).tzinfo is not None
    llm = body["components"]["llm"]
    assert list(llm) == ["status", "latency", "details"]
    assert set(llm["details"]) == {"provider", "model", "url"}
    assert body["components"]["store"]["details"]["chunks"] == 1
    assert body["components"]["redis"] == {"status": "disabled"}


@pytest.mark.parametrize(
    ("broken", "status", "overall", "component", "problem"),
    [
        ({"model": ModelUnavailable("secret")}, 503, "unhealthy", "llm", "model-unavailable"),
        ({"model": ModelLoading("secret")}, 503, "unhealthy", "llm", "model-loading"),
        ({"model": ValueError("secret")}, 503, "unhealthy", "llm", "internal-error"),
        ({"model": HANG}, 503, "unhealthy", "llm", "timed-out"),
        ({"embedder": EmbedderUnavailable("secret")}, 200, "degraded", "embeddings", "embedder-unavailable"),
        ({"embedder": EmbeddingRejected("secret")}, 200, "degraded", "embeddings", "embedding-rejected"),
        ({"embedder": HANG}, 200, "degraded", "embeddings", "timed-out"),
        ({"problem": "keywords only", "dense": False}, 200, "degraded", "store", "keywords only"),
        ({"model": HANG, "embedder": HANG}, 503, "unhealthy", "llm", "timed-out"),
    ],
)  # fmt: skip
def test_each_failure_shows_in_its_place(
    index: Index, broken: dict[str, Any], status: int, overall: str, component: str, problem: str
) -> None:
    """C11, and given up though a dependency hangs for ever; upstream text stays out."""
    found, body = health(index, **broken)
    assert (found, body["status"]) == (status, overall)
    assert body["components"][component]["status"] == (
        "unhealthy" if component == "llm" else "degraded"
    )
    assert body["components"][component]["details"]["problem"] == problem
    assert "secret" not in str(body)


@pytest.mark.parametrize(
    ("first", "second", "status", "llm", "up"),
    [
        (None, None, 200, "healthy", 2),
        (ModelUnavailable("secret"), None, 200, "degraded", 1),
        (None, HANG, 200, "degraded", 1),
        (ModelUnavailable("secret"), ModelLoading("secret"), 503, "unhealthy", 0),
    ],
)
def test_of_several_chat_servers_one_is_enough(
    index: Index, first: Exception | str | None, second: Exception | str | None,
    status: int, llm: str, up: int,
) -> None:  # fmt: skip
    models = FakeModel(), FakeModel()
    models[0].problem, models[1].problem = first, second
    ports = replace(
        fake_ports(model=models[0], index=FakeIndex(index)),
        more_servers=(ChatServer(model=models[1]),),
    )
    with serve_scripted(ports=ports, timing=QUICK) as bot, bot.client() as client:
        reply = client.get("/api/health")
    found = reply.json()["components"]["llm"]
    assert (reply.status_code, found["status"]) == (status, llm)
    assert (found["details"]["servers"], found["details"]["servers_up"]) == (2, up)
    assert ("problem" in found["details"]) == (up < 2)


OWN = OwnCalibration(meaning=Calibration(intercept=1.0), keywords=Calibration(intercept=1.0))


@pytest.mark.parametrize(
    ("calibration", "note", "shown"),
    [
        (None, "not calibrated: run it", "defaults"),
        (OWN, None, "calibrated"),
        (OWN, "the content has changed", "calibrated"),
    ],
)
def test_the_gate_says_whether_it_is_calibrated_and_stays_healthy(
    index: Index, calibration: OwnCalibration | None, note: str | None, shown: str
) -> None:
    fake = FakeIndex(index)
    fake.current = replace(fake.current, calibration=calibration, calibration_note=note)
    with serve_scripted(ports=fake_ports(index=fake), timing=QUICK) as bot, bot.client() as client:
        body = client.get("/api/health").json()
    store = body["components"]["store"]
    assert (store["status"], store["details"]["gate"]) == ("healthy", shown)
    assert store["details"].get("gate_note") == note


def test_no_index_is_degraded() -> None:
    status, body = health(None, problem="no index: run `chat-bot reindex`", dense=False)
    assert (status, body["status"]) == (200, "degraded")
    assert body["components"]["store"]["details"]["chunks"] == 0


class MeetingModel(FakeModel):
    """Its check ends once all others at the barrier have begun."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        super().__init__()
        self._barrier = barrier

    async def check(self) -> None:
        await self._barrier.wait()


class MeetingEmbedder(FakeEmbedder):
    """Its probe ends once all others at the barrier have begun."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        super().__init__()
        self._barrier = barrier

    async def probe(self) -> Vector:
        await self._barrier.wait()
        return await super().probe()


def test_the_bound_of_the_product_is_that_of_one_probe(index: Index) -> None:
    """≤ 2.5 s though all servers hang: 2 s each, and they are asked at the same time."""
    assert Timing().probe_seconds <= 2.0
    barrier = asyncio.Barrier(2)
    ports = fake_ports(
        model=MeetingModel(barrier), embedder=MeetingEmbedder(barrier), index=FakeIndex(index)
    )
    with serve_scripted(ports=ports, timing=QUICK) as bot, bot.client() as client:
        assert client.get("/api/health?deep=true").json()["status"] == "healthy"


def test_recovery_shows_within_seconds(index: Index) -> None:
    assert FRESH_SECONDS <= 1.0
    clock, model = Clock(), FakeModel()
    model.problem = ModelUnavailable()
    ports = fake_ports(model=model, index=FakeIndex(index))
    with (
        serve_scripted(ports=ports, timing=Timing(clock=clock)) as bot,
        bot.client() as client,
    ):
        assert client.get("/api/health").status_code == 503
        model.problem = None
        clock.now += FRESH_SECONDS - 0.01
        assert client.get("/api/health").status_code == 503
        clock.now += 0.01
        assert client.get("/api/health").status_code == 200


def test_a_flood_of_health_calls_costs_one_probe(index: Index) -> None:
    """L9: anybody may ask, so probes are shared, by those who wait and by those who come later."""
    clock, embedder = Clock(), FakeEmbedder()
    ports = fake_ports(embedder=embedder, index=FakeIndex(index))
    with (
        serve_scripted(ports=ports, timing=Timing(clock=clock)) as bot,
        bot.client() as client,
        ThreadPoolExecutor(10) as pool,
    ):
        for second in (1, 2):
            replies = pool.map(lambda _: client.get("/api/health?deep=true").status_code, range(40))
            assert set(replies) == {200}
            assert embedder.probes == second
            clock.now += FRESH_SECONDS


def test_shallow_calls_trust_the_embedders_last_probe(index: Index) -> None:
    clock, embedder = Clock(), FakeEmbedder()
    ports = fake_ports(embedder=embedder, index=FakeIndex(index))
    with (
        serve_scripted(ports=ports, timing=Timing(clock=clock)) as bot,
        bot.client() as client,
    ):
        assert client.get("/api/health").json()["status"] == "healthy"
        clock.now += FRESH_SECONDS
        client.get("/api/health")
        assert embedder.probes == 1
        client.get("/api/health?deep=true")
        assert embedder.probes == 2
        clock.now += EMBEDDER_FRESH_SECONDS
        client.get("/api/health")
        assert embedder.probes == 3


def test_credentials_in_an_endpoint_are_not_shown() -> None:
    settings = Settings()
    provider = replace(
        settings.provider, endpoint="http://user:hunter2@10.0.0.1:7332/x?key=hunter2"
    )
    app = create_app(
        replace(settings, providers=(provider,)), fake_ports(), make_service=ScriptedChat
    )
    with serve_in_thread(app) as bot, bot.client() as client:
        reply = client.get("/api/health")
    assert "hunter2" not in reply.text
    assert reply.json()["components"]["llm"]["details"]["url"] == "http://10.0.0.1:7332/x"
