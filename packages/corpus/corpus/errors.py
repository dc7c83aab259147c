"""Everything that can go wrong with an index, its settings or the embedding server.

    CorpusError
    ├── SettingsError          a configuration value is wrong (shown to the owner, stops the start)
    ├── IndexMissing           no index has been published in that folder yet
    ├── IndexDamaged           the published file is truncated, altered or not ours
    ├── IndexOutdated          the index has another schema version: rebuild it
    ├── IndexBusy              another indexer holds the lock
    └── EmbeddingError
        ├── EmbedderUnavailable    no usable answer from the embedding server (down, loading, slow)
        ├── EmbeddingInputTooLong  the server refused an input as too large: split it
        └── EmbeddingRejected      the server answered, but with vectors nobody may use

`code` is the stable name used in logs, problem documents and docs/operations; the message is one
line that names the thing and the cure.
"""

from __future__ import annotations


class CorpusError(Exception):
    """Base of this tree; its text is one line, fit to show to the owner."""

    code = "corpus-error"


class SettingsError(CorpusError):
    """A configuration value is not allowed; the text holds key path, value and what is allowed."""

    code = "bad-configuration"


class IndexMissing(CorpusError):
    """No index is published in the folder: run `chat-bot reindex`."""

    code = "index-missing"


class IndexDamaged(CorpusError):
    """The published index fails its own checks; it is not opened."""

    code = "index-damaged"


class IndexOutdated(CorpusError):
    """The index was written with another schema version; it has to be built again."""

    code = "index-outdated"


class IndexBusy(CorpusError):
    """Another indexer is at work in the same folder."""

    code = "index-busy"


class EmbeddingError(CorpusError):
    """Base of what can go wrong between us and the embedding server."""

    code = "embedding-error"


class EmbedderUnavailable(EmbeddingError):
    """The embedding server can't be reached, is loading, timed out or answered an error."""

    code = "embedder-unavailable"
    status: int | None = None
    """HTTP status where the server answered; None where it could not be reached."""


class EmbeddingInputTooLong(EmbeddingError):
    """An input exceeds the server's window; the caller splits it and tries again."""

    code = "embedding-input-too-long"


class EmbeddingRejected(EmbeddingError):
    """The vectors are unusable: not finite, zero, of the wrong dimension or number."""

    code = "embedding-rejected"
