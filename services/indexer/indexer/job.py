"""The whole run: discover, parse, compare, chunk, reuse, embed, publish; under one lock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from corpus.embedding import EmbeddingClient
from corpus.errors import EmbedderUnavailable, IndexDamaged, IndexMissing, IndexOutdated
from corpus.model import EmbeddingIdentity, IndexMeta
from corpus.pointer import read_pointer
from corpus.reader import open_index
from corpus.schema import SCHEMA_VERSION
from corpus.settings import Settings
from corpus.token_estimate import estimated_tokens
from corpus.vectors import Vector
from corpus.writer import publish, remove_leftovers, writer_lock
from indexer.chat_tokens import ChatTokenCounter
from indexer.chunk import CHUNKER_VERSION
from indexer.discover import discover
from indexer.document import Entry, ParsedDocument, parse_entry, read_entries, warn_of_shared_urls
from indexer.embed import PassageEmbedder
from indexer.errors import NothingFound
from indexer.fingerprint import source_hash
from indexer.passages import batch, cut_into_passages, vectors_of
from indexer.progress import Progress, SilentProgress
from indexer.report import Findings, Report
from indexer.reuse import is_same_model, reusable_vectors
from indexer.summaries import summary_documents
from indexer.tokens import TokenCounter


class _Published(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the index in service."""

    name: str
    meta: IndexMeta
    source_documents: int

    @property
    def is_complete(self) -> bool:
        return self.meta.embedding is not None and self.meta.vectors == self.meta.chunks


def run(
    settings: Settings,
    *,
    client: EmbeddingClient,
    chat: ChatTokenCounter | None = None,
    progress: Progress | None = None,
    findings: Findings | None = None,
    allow_empty: bool = False,
    rebuild: bool = False,
    now: datetime | None = None,
) -> Report:
    """Bring the published index up to date with the content folders.

    A failed run leaves the index in service as it was. `findings` may be passed in to read the
    problems of a run that raised. `chat` counts the tokens of pages; without it they are estimated.
    `now` (with time zone) decides which posts are in the future.

    Raises:
        ContentFoldersMissing, NothingFound: see indexer.errors.
        IndexBusy: another run holds the lock.
        EmbeddingRejected: the embedding server sends vectors nobody may use.
        CorpusError, OSError, sqlite3.Error: the folder of the index can't be written.
    """
    started = time.monotonic()
    progress = progress or SilentProgress()
    findings = findings or Findings()
    folder = Path(settings.rag.index_path)
    with writer_lock(folder):
        remove_leftovers(folder)
        sources = discover(settings.rag, findings)
        entries = read_entries(sources, now or datetime.now(UTC), findings)
        published, damaged = _published(folder, findings)
        if not entries and not allow_empty:
            _refuse_to_empty(bool(sources), published)
        counter = TokenCounter(client)
        embedder = PassageEmbedder(client, settings.embeddings, counter)
        identity = _identity(embedder, findings)
        content = source_hash(entries, settings)
        unchanged = published is not None and published.meta.source_hash == content and not rebuild
        if published and unchanged and _may_stay(published, identity, chat):
            return _report(published, entries, findings, started, down=identity is None)

        progress.begin("reading", len(entries))
        parsed = _parse(entries, settings, findings, progress)
        progress.begin("cutting into passages", len(parsed))
        counter = TokenCounter(client if identity else None)
        cuts = []
        for item in parsed:
            cuts.append(cut_into_passages(item, settings, counter, chat or estimated_tokens))
            progress.advance(1)
        vectors: dict[str, Vector] = {}
        embedded = 0
        if identity:
            embedder = PassageEmbedder(client, settings.embeddings, counter)
            earlier = {} if rebuild else reusable_vectors(folder, identity, damaged)
            try:
                flat = [passage for cut in cuts for passage in cut.passages]
                vectors, embedded = vectors_of(flat, earlier, embedder, progress)
            except EmbedderUnavailable as error:
                findings.warn("embedder", f"{error} (while embedding)")
                identity, vectors, embedded = None, {}, 0
                if published and unchanged:
                    return _report(published, entries, findings, started, down=True)
        chunks = sum(len(cut.passages) for cut in cuts)
        meta = IndexMeta(
            schema_version=SCHEMA_VERSION,
            chunker_version=CHUNKER_VERSION,
            embedding=identity,
            documents=len(parsed),
            chunks=chunks,
            vectors=chunks if identity else 0,
            pages=sum(len(cut.page_tokens) for cut in cuts),
            tokenizer=chat.tokenizer if chat else None,
            source_hash=content,
            built_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        batches = [batch(item, cut, vectors) for item, cut in zip(parsed, cuts, strict=True)]
        pointer = publish(folder, meta, batches)
        remove_leftovers(folder)
    return Report(
        indexed_files=len(entries),
        total_chunks=chunks,
        embedded=embedded,
        reused=chunks - embedded if identity else 0,
        skipped=dict(sorted(findings.skipped.items())),
        keyword_only=identity is None,
        changed=True,
        index=pointer.index,
        duration_ms=_milliseconds(started),
        embedder_down=identity is None,
        problems=tuple(findings.problems),
    )


def _published(folder: Path, findings: Findings) -> tuple[_Published | None, str]:
    """The index in service, or None and the name of a file that must not be trusted."""
    try:
        index = open_index(folder)
    except IndexMissing:
        return None, ""
    except (IndexDamaged, IndexOutdated) as error:
        findings.warn(
            "index", f"{error}; it is built again now".replace(": run `chat-bot reindex`", "")
        )
        try:
            return None, read_pointer(folder).index
        except (IndexDamaged, IndexMissing):
            return None, ""
    try:
        assert index.pointer is not None
        own = sum(not document.generated for document in index.documents.values())
        return _Published(name=index.pointer.index, meta=index.meta, source_documents=own), ""
    finally:
        index.close()


def _refuse_to_empty(any_source: bool, published: _Published | None) -> None:
    if published and published.source_documents:
        raise NothingFound(
            f"no document may be published, but the index in service holds "
            f"{published.source_documents}: it is kept. If that is meant, pass --allow-empty"
        )
    if not any_source:
        raise NothingFound("the content folders hold no .md or .mdx file besides README*")


def _identity(embedder: PassageEmbedder, findings: Findings) -> EmbeddingIdentity | None:
    try:
        return embedder.identity()
    except EmbedderUnavailable as error:
        findings.warn(
            "embedder", f"{error}: start it and run the indexer again for search by meaning"
        )
        return None


def _may_stay(
    published: _Published, identity: EmbeddingIdentity | None, chat: ChatTokenCounter | None
) -> bool:
    """Whether an index of unchanged content needs nothing, or nothing can be done for it now."""
    if identity is None:
        return True
    if not published.is_complete or not is_same_model(published.meta.embedding, identity):
        return False
    # Pages that were estimated, or counted for another chat model, are formed again once it answers.
    return chat is None or published.meta.tokenizer == chat.model or not chat.answers()


def _parse(
    entries: Sequence[Entry], settings: Settings, findings: Findings, progress: Progress
) -> list[ParsedDocument]:
    parsed = []
    for entry in entries:
        parsed.append(parse_entry(entry, settings.rag, findings))
        progress.advance(1)
    warn_of_shared_urls([item.document for item in parsed], findings)
    return [*parsed, *summary_documents(parsed, settings.persona)]


def _report(
    published: _Published,
    entries: Sequence[Entry],
    findings: Findings,
    started: float,
    *,
    down: bool,
) -> Report:
    """The index in service was kept."""
    return Report(
        indexed_files=len(entries),
        total_chunks=published.meta.chunks,
        embedded=0,
        reused=published.meta.vectors,
        skipped=dict(sorted(findings.skipped.items())),
        keyword_only=published.meta.embedding is None,
        changed=False,
        index=published.name,
        duration_ms=_milliseconds(started),
        embedder_down=down,
        problems=tuple(findings.problems),
    )


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
