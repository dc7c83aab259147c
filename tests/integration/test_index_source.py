"""The index in service: swapped whole, kept when the new one is broken, judged by its embedder."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from bot.adapters.build import open_ports
from bot.adapters.embedder import LlamaEmbedder
from bot.adapters.index_source import FolderIndexSource
from corpus.errors import EmbedderUnavailable, EmbeddingRejected
from corpus.model import Chunk, Document, EmbeddingIdentity, IndexMeta
from corpus.pointer import POINTER_NAME, Pointer, file_sha256, read_pointer, write_pointer
from corpus.schema import SCHEMA_VERSION
from corpus.settings import EmbeddingSettings, RagSettings, Settings
from corpus.vectors import Vector, unit
from corpus.writer import HashedVector, IndexBatch, IndexEntry, publish
from tests.clock import Clock
from tests.fake_llama import FakeLlama, Reply, word_vector

pytestmark = pytest.mark.anyio
EMBEDDINGS = EmbeddingSettings(model="model-a", dimension=4)
PROBE_A, PROBE_B = unit([1, 2, 3, 4]), unit([4, -3, 2, 1])


class FakeEmbedder:
    """A QueryEmbedder that is one model or another, or away."""

    def __init__(self, probe: Vector | Exception = PROBE_A) -> None:
        self.answer = probe
        self.probes = 0

    async def probe(self) -> Vector:
        self.probes += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def embed_query(self, text: str) -> Vector:
        raise AssertionError("the index source asks for the probe only")


def identity(probe: Vector | None = PROBE_A, **changes: object) -> EmbeddingIdentity:
    fields: dict[str, object] = {
        "model": "model-a",
        "dimension": 4,
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "probe": () if probe is None else tuple(map(float, probe)),
    }
    return EmbeddingIdentity(**{**fields, **changes})  # type: ignore[arg-type]


def build(
    folder: Path, text: str, *, made_by: EmbeddingIdentity | None = None, vectors: bool = True
) -> Pointer:
    """Publish an index of one document with one chunk."""
    folder.mkdir(parents=True, exist_ok=True)
    made_by = (made_by or identity()) if vectors else None
    vector = unit([1.0] * made_by.dimension) if made_by else None
    meta = IndexMeta(
        schema_version=SCHEMA_VERSION,
        chunker_version=1,
        embedding=made_by,
        documents=1,
        chunks=1,
        vectors=int(vectors),
        source_hash=f"{abs(hash(text)):016x}",
        built_at="2026-11-30T10:00:00Z",
    )
    document = Document(path="posts/a.md", kind="post", title="A", url="/posts/a", lang="en")
    chunk = Chunk(heading="", anchor="", text=text, ordinal=0)
    windows = () if vector is None else (HashedVector(text_hash="w", vector=vector),)
    entry = IndexEntry(chunk=chunk, text_hash="h", vector=vector, windows=windows)
    return publish(folder, meta, [IndexBatch(document=document, entries=(entry,))])


def open_source(folder: Path, **changes: object) -> FolderIndexSource:
    settings = EMBEDDINGS
    if changes:
        fields = {name: getattr(settings, name) for name in settings.__struct_fields__}
        settings = EmbeddingSettings(**{**fields, **changes})
    source = FolderIndexSource(folder, settings, clock=Clock())
    source.refresh()
    return source


def text_in(source: FolderIndexSource) -> str:
    """The text of the only passage in service."""
    with source.lease() as state:
        assert state.index is not None
        return state.index.passage(int(state.index.chunk_ids[0])).chunk.text


def handles(folder: Path) -> list[str]:
    """Index files this process holds open."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            target = entry.readlink()
            if target.is_relative_to(folder):
                found.append(target.name)
    return found


async def eventually(condition: Callable[[], bool]) -> None:
    """Return when the condition is true; fail when it does not come true within a minute."""
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come true in time")


def test_no_index_is_a_state_that_names_the_cure(tmp_path: Path) -> None:
    source = open_source(tmp_path / "absent")
    state = source.state()
    assert (state.index, state.dense) == (None, False)
    assert state.problem is not None
    assert "chat-bot reindex" in state.problem
    with source.lease() as leased:
        assert leased.index is None
    source.close()


def test_index_published_later_is_found(tmp_path: Path) -> None:
    source = open_source(tmp_path)
    build(tmp_path, "first")
    assert source.refresh()
    assert text_in(source) == "first"
    assert source.state().problem is None
    assert source.state().dense
    assert not source.refresh(), "an unmoved pointer is not read again"
    source.close()


def test_swap_lets_readers_finish_and_closes_the_old_file_after_the_last(tmp_path: Path) -> None:
    """D3: a request in flight keeps its index; nothing leaks."""
    old = build(tmp_path, "old")
    source = open_source(tmp_path)
    with source.lease() as first, source.lease() as second:
        new = build(tmp_path, "new")
        assert source.refresh()
        assert text_in(source) == "new"
        for leased in (first, second):
            assert leased.index is not None
            assert [row for row, _ in leased.index.bm25(["old"], 5)] == [1]
        assert sorted(handles(tmp_path)) == sorted([old.index, new.index])
    assert handles(tmp_path) == [new.index]
    source.close()
    assert handles(tmp_path) == []


def test_twenty_swaps_under_readers_leave_no_error_and_no_file(tmp_path: Path) -> None:
    """D3: 20 indexes while leases come and go; closing under a reader would raise."""
    build(tmp_path, "index 0")
    source = open_source(tmp_path)
    leases = []
    for number in range(1, 21):
        leases.append(source.lease())
        leases[-1].__enter__()
        build(tmp_path, f"index {number}")
        assert source.refresh()
        assert text_in(source) == f"index {number}"
        if number % 3 == 0:
            leases.pop(0).__exit__()
    assert len(handles(tmp_path)) > 5
    for lease in leases:
        lease.__exit__()
    assert len(handles(tmp_path)) == 1
    source.close()
    assert handles(tmp_path) == []


def test_closing_waits_for_the_last_reader(tmp_path: Path) -> None:
    build(tmp_path, "text")
    source = open_source(tmp_path)
    with source.lease() as leased:
        source.close()
        assert leased.index is not None
        assert leased.index.bm25(["text"], 1)
    assert handles(tmp_path) == []


def test_closed_source_opens_nothing_any_more(tmp_path: Path) -> None:
    """A refresh still on its way in a thread at shutdown must not leave a file open."""
    build(tmp_path, "text")
    source = open_source(tmp_path)
    source.close()
    build(tmp_path, "new")
    assert not source.refresh()
    assert source.state().index is None
    assert handles(tmp_path) == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def foreign_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE stranger (x)")
    connection.close()
    renew_pointer(path)


def other_schema(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=999")
    connection.close()
    renew_pointer(path)


def renew_pointer(path: Path) -> None:
    """Size and hash as they are now, so that only the inner checks can refuse the file."""
    write_pointer(
        path.parent,
        Pointer(
            index=path.name,
            size_bytes=path.stat().st_size,
            sha256=file_sha256(path),
            built_at="2026-11-30T10:00:00Z",
        ),
    )


def garbage_pointer(path: Path) -> None:
    (path.parent / POINTER_NAME).write_text("{")


def outside_pointer(path: Path) -> None:
    good = (path.parent / POINTER_NAME).read_text()
    (path.parent / POINTER_NAME).write_text(good.replace(path.name, "../" + path.name))


@pytest.mark.parametrize(
    "break_it",
    [cut, empty, flip_a_bit, foreign_database, other_schema, garbage_pointer, outside_pointer,
     Path.unlink],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_broken_new_index_leaves_the_old_one_in_service(
    tmp_path: Path, break_it: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """D4: refused, old kept, said once and loudly; the next good one heals it."""
    build(tmp_path, "old")
    source = open_source(tmp_path)
    break_it(tmp_path / build(tmp_path, "broken").index)
    caplog.clear()
    for _ in range(5):
        assert not source.refresh()
    assert text_in(source) == "old"
    assert source.state().dense
    assert source.state().problem
    alarms = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(alarms) == 1
    assert "\n" not in alarms[0].getMessage()
    build(tmp_path, "good")
    assert source.refresh()
    assert text_in(source) == "good"
    assert source.state().problem is None
    source.close()


def test_pointer_can_go_back_to_the_previous_file(tmp_path: Path) -> None:
    """D11: a rollback by hand needs no restart."""
    before = build(tmp_path, "before")
    build(tmp_path, "after")
    source = open_source(tmp_path)
    assert text_in(source) == "after"
    write_pointer(tmp_path, before)
    assert source.refresh()
    assert text_in(source) == "before"
    source.close()


def test_read_only_folder_with_stale_companions_opens(tmp_path: Path) -> None:
    """D5, D7, OPS-03: a read-only volume, and -wal/-shm/-journal files nobody asked for."""
    name = build(tmp_path, "text").index
    for suffix in ("-wal", "-shm", "-journal"):
        (tmp_path / (name + suffix)).write_bytes(b"stale" * 100)
    for path in tmp_path.iterdir():
        path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        before = sorted(path.name for path in tmp_path.iterdir())
        source = open_source(tmp_path)
        assert text_in(source) == "text"
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        source.close()
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("made_by", "words"),
    [
        (identity(model="model-b"), ("model-b", "model-a")),
        (identity(probe=None, dimension=8), ("8 dimensions", "4 dimensions")),
        (identity(query_prefix="search_query: "), ("model-a", "prefixes")),
        (identity(pooling="cls"), ("model-a", "pooling")),
        (identity(sha256="a" * 64), ("aaaaaaaaaaaa", "bbbbbbbbbbbb")),
    ],
)
async def test_index_of_another_model_is_searched_by_keywords_only(
    tmp_path: Path, made_by: EmbeddingIdentity, words: tuple[str, ...]
) -> None:
    """EMB-05: other name, dimension, prefixes, pooling or file; no embedder needs to be asked."""
    build(tmp_path, "text", made_by=made_by)
    source = open_source(tmp_path, sha256="b" * 64)
    embedder = FakeEmbedder()
    await source.look(embedder)
    state = source.state()
    assert state.index is not None
    assert not state.dense
    assert state.problem is not None
    for word in (*words, "chat-bot reindex"):
        assert word in state.problem
    assert embedder.probes == 0
    source.close()


def test_unknown_file_hashes_are_no_mismatch(tmp_path: Path) -> None:
    build(tmp_path, "text", made_by=identity(sha256=None))
    source = open_source(tmp_path, sha256="b" * 64)
    assert source.state().dense
    source.close()


async def test_index_built_without_embedder_is_searched_by_keywords_only(tmp_path: Path) -> None:
    build(tmp_path, "text", vectors=False)
    source = open_source(tmp_path)
    await source.look(FakeEmbedder())
    assert not source.state().dense
    assert "no vectors" in (source.state().problem or "")
    source.close()


async def test_other_model_under_the_same_name_is_told_by_the_probe(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """EMB-05: same name, same dimension, random ranks; said once a swap, healed by a new index."""
    caplog.set_level(logging.INFO)
    build(tmp_path, "text", made_by=identity(PROBE_A))
    source = open_source(tmp_path)
    assert source.state().dense, "until the embedder has been asked"
    embedder = FakeEmbedder(PROBE_B)
    for _ in range(4):
        source.expect_other_embedder()
        await source.look(embedder)
    assert embedder.probes == 4
    problem = source.state().problem or ""
    assert not source.state().dense
    assert "\n" not in problem
    assert problem.count("model-a") == 2
    assert "chat-bot reindex" in problem
    assert [record.getMessage() for record in caplog.records].count(problem) == 1
    build(tmp_path, "again", made_by=identity(PROBE_B))
    await source.look(embedder)
    assert source.state().dense
    assert source.state().problem is None
    source.close()


async def test_embedder_put_right_brings_the_vectors_back(tmp_path: Path) -> None:
    build(tmp_path, "text")
    source = open_source(tmp_path)
    embedder = FakeEmbedder(EmbeddingRejected("sent 8 dimensions where 4 are expected"))
    await source.look(embedder)
    assert not source.state().dense
    assert "8 dimensions" in (source.state().problem or "")
    embedder.answer = PROBE_A
    source.expect_other_embedder()
    await source.look(embedder)
    assert source.state().dense
    source.close()


async def test_embedder_that_is_down_is_asked_when_it_is_back(tmp_path: Path) -> None:
    """F5, EMB-05: identity decides while it is away, the probe as soon as it can."""
    build(tmp_path, "text")
    source = open_source(tmp_path)
    embedder = FakeEmbedder(EmbedderUnavailable("down"))
    await source.look(embedder)
    await source.look(embedder)
    assert source.state().dense
    assert embedder.probes == 2
    embedder.answer = PROBE_B
    await source.look(embedder)
    assert not source.state().dense
    source.close()


async def test_embedder_is_asked_seldom(tmp_path: Path) -> None:
    build(tmp_path, "text")
    clock = Clock()
    source = FolderIndexSource(tmp_path, EMBEDDINGS, clock=clock)
    embedder = FakeEmbedder()
    for _ in range(10):
        await source.look(embedder)
    assert embedder.probes == 1
    clock.now += 31
    await source.look(embedder)
    assert embedder.probes == 2
    source.close()


async def test_noise_of_other_hardware_is_the_same_model(tmp_path: Path) -> None:
    build(tmp_path, "text")
    source = open_source(tmp_path)
    noise = np.array([1e-3, -1e-3, 1e-3, -1e-3], np.float32)
    await source.verify(FakeEmbedder(unit(PROBE_A + noise)))
    assert source.state().dense
    source.close()


async def test_verdict_about_a_swapped_index_is_dropped(tmp_path: Path) -> None:
    build(tmp_path, "old", made_by=identity(PROBE_B))
    source = open_source(tmp_path)

    class SwapsMeanwhile(FakeEmbedder):
        async def probe(self) -> Vector:
            build(tmp_path, "new")
            source.refresh()
            return await super().probe()

    await source.verify(SwapsMeanwhile(PROBE_A))
    assert source.state().dense
    assert source.state().problem is None
    source.close()


async def test_watcher_finds_a_new_index_and_survives_what_it_meets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = FolderIndexSource(tmp_path, EMBEDDINGS)
    embedder = FakeEmbedder(ValueError("not an error anyone promised"))
    watcher = asyncio.create_task(source.run(embedder, every_seconds=0.01))
    await asyncio.sleep(0.03)
    assert source.state().index is None
    build(tmp_path, "text")
    await eventually(lambda: source.state().index is not None and embedder.probes > 1)
    assert not watcher.done()
    assert "the look at the index folder failed" in caplog.text
    watcher.cancel()
    with suppress(asyncio.CancelledError):
        await watcher
    source.close()


async def test_composition_opens_and_closes_everything(tmp_path: Path) -> None:
    """All adapters together; an embedder that changes behind their back is noticed."""
    with FakeLlama(dimension=4) as fake:
        embeddings = EmbeddingSettings(
            endpoint=fake.url, model="model-a", dimension=4, query_timeout_seconds=60.0
        )
        async with LlamaEmbedder(embeddings) as embedder:
            probe = await embedder.probe()
        build(tmp_path, "text", made_by=identity(probe))
        settings = Settings(embeddings=embeddings, rag=RagSettings(index_path=str(tmp_path)))
        tasks = asyncio.all_tasks()
        async with open_ports(settings) as ports:
            assert ports.index.state().dense
            assert (await ports.limiter.check("a")).allowed
            assert await ports.conversations.resume(None)
            await eventually(lambda: len(fake.embedding_requests) == 2)
            fake.vector_of = lambda text: word_vector(text[::-1], 4)
            fake.enqueue_embedding(Reply(status=503))
            with pytest.raises(EmbedderUnavailable):
                await ports.embedder.embed_query("down")
            await ports.embedder.embed_query("back, as another model")
            await eventually(lambda: not ports.index.state().dense)
            assert "another model" in (ports.index.state().problem or "")
        assert asyncio.all_tasks() == tasks
        assert handles(tmp_path) == []


async def test_composition_starts_without_anything_outside(tmp_path: Path) -> None:
    """F22: any order of start; nothing is required to be there."""
    settings = Settings(rag=RagSettings(index_path=str(tmp_path / "none")))
    async with open_ports(settings) as ports:
        assert ports.index.state().index is None
    with pytest.raises(FileNotFoundError):
        (tmp_path / "none").stat()


def test_published_pointer_is_what_is_in_service(tmp_path: Path) -> None:
    build(tmp_path, "text")
    source = open_source(tmp_path)
    with source.lease() as state:
        assert state.index is not None
        assert state.index.pointer == read_pointer(tmp_path)
    source.close()
