"""Find the source files: three folders, one kind each, in a fixed order, without leaving them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from corpus.model import Kind
from corpus.settings import RagSettings
from corpus.text import clean
from indexer.errors import ContentFoldersMissing
from indexer.report import Findings

EXTENSIONS = (".md", ".mdx")
PREFIXES: dict[Kind, str] = {"project": "projects", "doc": "docs", "post": "posts"}
IGNORED_FOLDERS = frozenset({"node_modules", "_drafts"})
# The longest novel in Markdown is below 4 MiB; what is larger is a data dump with a wrong name.
MAX_SOURCE_BYTES = 4 << 20


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it lies on the disk."""

    kind: Kind
    path: str
    """`projects/rony-tui.md`: prefix of its kind, then the path below its folder, with `/`."""
    data: bytes


def discover(rag: RagSettings, findings: Findings) -> list[SourceFile]:
    """Every source file of the three content folders, sorted by kind and path.

    Raises:
        ContentFoldersMissing: none of the folders exists.
    """
    folders = _content_folders(rag, findings)
    taken: dict[Path, str] = {}
    sources: dict[str, SourceFile] = {}
    for kind, folder in folders.items():
        others = {other for other in folders.values() if other != folder}
        for relative in sorted(_walk(folder, PREFIXES[kind], others, findings)):
            path = clean(f"{PREFIXES[kind]}/{relative.as_posix()}")
            source = _read(kind, folder, relative, path, taken, findings)
            if source is None:
                continue
            if path in sources:
                findings.skip(path, "duplicate", "two files have this name but for hidden signs")
            else:
                sources[path] = source
    return list(sources.values())


def _content_folders(rag: RagSettings, findings: Findings) -> dict[Kind, Path]:
    configured: dict[Kind, tuple[str, str]] = {
        "project": ("rag.data_path", rag.data_path),
        "doc": ("rag.docs_path", rag.docs_path),
        "post": ("rag.posts_path", rag.posts_path),
    }
    found: dict[Kind, Path] = {}
    for kind, (key, value) in configured.items():
        if Path(value).is_dir():
            found[kind] = Path(value).resolve()
        else:
            findings.warn(key, f"there is no folder {value}: nothing is read from it")
    if not found:
        values = ", ".join(f"{key} = {value}" for key, value in configured.values())
        raise ContentFoldersMissing(f"none of the content folders exists: {values}")
    return found


def _walk(folder: Path, prefix: str, others: set[Path], findings: Findings) -> Iterator[Path]:
    """Candidate files below `folder`, relative to it. Links to folders are never followed."""

    def unreadable(error: OSError) -> None:
        name = Path(error.filename).name if error.filename else prefix
        findings.fail(f"{prefix}/…/{name}", "unreadable", f"can't be listed: {error.strerror}")

    for parent, folders, files in os.walk(folder, onerror=unreadable, followlinks=False):
        for name in sorted(folders):
            path = Path(parent, name)
            if path.is_symlink() and not _is_ignored(name):
                where = f"{prefix}/{path.relative_to(folder).as_posix()}"
                findings.skip(clean(where), "link", "links to folders are not followed")
        folders[:] = [
            name
            for name in folders
            if not _is_ignored(name) and Path(parent, name).resolve() not in others
        ]
        for name in files:
            if _is_ignored(name) or not name.lower().endswith(EXTENSIONS):
                continue
            if name.lower().startswith("readme"):
                findings.skip_silently("readme")
            else:
                yield Path(parent, name).relative_to(folder)


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name in IGNORED_FOLDERS


def _read(
    kind: Kind,
    folder: Path,
    relative: Path,
    path: str,
    taken: dict[Path, str],
    findings: Findings,
) -> SourceFile | None:
    file = folder / relative
    try:
        real = file.resolve(strict=True)
        status = real.stat()
        if not real.is_relative_to(folder):
            findings.skip(path, "link", "the link leads out of its content folder")
        elif not stat.S_ISREG(status.st_mode):
            findings.skip(path, "special", "not a regular file")  # a FIFO would block for ever
        elif status.st_size > MAX_SOURCE_BYTES:
            findings.skip(path, "too-large", f"larger than {MAX_SOURCE_BYTES >> 20} MiB")
        elif real in taken:
            findings.skip(path, "duplicate", f"the same file as {taken[real]}")
        else:
            taken[real] = path
            return SourceFile(kind=kind, path=path, data=real.read_bytes())
    except OSError as error:
        reason = error.strerror or "too many links"
        findings.fail(path, "unreadable", f"can't be read ({reason}): check owner and mode")
    except RuntimeError:  # Path.resolve before Python 3.13: a link that leads to itself
        findings.skip(path, "link", "the link leads to itself")
    return None
