"""An index file is opened only when it is whole, ours and of this schema; the next run rebuilds it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from corpus.embedding import EmbeddingClient
from corpus.errors import CorpusError, IndexDamaged, IndexMissing, IndexOutdated
from corpus.model import Chunk, Document, EmbeddingIdentity, IndexMeta
from corpus.pointer import POINTER_NAME, Pointer, file_sha256, read_pointer, write_pointer
from corpus.reader import Index, open_index
from corpus.schema import SCHEMA_VERSION
from corpus.settings import EmbeddingSettings, RagSettings, Settings
from corpus.vectors import Vector
from corpus.writer import HashedVector, IndexBatch, IndexEntry, publish, writer_lock
from indexer.job import run
from tests.fake_embedder import FakeEmbedder

DIMENSION = 8


def one_hot(place: int, dimension: int = DIMENSION) -> Vector:
    vector = np.zeros(dimension, np.float32)
    vector[place] = 1.0
    return vector


def batch(number: int, dimension: int = DIMENSION) -> IndexBatch:
    document = Document(
        path=f"posts/{number}.md", kind="post", title=f"T{number}", url="/x", lang="es"
    )
    chunk = Chunk(heading="", anchor="", text=f"texto{number} C++ año", ordinal=0)
    vector = one_hot(number % dimension, dimension)
    window = HashedVector(text_hash=f"w{number}", vector=vector)
    return IndexBatch(
        document=document,
        entries=(
            IndexEntry(chunk=chunk, text_hash=f"h{number}", vector=vector, windows=(window,)),
        ),
    )


def meta(count: int, **fields: object) -> IndexMeta:
    identity = EmbeddingIdentity(model="m", dimension=DIMENSION, query_prefix="", passage_prefix="")
    values = {
        "schema_version": SCHEMA_VERSION, "chunker_version": 1, "embedding": identity, "documents": count,
        "chunks": count, "vectors": count, "source_hash": "0" * 64, "built_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return IndexMeta(**{**values, **fields})  # type: ignore[arg-type]


def built(folder: Path, count: int = 3, **fields: object) -> Path:
    with writer_lock(folder):
        published = publish(
            folder, meta(count, **fields), [batch(number) for number in range(count)]
        )
    return folder / published.index


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def scribble(path: Path) -> None:
    path.write_bytes(b"no database" * 99)


def pointer(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        (path.parent / POINTER_NAME).write_bytes(content)

    return write


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(place: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int(place * (len(data) - 1))] ^= 0x10
        path.write_bytes(data)

    return damage


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE message (text)")
        connection.commit()


def repoint(damage: Callable[[Path], None]) -> Callable[[Path], None]:
    """The damage, and a pointer that agrees with it: only the file's own checks can notice."""

    def both(path: Path) -> None:
        damage(path)
        write_pointer(
            path.parent,
            Pointer(
                index=path.name,
                size_bytes=path.stat().st_size,
                sha256=file_sha256(path),
                built_at="",
            ),
        )

    return both


def sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()

    return change


DAMAGES: dict[str, tuple[Callable[[Path], None], type[CorpusError]]] = {
    "empty": (empty, IndexDamaged),
    "cut": (cut, IndexDamaged),
    "first-bit": (flip(0.0), IndexDamaged),
    "middle-bit": (flip(0.5), IndexDamaged),
    "last-bit": (flip(1.0), IndexDamaged),
    "foreign": (foreign, IndexDamaged),
    "gone": (lambda path: path.unlink(), IndexDamaged),
    "grown": (grow, IndexDamaged),
    "empty-repointed": (repoint(empty), IndexDamaged),
    "cut-repointed": (repoint(halve), IndexDamaged),
    "text-repointed": (
        repoint(scribble),
        IndexDamaged,
    ),
    "foreign-repointed": (repoint(foreign), IndexDamaged),
    "older-schema": (repoint(sql(f"PRAGMA user_version={SCHEMA_VERSION - 1}")), IndexOutdated),
    "newer-schema": (repoint(sql(f"PRAGMA user_version={SCHEMA_VERSION + 1}")), IndexOutdated),
    "no-meta": (repoint(sql("DELETE FROM meta")), IndexDamaged),
    "odd-meta": (repoint(sql("UPDATE meta SET value = '{}'")), IndexDamaged),
    "rows-missing": (repoint(sql("DELETE FROM chunk WHERE id = 1")), IndexDamaged),
    "pages-missing": (repoint(sql("DELETE FROM page WHERE document_id = 1")), IndexDamaged),
    "page-without-text": (repoint(sql("INSERT INTO page VALUES (1, 7, 9)")), IndexDamaged),
    "odd-dates": (repoint(sql("UPDATE chunk SET spans = '[{}]'")), IndexDamaged),
    "no-table": (repoint(sql("DROP TABLE vector")), IndexDamaged),
    "pointer-empty": (pointer(b""), IndexDamaged),
    "pointer-text": (pointer(b"{]"), IndexDamaged),
    "pointer-out": (
        pointer(b'{"index":"../x.db","size_bytes":1,"sha256":"","built_at":""}'),
        IndexDamaged,
    ),
    "pointer-gone": (lambda path: (path.parent / POINTER_NAME).unlink(), IndexMissing),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_refused_with_the_cure(tmp_path: Path, damage: str) -> None:
    path = built(tmp_path / "index")
    harm, expected = DAMAGES[damage]
    harm(path)
    with pytest.raises(expected, match="reindex") as caught:
        open_index(path.parent)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_next_run_rebuilds_it_and_touches_nothing_else(tmp_path: Path, damage: str) -> None:
    """Rebuilds an index of an older schema too, and never touches conversations."""
    path = built(tmp_path / "index")
    DAMAGES[damage][0](path)
    (path.parent / "conversations.db").write_bytes(b"talk")
    (tmp_path / "posts").mkdir()
    (tmp_path / "posts" / "a.md").write_text("# Hola\n\ntexto")
    with FakeEmbedder(dimension=DIMENSION) as fake:
        settings = Settings(
            rag=RagSettings(data_path="none", docs_path="none", posts_path=str(tmp_path / "posts"),
                            index_path=str(path.parent)),
            embeddings=EmbeddingSettings(endpoint=fake.url, dimension=DIMENSION),
        )  # fmt: skip
        with EmbeddingClient(settings.embeddings) as client:
            report = run(settings, client=client)
    assert report.changed
    assert report.reused == 0
    index = open_index(path.parent)
    index.close()
    assert "posts/a.md" in {document.path for document in index.documents.values()}
    assert index.has_vectors
    assert (path.parent / "conversations.db").read_bytes() == b"talk"


def test_what_was_written_is_read(tmp_path: Path) -> None:
    index = open_index(built(tmp_path / "index").parent)
    try:
        assert len(index) == 3
        assert index.has_vectors
        assert [score > 0.99 for score in index.cosines(one_hot(1))] == [False, True, False]
        assert [index.passage(number).chunk.text for number, _ in index.bm25(["texto2"], 5)] == [
            "texto2 C++ año"
        ]
        assert len(index.bm25(["cplusplus"], 5)) == 3
        assert index.bm25([], 5) == []
        for word in ('"', "AND", "*", "\x00", "a:b", "C++", "", ".NET", "what's", "NEAR("):
            index.bm25([word], 5)  # never raises, whatever the visitor typed
    finally:
        index.close()


def test_vectors_of_another_dimension_are_ignored_never_compared(tmp_path: Path) -> None:
    """EMB-05"""
    folder = tmp_path / "index"
    with writer_lock(folder):
        publish(
            folder, meta(3), [batch(0), batch(1, dimension=2 * DIMENSION), batch(2, dimension=4)]
        )
    index = open_index(folder)
    try:
        assert not index.has_vectors
        assert [round(float(score), 2) for score in index.cosines(one_hot(0))] == [1.0, -1.0, -1.0]
    finally:
        index.close()


def test_a_published_index_opens_from_a_read_only_folder(tmp_path: Path) -> None:
    """OPS-03: immutable and read-only, so it needs no journal and leaves nothing."""
    path = built(tmp_path / "index")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        before = sorted(item.name for item in path.parent.iterdir())
        index = open_index(path.parent)
        assert index.bm25(["texto1"], 5)
        index.close()
        assert sorted(item.name for item in path.parent.iterdir()) == before
    finally:
        path.parent.chmod(0o755)


def test_an_open_index_survives_the_removal_of_its_file(tmp_path: Path) -> None:
    path = built(tmp_path / "index")
    index = Index(path)
    try:
        path.unlink()
        assert index.bm25(["texto1"], 5)
    finally:
        index.close()


def test_the_pointer_moves_to_the_newer_index(tmp_path: Path) -> None:
    folder = built(tmp_path / "index").parent
    first = read_pointer(folder)
    built(folder, 2)
    assert read_pointer(folder).index != first.index
    index = open_index(folder)
    index.close()
    assert len(index) == 2
    assert index.pointer is not None
    assert msgspec.structs.asdict(index.pointer)["sha256"] == file_sha256(
        folder / index.pointer.index
    )


def test_pages_hold_their_passages_in_order(tmp_path: Path) -> None:
    """Sizes are those the writer is given; left out, they are estimated."""
    document = Document(path="posts/p.md", kind="post", title="T", url="/p", lang="en")
    entries = tuple(
        IndexEntry(
            chunk=Chunk(heading="", anchor="", text=f"text {n}", ordinal=n, page=n // 2),
            text_hash=f"p{n}",
            vector=None,
        )
        for n in range(3)
    )
    for given, expected in (((70, 35), [70, 35]), ((), [7, 4])):
        with writer_lock(tmp_path):
            publish(
                tmp_path,
                meta(2, chunks=4, vectors=0, embedding=None),
                [batch(0), IndexBatch(document=document, entries=entries, page_tokens=given)],
            )
        index = open_index(tmp_path)
        pages = [page for page in index.pages if page.document.path == "posts/p.md"]
        assert [[p.chunk.text for p in page.passages] for page in pages] == [
            ["text 0", "text 1"],
            ["text 2"],
        ]
        assert [page.ordinal for page in pages] == [0, 1]
        assert [page.tokens for page in pages] == expected
        assert all(index.page_of(p.chunk_id) is page for page in pages for p in page.passages)
        assert len(index.pages) == 3
        index.close()
