"""Whole runs of the indexer against a real embedding server that fails on request."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
import pytest

from corpus.embedding import EmbeddingClient
from corpus.errors import EmbeddingRejected
from corpus.model import PROBE_TEXT, IndexMeta
from corpus.pointer import read_pointer
from corpus.reader import Index, open_index
from corpus.settings import EmbeddingSettings, PersonaSettings, RagSettings, Settings
from corpus.vectors import Vector
from corpus.writer import writer_lock
from indexer import chunk as chunk_module
from indexer import fingerprint
from indexer.cli import main
from indexer.errors import NothingFound
from indexer.job import run
from indexer.report import Report
from tests.fake_embedder import FakeEmbedder

FILES = {
    "projects/tienda.md": "---\ntitle: Tienda\nlang: en\nstack: [Go, Stripe]\n---\n\nA shop.\n\n"
    "## Payments\n\nStripe takes the cards.",
    "projects/README.md": "# Not for visitors MARKER-README",
    "docs/cv.mdx": "import A from 'a'\n\n# CV\n\n## Experience\n\n"
    "### Metrimex — Frontend\n\n<Job>Two years.</Job>",
    "posts/hola.md": "---\ntitle: Hola\nlang: es\ndate: 2024-01-01\ntags: [uno]\n---\n\n"
    "Un texto en español sobre mareas.",
    "posts/draft.md": "---\ntitle: D\ndraft: true\n---\nMARKER-DRAFT",
}


@pytest.fixture
def fake() -> Iterator[FakeEmbedder]:
    with FakeEmbedder(dimension=32) as server:
        yield server


class Site:
    """A content folder, its settings and the runs on it."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        for name in ("projects", "docs", "posts"):
            (root / name).mkdir()
        for name, text in FILES.items():
            self.write(name, text)
        self.settings = Settings(
            rag=RagSettings(
                data_path=str(root / "projects"), docs_path=str(root / "docs"),
                posts_path=str(root / "posts"), index_path=str(root / "index"),
            ),
            embeddings=EmbeddingSettings(endpoint=url, model="fake", dimension=32, timeout_seconds=5.0),
        )  # fmt: skip

    def write(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def change(self, **fields: object) -> None:
        """Other settings of the embedding server."""
        embeddings = msgspec.structs.replace(self.settings.embeddings, **fields)
        self.settings = msgspec.structs.replace(self.settings, embeddings=embeddings)

    def run(self, **options: object) -> Report:
        with EmbeddingClient(self.settings.embeddings) as client:
            return run(self.settings, client=client, **options)  # type: ignore[arg-type]

    def read(self) -> dict[str, list[str]]:
        """Texts of the passages in service by document path."""
        index = open_index(self.folder)
        try:
            found: dict[str, list[str]] = {d.path: [] for d in index.documents.values()}
            for number in index.chunk_ids:
                passage = index.passage(int(number))
                found[passage.document.path].append(passage.chunk.text)
            return found
        finally:
            index.close()

    def vectors(self) -> dict[str, list[float]]:
        """Vectors in service by text hash."""
        index = open_index(self.folder)
        try:
            return {
                key: [float(v) for v in vector] for key, vector in index.reusable_vectors().items()
            }
        finally:
            index.close()

    @property
    def folder(self) -> Path:
        return self.root / "index"

    @property
    def published(self) -> bytes:
        """The index file in service."""
        return (self.folder / read_pointer(self.folder).index).read_bytes()

    def config(self, extra: str = "") -> str:
        path = self.root / "config.yaml"
        rag, embeddings = self.settings.rag, self.settings.embeddings
        path.write_text(
            f"rag: {{data_path: {rag.data_path}, docs_path: {rag.docs_path}, posts_path: {rag.posts_path},"
            f" index_path: {rag.index_path}}}\n"
            f"embeddings: {{endpoint: '{embeddings.endpoint}', model: {embeddings.model}, dimension: 32}}\n"
            f"{extra}"
        )
        return str(path)


@pytest.fixture
def site(tmp_path: Path, fake: FakeEmbedder) -> Site:
    return Site(tmp_path, fake.url)


def test_a_first_run_publishes_everything_a_visitor_may_see(site: Site, fake: FakeEmbedder) -> None:
    """Skips READMEs and drafts, indexes .mdx, names the job by its heading path, adds summaries."""
    report = site.run()
    assert (report.indexed_files, report.changed, report.exit_code) == (3, True, 0)
    assert report.skipped == {"draft": 1, "readme": 1}
    assert site.read().keys() == {
        "projects/tienda.md", "docs/cv.mdx", "posts/hola.md", "summary/site.en.md", "summary/site.es.md",
    }  # fmt: skip
    index = open_index(site.folder)
    try:
        assert index.has_vectors
        assert "Experience — Metrimex — Frontend" in {
            index.passage(int(n)).chunk.heading for n in index.chunk_ids
        }
        texts = " ".join(index.passage(int(n)).chunk.text for n in index.chunk_ids)
        assert "MARKER" not in texts
        assert "import A" not in texts
        kinds = {d.path: (d.kind, d.generated) for d in index.documents.values()}
        assert kinds["docs/cv.mdx"] == ("doc", False)
        assert kinds["summary/site.es.md"] == ("doc", True)
        query = np.array(fake.vector("query: Stripe takes the cards."), np.float32)
        best = int(index.chunk_ids[int(np.argmax(index.cosines(query / np.linalg.norm(query))))])
        assert index.passage(best).chunk.heading == "Payments"
    finally:
        index.close()
    assert fake.passages
    assert all(text.startswith("passage: ") for text in fake.passages)


def test_summaries_answer_what_the_site_is_about(site: Site) -> None:
    site.settings = msgspec.structs.replace(
        site.settings,
        persona=PersonaSettings(topics={"es": ("mareas", "tiendas"), "en": ("tides",)}),
    )
    site.run()
    spanish = "\n".join(site.read()["summary/site.es.md"])
    assert "¿De qué trata este sitio?" in spanish
    assert "mareas y tiendas" in spanish
    assert "Go, Stripe" in spanish
    assert "This site is about tides" in "\n".join(site.read()["summary/site.en.md"])


def test_a_run_without_changes_embeds_nothing_and_touches_nothing(
    site: Site, fake: FakeEmbedder
) -> None:
    first = site.run()
    before = {path.name: path.stat().st_mtime_ns for path in site.folder.iterdir()}
    fake.forget()
    report = site.run()
    assert (report.changed, report.embedded, report.index) == (False, 0, first.index)
    assert report.reused == report.total_chunks == first.total_chunks
    assert fake.passages == []
    assert report.duration_ms < 2000
    assert before == {path.name: path.stat().st_mtime_ns for path in site.folder.iterdir()}


def test_only_what_changed_is_embedded_again(site: Site, fake: FakeEmbedder) -> None:
    site.run()
    before = site.vectors()
    fake.forget()
    site.write("posts/hola.md", FILES["posts/hola.md"].replace("mareas", "barcos"))
    report = site.run()
    assert report.changed
    assert report.embedded == 1
    assert all("barcos" in text for text in fake.passages)
    after = site.vectors()
    assert len(after.keys() - before.keys()) == 1  # its only window is the same text
    assert all(after[key] == before[key] for key in after.keys() & before.keys())


def test_a_vector_is_never_kept_for_a_changed_title_or_heading(
    site: Site, fake: FakeEmbedder
) -> None:
    """The hash is over the exact text embedded, breadcrumb included."""
    site.run()
    fake.forget()
    site.write("projects/tienda.md", FILES["projects/tienda.md"].replace("## Payments", "## Money"))
    site.run()
    assert any("Tienda — Money" in text for text in fake.passages)


@pytest.mark.parametrize(
    "gone",
    [
        "---\ntitle: Hola\ndraft: true\n---\nUn texto",
        "---\ntitle: Hola\ndate: 2099-01-01\n---\nUn texto",
        None,
    ],
)
def test_what_is_unpublished_leaves_the_index(site: Site, gone: str | None) -> None:
    """MD-08: also a file that was deleted."""
    site.run()
    if gone is None:
        (site.root / "posts/hola.md").unlink()
    else:
        site.write("posts/hola.md", gone)
    site.run()
    assert "posts/hola.md" not in site.read()
    assert "mareas" not in str(site.read())


def test_a_post_appears_when_its_date_has_come(site: Site) -> None:
    """MD-08: no file changes that day."""
    site.write("posts/f.md", "---\ntitle: F\ndate: 2030-01-02\n---\nfuturo")
    site.run(now=datetime(2030, 1, 1, 23, tzinfo=UTC))
    assert "posts/f.md" not in site.read()
    report = site.run(now=datetime(2030, 1, 2, 1, tzinfo=UTC))
    assert report.changed
    assert "posts/f.md" in site.read()


def test_the_same_input_gives_the_same_index(site: Site, tmp_path: Path) -> None:
    site.run()
    meta, content, vectors = _meta(site), site.read(), site.vectors()
    (site.folder / "current.json").unlink()
    site.run(rebuild=True)
    assert _meta(site).source_hash == meta.source_hash
    assert (site.read(), site.vectors()) == (content, vectors)


@pytest.mark.parametrize(
    "failure", ["null", "nan", "zeros", "wrong-dimension", "duplicate-index", "missing-one"]
)
@pytest.mark.parametrize("after", [0, 1])
def test_unusable_vectors_stop_the_run_and_keep_the_old_index(
    site: Site, fake: FakeEmbedder, failure: str, after: int
) -> None:
    """EMB-02: at the probe, and in the middle."""
    site.run()
    before = site.published
    site.write("posts/neu.md", "# Nuevo\n\ntexto nuevo")
    fake.script(failure, after=after)  # type: ignore[arg-type]
    with pytest.raises(EmbeddingRejected):
        site.run()
    assert site.published == before
    assert not list(site.folder.glob(".building*"))
    fake.forget()
    assert site.run().exit_code == 0
    assert "posts/neu.md" in site.read()


def test_vectors_are_paired_by_index_not_by_order(site: Site, fake: FakeEmbedder) -> None:
    site.run()
    straight = site.vectors()
    fake.script("shuffled", times=None)
    site.run(rebuild=True)
    assert site.vectors() == straight


@pytest.mark.parametrize("status", [413, 422, 500, 400])
@pytest.mark.parametrize("most", [1, 3])
def test_batches_shrink_until_the_server_takes_them(
    site: Site, fake: FakeEmbedder, status: int, most: int
) -> None:
    """EMB-06"""
    site.run()
    whole = site.vectors()
    fake.max_batch, fake.batch_status = most, status
    report = site.run(rebuild=True)
    assert report.exit_code == 0
    assert site.vectors() == whole


def test_batches_are_never_larger_than_configured(site: Site, fake: FakeEmbedder) -> None:
    """EMB-06"""
    site.change(batch_size=4)
    site.write("posts/largo.md", "\n\n".join(f"## T{n}\n\ntexto {n}" for n in range(20)))
    site.run()
    assert max(fake.batch_sizes) == 4


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"{n}.2345,-0.00987" for n in range(400)),
        " ".join(f"https://example.com/a/very/long/path/{n}?q=x&y=z" for n in range(100)),
        "```yaml\n" + "\n".join(f"key_{n}: {{a: {n}, b: [x, y, z]}}" for n in range(150)) + "\n```",
        "x" * 4000,
        "日本語のブログ記事です" * 200,
    ],
)
@pytest.mark.parametrize("tokenizes", [True, False])
def test_inputs_the_server_calls_too_long_are_read_in_windows(
    tmp_path: Path, text: str, tokenizes: bool
) -> None:
    """EMB-01: refused inputs are split and averaged; nothing is skipped."""
    with FakeEmbedder(dimension=32, max_tokens=120, tokenizes=tokenizes) as fake:
        site = Site(tmp_path, fake.url)
        site.write("posts/numeros.md", f"# Números\n\n{text}")
        report = site.run()
        assert report.exit_code == 0
        index = open_index(site.folder)
        try:
            assert index.has_vectors
            for vector in index.reusable_vectors().values():
                assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
        finally:
            index.close()


def test_no_blank_text_is_ever_sent(site: Site, fake: FakeEmbedder) -> None:
    """EMB-04"""
    site.write(
        "posts/vacio.md", "---\ntitle: Vacío\n---\n\n![](x.png)\n\n---\n\n<!-- nada -->\n\n   \n"
    )
    site.write("posts/cero.md", b"")
    site.write(
        "posts/signos.md", "---\ntitle: Signos\n---\n\n| | |\n|---|---|\n| | |\n\n***\n\n- \n\n`  `"
    )
    report = site.run()
    assert report.exit_code == 0
    assert all(text.removeprefix("passage: ").strip() for text in fake.passages)
    index = open_index(site.folder)
    index.close()
    assert index.has_vectors


def test_frontmatter_only_content_is_no_error(tmp_path: Path, fake: FakeEmbedder) -> None:
    """MD-17: zero bytes and frontmatter only give no passages and exit code 0."""
    site = Site(tmp_path, fake.url)
    for name in FILES:
        (tmp_path / name).unlink()
    site.write("docs/a.md", "")
    site.write("docs/b.md", "---\ntitle: Solo\n---\n")
    report = site.run()
    assert report.exit_code == 0
    assert site.read()["docs/b.md"] == []


CHANGES: dict[str, Callable[[Site, FakeEmbedder], None]] = {
    "model-name": lambda site, fake: site.change(model="other"),
    "passage-prefix": lambda site, fake: site.change(passage_prefix="search_document: "),
    "query-prefix": lambda site, fake: site.change(query_prefix="search_query: "),
    "pooling": lambda site, fake: site.change(pooling="cls"),
    "same-name-other-weights": lambda site, fake: setattr(fake, "seed", "model-b"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_model_means_every_passage_is_embedded_again(
    site: Site, fake: FakeEmbedder, change: str
) -> None:
    """EMB-05: unchanged sources, equal dimension; also when only the weights behind the name changed."""
    site.run()
    fake.forget()
    CHANGES[change](site, fake)
    report = site.run()
    assert report.changed
    assert (report.embedded, report.reused) == (report.total_chunks, 0)
    meta = _meta(site)
    assert meta.embedding is not None
    probe = np.array(fake.vector(PROBE_TEXT))
    assert np.allclose(meta.embedding.probe, probe / np.linalg.norm(probe), atol=1e-6)


def test_another_dimension_means_a_full_rebuild(site: Site, fake: FakeEmbedder) -> None:
    """EMB-05"""
    site.run()
    with FakeEmbedder(dimension=48) as larger:
        site.change(dimension=48, endpoint=larger.url)
        report = site.run()
        assert (report.embedded, report.reused) == (report.total_chunks, 0)
    index = open_index(site.folder)
    index.close()
    assert index.has_vectors
    assert {len(vector) for vector in _all_vectors(site)} == {48}


@pytest.mark.parametrize("known", [(None, "a" * 64), ("a" * 64, None)])
def test_a_model_hash_learnt_later_needs_no_new_vectors(
    site: Site, known: tuple[str | None, str | None]
) -> None:
    site.change(sha256=known[0])
    site.run()
    site.change(sha256=known[1])
    report = site.run()
    assert report.embedded == 0


@pytest.mark.parametrize("what", ["chunker", "schema"])
def test_another_chunker_or_schema_rebuilds(
    site: Site, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    site.run()
    name = {"chunker": "CHUNKER_VERSION", "schema": "SCHEMA_VERSION"}[what]
    monkeypatch.setattr(fingerprint, name, 999)
    assert chunk_module.CHUNKER_VERSION != 999
    report = site.run()
    assert report.changed
    assert report.embedded == 0


def hang(fake: FakeEmbedder, site: Site) -> None:
    site.change(timeout_seconds=0.2)
    fake.script("hang", times=None)


def die_in_the_middle(fake: FakeEmbedder, site: Site) -> None:
    site.change(batch_size=2)
    fake.script("503", times=None, after=2)


DOWN: dict[str, Callable[[FakeEmbedder, Site], None]] = {
    "loading": lambda fake, site: setattr(fake, "down", True),
    "nothing-listens": lambda fake, site: site.change(endpoint="http://127.0.0.1:9"),
    "closes": lambda fake, site: fake.script("close", times=None),
    "not-json": lambda fake, site: fake.script("not-json", times=None),
    "hangs": hang,
    "dies-in-the-middle": die_in_the_middle,
}


@pytest.mark.parametrize("how", DOWN)
def test_without_embedder_changed_content_is_published_for_keywords(
    site: Site, fake: FakeEmbedder, how: str
) -> None:
    url = site.settings.embeddings.endpoint
    site.run()
    vectors = site.vectors()
    site.write(
        "posts/neu.md", "# Nuevo\n\n" + "\n\n".join(f"## N{n}\n\ntexto {n}" for n in range(6))
    )
    DOWN[how](fake, site)
    report = site.run()
    assert (report.keyword_only, report.changed, report.exit_code) == (True, True, 5)
    index = open_index(site.folder)
    index.close()
    assert "posts/neu.md" in site.read()
    assert not index.has_vectors
    assert site.vectors() == {}
    # the next run with a server embeds only what no earlier index holds
    fake.down = False
    fake.forget()
    site.change(endpoint=url, timeout_seconds=5.0)
    report = site.run()
    assert (report.exit_code, report.keyword_only) == (0, False)
    assert 0 < report.embedded < report.total_chunks
    assert vectors.keys() & site.vectors().keys()


def test_without_embedder_unchanged_content_keeps_its_vectors(
    site: Site, fake: FakeEmbedder
) -> None:
    site.run()
    before = site.published
    fake.down = True
    report = site.run()
    assert (report.exit_code, report.changed, report.keyword_only) == (0, False, False)
    assert [problem.where for problem in report.problems] == ["embedder"]
    assert site.published == before


def test_a_keyword_index_gets_its_vectors_when_the_server_comes(
    site: Site, fake: FakeEmbedder
) -> None:
    fake.down = True
    assert site.run().exit_code == 5
    assert site.run().exit_code == 5  # nothing new, and still keywords only
    fake.down = False
    report = site.run()
    assert (report.exit_code, report.changed, report.embedded) == (0, True, report.total_chunks)


@pytest.mark.parametrize("broken", ["projects/tienda.md", "posts/hola.md", "docs/cv.mdx"])
def test_a_broken_document_is_named_and_the_others_published(site: Site, broken: str) -> None:
    site.write(broken, "---\ntitle: a: b: c\n---\nx")
    report = site.run()
    assert report.exit_code == 4
    (problem,) = [problem for problem in report.problems if problem.fatal]
    assert problem.where == f"{broken}:2"
    assert broken not in site.read()
    assert len(site.read()) == 4


@pytest.mark.parametrize(
    "data", [b"# A\xf1o", "# Año".encode("utf-16"), b"\x89PNG\r\n\x1a\n\x00", b"a\x00b"]
)
def test_strange_files_are_warnings_and_the_run_goes_on(site: Site, data: bytes) -> None:
    """MD-18"""
    site.write("posts/raro.md", data)
    report = site.run()
    assert report.exit_code == 0
    assert [problem.where for problem in report.problems] == ["posts/raro.md"]
    assert "posts/hola.md" in site.read()


def test_an_empty_content_folder_never_empties_the_site(site: Site) -> None:
    site.run()
    before = site.published
    for name in FILES:
        (site.root / name).unlink()
    with pytest.raises(NothingFound, match="--allow-empty"):
        site.run()
    assert site.published == before
    report = site.run(allow_empty=True)
    assert (report.exit_code, report.total_chunks) == (0, 0)
    assert site.read() == {}


def test_nothing_found_at_first_is_an_error(site: Site) -> None:
    for name in FILES:
        (site.root / name).unlink()
    site.write("projects/README.md", "# x")
    with pytest.raises(NothingFound):
        site.run()
    assert not (site.folder / "current.json").exists()


def test_other_files_in_the_index_folder_are_never_touched(site: Site) -> None:
    site.folder.mkdir()
    strangers = {
        "conversations.db": b"SQLite format 3\x00 talk",
        "conversations.db-wal": b"w",
        "notes.txt": b"n",
        ".hidden": b"h",
    }
    for name, data in strangers.items():
        (site.folder / name).write_bytes(data)
    for number in range(6):
        site.write("posts/hola.md", f"# Hola\n\nversión {number}")
        site.run()
    assert {name: (site.folder / name).read_bytes() for name in strangers} == strangers
    assert len(list(site.folder.glob("index-*.db"))) == 3  # the one in service and two old ones


def test_no_journal_is_left_beside_the_index(site: Site) -> None:
    """OPS-03: a reader on a read-only mount would fail on a WAL."""
    site.run()
    name = read_pointer(site.folder).index
    assert [path.name for path in site.folder.iterdir() if path.name.startswith(name)] == [name]
    assert site.published[18:20] == b"\x01\x01"  # file format: rollback journal, not WAL


def test_the_command_prints_one_json_line_and_its_exit_code(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--config", site.config()]) == 0
    out, err = capsys.readouterr()
    summary = json.loads(out)
    assert out.count("\n") == 1
    assert summary.keys() == {
        "indexed_files", "total_chunks", "embedded", "reused", "skipped", "warnings", "errors",
        "keyword_only", "changed", "index", "duration_ms",
    }  # fmt: skip
    assert summary["indexed_files"] == 3
    assert "embedding" in err
    assert main(["--config", site.config(), "--json-only"]) == 0
    assert capsys.readouterr().err == ""


def test_the_command_has_an_exit_code_for_each_cause(
    site: Site, fake: FakeEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    config = site.config()

    def code(*arguments: str) -> tuple[int, str]:
        result = main(["--config", *(arguments or (config,)), "--json-only"])
        error = capsys.readouterr().err
        assert "Traceback" not in error
        return result, error

    assert code(str(site.root / "no.yaml"))[0] == 2
    assert code(site.config("rag2: {}\n"))[0] == 2
    site.config()
    assert code()[0] == 0
    site.write("posts/roto.md", "---\na: b: c\n---\n")
    number, error = code()
    assert number == 4
    assert "posts/roto.md:2" in error
    (site.root / "posts/roto.md").unlink()
    fake.script("nan", times=None)
    number, error = code()
    assert number == 6
    assert "old index is kept" in error
    fake.forget()
    fake.down = True
    site.write("posts/nuevo.md", "nuevo")
    number, error = code()
    assert number == 5
    assert "KEYWORDS ONLY" in error
    fake.down = False
    with writer_lock(site.folder):
        assert code()[0] == 7
    assert code()[0] == 0
    for name in ("projects", "docs", "posts"):
        (site.root / name).rename(site.root / f"{name}-gone")
    number, error = code()
    assert number == 2
    assert "rag.data_path" in error


@pytest.mark.parametrize("kind", ["below-a-file", "is-a-file"])
def test_a_folder_that_cannot_be_written_is_one_clear_line(
    site: Site, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    (site.root / "file").write_text("x")
    below = "file/index" if kind == "below-a-file" else "file"
    rag = msgspec.structs.replace(site.settings.rag, index_path=str(site.root / below))
    site.settings = msgspec.structs.replace(site.settings, rag=rag)
    assert main(["--config", site.config(), "--json-only"]) == 8
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(site.root / below) in error
    assert "uid" in error


def test_help_documents_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert all(f"\n  {code} " in text for code in (0, 2, 4, 5, 6, 7, 8, 130))


def _meta(site: Site) -> IndexMeta:
    index = open_index(site.folder)
    index.close()
    return index.meta


def _all_vectors(site: Site) -> list[Vector]:
    index = open_index(site.folder)
    try:
        return list(index.reusable_vectors().values())
    finally:
        index.close()


def test_an_older_index_of_the_same_schema_still_opens_beside_the_new_one(site: Site) -> None:
    """A reader that holds the old file goes on reading it while new ones are published."""
    site.run()
    old = Index(site.folder / read_pointer(site.folder).index)
    try:
        site.write("posts/hola.md", "# Hola\n\notra cosa")
        site.run()
        assert old.bm25(["mareas"], 5)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            old._connection.execute("DELETE FROM chunk")
    finally:
        old.close()
