"""Open a published index read-only and search it: keywords by FTS5, meaning by one matrix product."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.chunk_vectors import ChunkVectors
from corpus.errors import IndexDamaged
from corpus.model import Language
from corpus.passage import Page, Passage
from corpus.pointer import Pointer, file_sha256, read_pointer
from corpus.rows import read_documents, read_meta, read_pages, read_passages
from corpus.vectors import FloatArray, IntArray, Vector, decode
from corpus.vocabulary import Vocabulary
from corpus.word_forms import stems_in

__all__ = ["Index", "Page", "Passage", "open_index"]

# Weights of the FTS5 columns title, heading, text, aliases in BM25. A word in a heading says more
# about a passage than the same word in its text; measured on the sample site by bench.retrieval.
BM25_WEIGHTS = (2.0, 2.0, 1.0, 1.0)


class Index:
    """One opened index file. It never changes under the reader; close it after the last query."""

    def __init__(self, path: Path, pointer: Pointer | None = None) -> None:
        self.pointer = pointer
        self._connection = _connect(path)
        try:
            self.meta = read_meta(self._connection, path)
            self.documents = read_documents(self._connection)
            self._passages = read_passages(self._connection, self.documents)
            self.pages = read_pages(self._connection, self.documents, self._passages.values())
            self._page_of = {p.chunk_id: page for page in self.pages for p in page.passages}
            self.chunk_ids: IntArray = np.fromiter(self._passages, np.int64, len(self._passages))
            self._languages = np.array([p.document.lang for p in self._passages.values()], "U2")
            self._position = {int(chunk_id): i for i, chunk_id in enumerate(self.chunk_ids)}
            self._vectors = self._read_vectors()
            self._check_counts(path)
            self._vocabulary = Vocabulary(self._connection, sorted(set(self._languages.tolist())))
            self._connection.execute("PRAGMA query_only=1")
        except (sqlite3.DatabaseError, KeyError, ValueError) as error:
            # KeyError and ValueError (msgspec's errors are some): rows that contradict each other
            self._connection.close()
            raise IndexDamaged(
                f"{path.name} can't be read ({error}): run `chat-bot reindex`"
            ) from error
        except BaseException:
            self._connection.close()
            raise

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self._passages)

    @property
    def has_vectors(self) -> bool:
        """True when every chunk can be found by meaning."""
        return self.meta.embedding is not None and bool(self._vectors.complete.all())

    def passage(self, chunk_id: int) -> Passage:
        """The chunk of that id with its document."""
        return self._passages[chunk_id]

    def page_of(self, chunk_id: int) -> Page:
        """The page the chunk of that id stands on."""
        return self._page_of[chunk_id]

    def position(self, chunk_id: int) -> int:
        """Row of a chunk in the arrays this class returns."""
        return self._position[chunk_id]

    def in_language(self, language: Language) -> npt.NDArray[np.bool_]:
        """Which rows are passages of documents in that language, shape (chunks,)."""
        mask: npt.NDArray[np.bool_] = self._languages == language
        return mask

    def cosines(self, query: Vector) -> FloatArray:
        """Cosine of a unit query vector with every chunk, shape (chunks,); -1 without a vector.

        Half the cosine with the whole chunk and half the best one with its windows; where the chunk
        has a breadcrumb, a fifth of it all is the cosine with the breadcrumb alone (see
        corpus.windows for what each gains).
        """
        return self._vectors.cosines(query)

    def best_window(self, chunk_id: int, query: Vector) -> int | None:
        """Number (from 0) of the chunk's window nearest to the query; None without vectors."""
        return self._vectors.best_window(self._position[chunk_id], query)

    def bm25(self, words: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Best (chunk id, score) by BM25 over any of `words`, higher is better; [] without words."""
        match = " OR ".join(_quoted(word) for word in words)
        if not match:
            return []
        rows = self._connection.execute(
            f"SELECT rowid, -bm25(chunk_fts, {', '.join(map(str, BM25_WEIGHTS))}) AS score"
            " FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?",
            (match, limit),
        )
        return [(int(rowid), float(score)) for rowid, score in rows]

    def holding(self, *words: str) -> IntArray:
        """Rows (see `position`) of the chunks that hold any of `words`, accents and case folded."""
        if not words:
            return np.empty(0, np.int64)
        # One text instead of a thousand rows: a common word costs a tenth so. Ids are in order.
        (ids,) = self._connection.execute(
            "SELECT group_concat(rowid) FROM chunk_fts WHERE chunk_fts MATCH ?",
            (" OR ".join(_quoted(word) for word in words),),
        ).fetchone()
        found = np.fromstring(ids or "", np.int64, sep=",")
        return np.searchsorted(self.chunk_ids, found)

    def forms(self, word: str, language: Language, asked_in: Language | None = None) -> list[str]:
        """Words of the index that passages in `language` may have for a folded word of a question.

        Its other forms where the question is `asked_in` that language, else its translations; both where the
        question's language is not known.
        """
        return self._vocabulary.forms(stems_in(word, language, asked_in), language)

    def holds(self, word: str) -> bool:
        """Whether any chunk has `word`, accents and case folded."""
        return bool(self.holding(word).size)

    def without_crumbs(self) -> None:
        """Leave breadcrumb vectors out of every cosine from now on; for measuring what they gain."""
        self._vectors.drop_crumbs()

    def reusable_vectors(self) -> dict[str, Vector]:
        """Vectors by the hash of the text they were made of, for the next run of the indexer."""
        rows = self._connection.execute("SELECT text_hash, data FROM vector")
        return {text_hash: decode(data) for text_hash, data in rows}

    def close(self) -> None:
        """Close the file; the object must not be used afterwards."""
        self._connection.close()

    def _read_vectors(self) -> ChunkVectors:
        # Vectors of another dimension are ignored, never compared: reshaping them would rank at
        # random without an error.
        embedding = self.meta.embedding
        dimension = embedding.dimension if embedding else 0
        rows = self._connection.execute(
            "SELECT chunk_id, part, data FROM vector WHERE dimension = ? AND length(data) = ?"
            " ORDER BY chunk_id, part",
            (dimension, 4 * dimension),
        )
        return ChunkVectors(
            len(self),
            dimension,
            ((self._position[int(chunk_id)], part, decode(data)) for chunk_id, part, data in rows),
        )

    def _check_counts(self, path: Path) -> None:
        if (self.meta.documents, self.meta.chunks) != (len(self.documents), len(self)):
            raise IndexDamaged(
                f"{path.name} holds {len(self.documents)} documents and {len(self)} chunks where its "
                f"meta says {self.meta.documents} and {self.meta.chunks}: run `chat-bot reindex`"
            )


def open_index(folder: Path) -> Index:
    """Open the index the pointer of `folder` names, after checking size and SHA-256.

    Raises:
        IndexMissing, IndexDamaged, IndexOutdated: see corpus.errors; each names the cure.
    """
    pointer = read_pointer(folder)
    path = folder / pointer.index
    try:
        size_bytes = path.stat().st_size
        sha256 = file_sha256(path) if size_bytes == pointer.size_bytes else ""
    except OSError as error:
        raise IndexDamaged(
            f"{path} can't be read: {error.strerror}; run `chat-bot reindex`"
        ) from error
    if sha256 != pointer.sha256:
        raise IndexDamaged(
            f"{path.name} was altered or cut since it was built: run `chat-bot reindex`"
        )
    return Index(path, pointer)


def _connect(path: Path) -> sqlite3.Connection:
    # immutable=1 is safe because a published file never changes, and it is the only way to open
    # one from a read-only volume without a journal (measured).
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    connection.execute("PRAGMA trusted_schema=0")
    return connection


def _quoted(word: str) -> str:
    """An FTS5 string: quoted words never raise, whatever they hold (unquoted C++, .NET, NUL do)."""
    return '"' + word.replace('"', '""').replace("\x00", "") + '"'
