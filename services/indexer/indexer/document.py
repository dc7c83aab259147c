"""One source file to one document: readable text, language, address, and whether it may be shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote, urlsplit

import msgspec

from corpus.language import detect_language
from corpus.model import Document, Kind, Language
from corpus.settings import RagSettings
from indexer.decode import BinaryContent, decode_source
from indexer.discover import SourceFile
from indexer.frontmatter import FrontmatterBroken, split_frontmatter
from indexer.metadata import Metadata, read_metadata
from indexer.report import Findings
from indexer.sections import Section, outline

LANGUAGE_SUFFIX = re.compile(r"\.(es|en)(?:[-_][A-Za-z]{2})?$", re.IGNORECASE)
FILE_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})-(?=.)")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file that will be published: its frontmatter is read, its body not yet parsed."""

    kind: Kind
    path: str
    sha256: str
    metadata: Metadata
    body: str

    @property
    def is_mdx(self) -> bool:
        """True for `.mdx` files."""
        return self.path.lower().endswith(".mdx")


class ParsedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document with its sections, ready to be cut into passages."""

    document: Document
    metadata: Metadata
    sections: tuple[Section, ...]


def read_entries(sources: Sequence[SourceFile], now: datetime, findings: Findings) -> list[Entry]:
    """The files that may be shown; the others are counted and, where needed, told in `findings`."""
    entries = []
    for source in sources:
        try:
            decoded = decode_source(source.data)
            split = split_frontmatter(decoded.text)
        except BinaryContent as reason:
            findings.skip(source.path, "binary", str(reason))
            continue
        except FrontmatterBroken as error:
            findings.fail(f"{source.path}:{error.line}", "broken", str(error))
            continue
        metadata = read_metadata(split.fields, now)
        if metadata.hidden:
            findings.skip_silently(metadata.hidden)
            continue
        if not split.body.strip() and not metadata.title:
            findings.skip(source.path, "empty", "holds neither text nor a title")
            continue
        for warning in (decoded.warning, *metadata.warnings):
            if warning:
                findings.warn(source.path, warning)
        sha256 = hashlib.sha256(source.data).hexdigest()
        entries.append(
            Entry(
                kind=source.kind,
                path=source.path,
                sha256=sha256,
                metadata=metadata,
                body=split.body,
            )
        )
    return entries


def parse_entry(entry: Entry, rag: RagSettings, findings: Findings) -> ParsedDocument:
    """Parse the body and settle everything the frontmatter leaves open."""
    metadata = entry.metadata
    parsed = outline(entry.body, metadata.title, mdx=entry.is_mdx)
    lang = metadata.lang or _language_of_path(entry.path) or detect_language(entry.body)
    lang = lang or rag.default_language
    file_date = FILE_DATE.match(_stem(entry.path))
    document = Document(
        path=entry.path,
        kind=entry.kind,
        title=parsed.title or _readable(_slug(entry.path)),
        url=_url(entry, lang, rag, findings),
        lang=lang,
        description=metadata.description,
        tags=tuple(dict.fromkeys((*metadata.tags, *metadata.stack))),
        date=metadata.date or (file_date[1] if file_date else None),
        translation=metadata.translation,
    )
    return ParsedDocument(document=document, metadata=metadata, sections=parsed.sections)


def warn_of_shared_urls(documents: Sequence[Document], findings: Findings) -> None:
    """Two documents at one address: a visitor can open only one of them."""
    first: dict[str, str] = {}
    for document in documents:
        if document.url and first.setdefault(document.url, document.path) != document.path:
            findings.warn(
                document.path,
                f"has the address of {first[document.url]} ({document.url}): set `url` in one",
            )


def _url(entry: Entry, lang: Language, rag: RagSettings, findings: Findings) -> str:
    site = rag.site_url.rstrip("/")
    own = entry.metadata.url
    if own:
        parts = urlsplit(own)
        if parts.scheme in ("http", "https") and parts.netloc:
            return own
        if not parts.scheme and not parts.netloc:
            return f"{site}/{own.lstrip('/')}"
        findings.warn(entry.path, f"url `{own}` is neither http(s) nor a path: not used")
    templates = {"project": rag.project_url, "doc": rag.doc_url, "post": rag.post_url}
    slug = quote(entry.metadata.slug or _slug(entry.path), safe="/-._~")
    path = templates[entry.kind].replace("{slug}", slug).replace("{lang}", lang)
    return path if urlsplit(path).scheme else f"{site}/{path.lstrip('/')}"


def _stem(path: str) -> str:
    return LANGUAGE_SUFFIX.sub("", path.rsplit("/", 1)[-1].rsplit(".", 1)[0])


def _slug(path: str) -> str:
    """File name without extension and language; `index` stands for its folder, at the top for it all."""
    stem = _stem(path)
    if stem.casefold() not in ("index", "_index"):
        return stem
    folders = path.split("/")[1:-1]
    return folders[-1] if folders else ""


def _readable(slug: str) -> str:
    words = re.sub(r"[-_\s]+", " ", FILE_DATE.sub("", slug)).strip()
    return words[:1].upper() + words[1:] if words else "Index"


def _language_of_path(path: str) -> Language | None:
    suffix = LANGUAGE_SUFFIX.search(path.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    if suffix:
        return "es" if suffix[1].casefold() == "es" else "en"
    for folder in reversed(path.split("/")[1:-1]):
        if re.split(r"[-_]", folder.casefold())[0] == "es" and len(folder) in (2, 5):
            return "es"
        if re.split(r"[-_]", folder.casefold())[0] == "en" and len(folder) in (2, 5):
            return "en"
    return None
