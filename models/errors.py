"""What can go wrong while models are fetched.

::

    ModelsError
    ├── ManifestError        manifest or arguments are wrong            exit 2
    ├── MismatchError        bytes are not the ones that were promised  exit 4
    ├── SourceError          one source can't be used: try the next     exit 5 when it was the last
    │   └── NoSourceError    none of a model's sources could be used    exit 5
    └── DiskError            not enough room                            exit 6

Every message is one line that names the thing and the cure. ``code`` is the kebab-case name that
``--json`` prints; 1 and 3 stay free (an uncaught exception, and uvicorn's startup failure).
"""

from __future__ import annotations

from typing import ClassVar


class ModelsError(Exception):
    """Root of everything this package raises on purpose."""

    code: ClassVar[str] = "models-error"
    exit_code: ClassVar[int] = 1


class ManifestError(ModelsError):
    """The manifest or an argument is wrong; the reader of the command line fixes it."""

    code = "bad-manifest"
    exit_code = 2


class MismatchError(ModelsError):
    """Size or sha256 differs from the promised one: refused, never installed."""

    code = "mismatch-refused"
    exit_code = 4


class SourceError(ModelsError):
    """A source can't be reached or can't serve the file; the next one may."""

    code = "source-unusable"
    exit_code = 5


class NoSourceError(SourceError):
    """Every source of a model failed."""

    code = "no-source"
    exit_code = 5


class DiskError(ModelsError):
    """The disk has no room for the file and what is needed to make it."""

    code = "disk-too-small"
    exit_code = 6
