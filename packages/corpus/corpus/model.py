"""What an index holds, as plain frozen records shared by indexer and bot."""

from __future__ import annotations

from typing import Literal

import msgspec

from corpus.section_kinds import SectionKind
from corpus.spans import Span

Kind = Literal["project", "doc", "post"]
Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")
KINDS: tuple[Kind, ...] = ("project", "doc", "post")


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One published source file, or a summary generated from all of them."""

    path: str
    """Path below its content folder's parent with forward slashes, `projects/rony-tui.md`; unique."""
    kind: Kind
    title: str
    url: str
    """Absolute or site-relative address a visitor can open; empty for generated documents."""
    lang: Language
    description: str = ""
    tags: tuple[str, ...] = ()
    """What the source is labelled with: its tags, and the stack of a project."""
    date: str | None = None
    """ISO date `YYYY-MM-DD`, or None where the source gives none."""
    translation: str | None = None
    """Slug of the same text in the other language, as the source's frontmatter names it."""
    generated: bool = False
    """True for summaries: retrievable, but never listed in the catalogue."""

    @property
    def slug(self) -> str:
        """File name without folder and extension: `rony-tui`."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def name(self) -> str:
        """File name with extension, as the `documents` field of the `sources` event shows it."""
        return self.path.rsplit("/", 1)[-1]


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of one document: what is found, quoted and put before the model."""

    heading: str
    """Heading path below the title, `Experience — Metrimex — Frontend Developer`; may be empty."""
    anchor: str
    """Fragment of the nearest heading as GitHub's slugger writes it; empty at the top."""
    text: str
    ordinal: int
    """Place within its document, from 0."""
    page: int = 0
    """Number of its page within its document, from 0."""
    section: SectionKind | None = None
    """What its headings announce: experience, education, …; None for anything else."""
    spans: tuple[Span, ...] = ()
    """Ranges of dates in its own heading and its text, in order."""


class EmbeddingIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What made the vectors. Two identities that differ can't be compared by cosine."""

    model: str
    dimension: int
    query_prefix: str
    passage_prefix: str
    pooling: str = "mean"
    sha256: str | None = None
    """Hash of the model file where the caller knows it."""
    probe: tuple[float, ...] = ()
    """The model's vector of `PROBE_TEXT`: tells two models apart even under one name."""


HEADING_JOINT = " — "
"""Between the names of a heading path."""

PROBE_TEXT = "passage: portfolio-bot — una frase fija / one fixed sentence — 2026"


class IndexMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What made the index; read before anything else in it is trusted."""

    schema_version: int
    chunker_version: int
    embedding: EmbeddingIdentity | None
    """None when the embedding server was down at build time: keyword search only."""
    documents: int
    chunks: int
    vectors: int
    pages: int = 0
    tokenizer: str | None = None
    """Name of the chat model whose tokenizer counted the pages; None when they were estimated."""
    source_hash: str
    """Hash over paths and bytes of every source file and the settings that shape chunks."""
    built_at: str
    """UTC, ISO 8601, seconds."""


def embedded_text(title: str, heading: str, text: str) -> str:
    """The exact text that gets a vector (without the model's prefix): breadcrumb, then passage."""
    crumb = breadcrumb(title, heading)
    return f"{crumb}\n{text}" if crumb else text


def breadcrumb(*parts: str) -> str:
    """Names from the page down to the section, as one line; empty parts are left out."""
    return HEADING_JOINT.join(part for part in parts if part)
