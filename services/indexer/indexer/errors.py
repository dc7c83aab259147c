"""Everything that stops a run, and the exit code each cause has.

    IndexerError               exit code   code
    ├── ContentFoldersMissing      2       content-folders-missing
    ├── NothingFound               4       nothing-found
    └── Interrupted            130 / 143   interrupted

Faults of the index and the embedding server come from corpus.errors; `exit_code` maps those too. A
fault of one document never stops a run: it is a `Problem` in the report (exit code 4 at the end).
"""

from __future__ import annotations

import sqlite3

from corpus.errors import CorpusError, EmbedderUnavailable, EmbeddingError, IndexBusy, SettingsError

DONE = 0
BAD_CONFIGURATION = 2
CONTENT_ERROR = 4
EMBEDDER_UNREACHABLE = 5
UNUSABLE_VECTORS = 6
BUSY = 7
STORAGE_ERROR = 8


class IndexerError(Exception):
    """Base of this tree; its text is one line, fit to show to the owner."""

    code = "indexer-error"
    exit_code = CONTENT_ERROR


class ContentFoldersMissing(IndexerError):
    """None of the configured content folders exists; the text names the keys."""

    code = "content-folders-missing"
    exit_code = BAD_CONFIGURATION


class NothingFound(IndexerError):
    """No document to publish; an index in service is kept unless the owner insists."""

    code = "nothing-found"
    exit_code = CONTENT_ERROR


class Interrupted(IndexerError):
    """The run was told to stop by a signal; the index in service is untouched."""

    code = "interrupted"

    def __init__(self, signal_number: int) -> None:
        super().__init__("stopped by a signal; the index in service is unchanged")
        self.exit_code = 128 + signal_number


def exit_code(error: BaseException) -> int:
    """Exit code of the command for an error that ended a run."""
    if isinstance(error, IndexerError):
        return error.exit_code
    if isinstance(error, SettingsError):
        return BAD_CONFIGURATION
    if isinstance(error, IndexBusy):
        return BUSY
    if isinstance(error, EmbedderUnavailable):
        return EMBEDDER_UNREACHABLE
    if isinstance(error, EmbeddingError):
        return UNUSABLE_VECTORS
    if isinstance(error, CorpusError | OSError | sqlite3.Error):
        return STORAGE_ERROR
    raise error
