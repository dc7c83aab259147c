"""What a run did: the one JSON line on stdout, and the problems told on stderr."""

from __future__ import annotations

from collections import Counter

import msgspec

from indexer.errors import CONTENT_ERROR, DONE, EMBEDDER_UNREACHABLE


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something the owner should know about one file or the run."""

    where: str
    """Document path, with `:line` where it is known; a configuration key; or `embedder`."""
    text: str
    """What is wrong and the cure, one line."""
    fatal: bool = False
    """True when the document could not be published; the run then ends with exit code 4."""

    def __str__(self) -> str:
        return f"{'error' if self.fatal else 'warning'}: {self.where}: {self.text}"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one run."""

    indexed_files: int
    total_chunks: int
    embedded: int
    """Passages sent to the embedding server."""
    reused: int
    """Passages whose vector an earlier index already held."""
    skipped: dict[str, int]
    """Files left out, by reason: readme, draft, binary, empty, broken, …"""
    keyword_only: bool
    """True when the index in service has no vectors."""
    changed: bool
    """False when the index in service was kept."""
    index: str
    """File name of the index in service."""
    duration_ms: int
    embedder_down: bool
    problems: tuple[Problem, ...]

    @property
    def exit_code(self) -> int:
        """0, or 5 when a keyword-only index had to be published, or 4 when documents are missing."""
        if self.keyword_only and self.embedder_down:
            return EMBEDDER_UNREACHABLE
        return CONTENT_ERROR if any(problem.fatal for problem in self.problems) else DONE

    def summary(self) -> bytes:
        """The JSON line, without line end."""
        return msgspec.json.encode(
            {
                "indexed_files": self.indexed_files,
                "total_chunks": self.total_chunks,
                "embedded": self.embedded,
                "reused": self.reused,
                "skipped": self.skipped,
                "warnings": sum(not problem.fatal for problem in self.problems),
                "errors": sum(problem.fatal for problem in self.problems),
                "keyword_only": self.keyword_only,
                "changed": self.changed,
                "index": self.index,
                "duration_ms": self.duration_ms,
            }
        )


class Findings:
    """Collects skipped files and problems while a run goes on."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.skipped: Counter[str] = Counter()

    def warn(self, where: str, text: str) -> None:
        """Something to know that keeps nothing out of the index."""
        self.problems.append(Problem(where=where, text=text))

    def skip(self, where: str, reason: str, text: str) -> None:
        """A file that is left out on purpose or by need, with a warning."""
        self.skipped[reason] += 1
        self.warn(where, f"{text}; skipped")

    def skip_silently(self, reason: str) -> None:
        """A file that is left out by a documented rule: counted, not told."""
        self.skipped[reason] += 1

    def fail(self, where: str, reason: str, text: str) -> None:
        """A document that should have been published and could not be."""
        self.skipped[reason] += 1
        self.problems.append(Problem(where=where, text=text, fatal=True))
