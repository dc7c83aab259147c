"""SQuAD-format files: paragraphs become an index by the product's own code, questions their test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from corpus.embedding import EmbeddingClient
from corpus.model import Document, IndexMeta
from corpus.reader import Index, open_index
from corpus.schema import SCHEMA_VERSION
from corpus.settings import Settings
from corpus.writer import publish
from indexer.chunk import CHUNKER_VERSION
from indexer.document import ParsedDocument
from indexer.embed import PassageEmbedder
from indexer.metadata import Metadata
from indexer.passages import batch, cut_into_passages, vectors_of
from indexer.progress import SilentProgress
from indexer.sections import outline
from indexer.tokens import TokenCounter


class Paragraph(msgspec.Struct, frozen=True, kw_only=True):
    """One paragraph; `article` counts the file's articles from 0."""

    article: int
    text: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question with the number of the paragraph that answers it."""

    id: str
    text: str
    paragraph: int
    article: int
    answers: tuple[str, ...] = ()
    impossible: bool = False
    """SQuAD 2.0: about the paragraph, and not answered by it."""


def read_corpus(path: Path) -> tuple[list[Paragraph], dict[str, int]]:
    """Paragraphs of a SQuAD file in order, and the paragraph number of each question id."""
    paragraphs: list[Paragraph] = []
    place: dict[str, int] = {}
    for article, entry in enumerate(read_data(path)):
        for paragraph in entry["paragraphs"]:
            for question in paragraph["qas"]:
                place[question["id"]] = len(paragraphs)
            paragraphs.append(Paragraph(article=article, text=paragraph["context"]))
    return paragraphs, place


def read_questions(
    path: Path, paragraphs: Sequence[Paragraph], place: dict[str, int]
) -> list[Question]:
    """Questions of a SQuAD file whose id the corpus file has too."""
    found = [
        Question(
            id=question["id"],
            text=question["question"],
            paragraph=place[question["id"]],
            article=paragraphs[place[question["id"]]].article,
            answers=tuple(answer["text"] for answer in question.get("answers", ())),
            impossible=bool(question.get("is_impossible", False)),
        )
        for entry in read_data(path)
        for paragraph in entry["paragraphs"]
        for question in paragraph["qas"]
        if question["id"] in place
    ]
    if not found:
        sys.exit(f"{path}: none of its question ids is in the corpus file")
    return found


def build_index(
    folder: Path,
    paragraphs: Sequence[Paragraph],
    settings: Settings,
    client: EmbeddingClient,
    keep: Callable[[Paragraph], bool] = lambda _: True,
) -> Index:
    """An index of the kept paragraphs, each a document without title, path `<number>.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    counter = TokenCounter(client)
    embedder = PassageEmbedder(client, settings.embeddings, counter)
    parsed = [
        ParsedDocument(
            document=Document(
                path=f"{number}.md",
                kind="doc",
                title="",
                url="",
                lang=settings.rag.default_language,
            ),
            metadata=Metadata(),
            sections=outline(paragraph.text, "", mdx=False).sections,
        )
        for number, paragraph in enumerate(paragraphs)
        if keep(paragraph)
    ]
    cuts = [cut_into_passages(item, settings, counter) for item in parsed]
    flat = [passage for cut in cuts for passage in cut.passages]
    vectors, _ = vectors_of(flat, {}, embedder, SilentProgress())
    meta = IndexMeta(
        schema_version=SCHEMA_VERSION,
        chunker_version=CHUNKER_VERSION,
        embedding=embedder.identity(),
        documents=len(parsed),
        chunks=len(flat),
        vectors=len(flat),
        source_hash="benchmark",
        built_at="1970-01-01T00:00:00Z",
    )
    publish(
        folder,
        meta,
        [batch(item, cut, vectors) for item, cut in zip(parsed, cuts, strict=True)],
    )
    return open_index(folder)


def paragraph_of(index: Index, row: int) -> int:
    """Paragraph number of an index row."""
    return int(index.passage(int(index.chunk_ids[row])).document.slug)


def read_data(path: Path) -> list[dict[str, Any]]:
    """Its articles; ends the program where it is not such a file."""
    try:
        data: list[dict[str, Any]] = msgspec.json.decode(path.read_bytes())["data"]
        return data
    except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
        sys.exit(f"{path} is not a SQuAD-format file: {error}")
