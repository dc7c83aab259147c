"""Why there is no llama-server: one line each, with the cure.

::

    LlamaServerError      exit 1
    ├── MissingTool       a compiler, make or pip is not there           exit 2
    ├── BuildFailed       source, cmake or compiler did not do it        exit 4
    ├── NoNetwork         the source or cmake could not be downloaded    exit 5
    └── NoRoom            the disk is too small for the build            exit 6
"""

from __future__ import annotations

from typing import ClassVar


class LlamaServerError(Exception):
    """Root: no usable llama-server could be found or built."""

    exit_code: ClassVar[int] = 1


class MissingTool(LlamaServerError):
    """Something that the build needs is not installed."""

    exit_code = 2


class BuildFailed(LlamaServerError):
    """The download was not the expected one, or the build stopped."""

    exit_code = 4


class NoNetwork(LlamaServerError):
    """Nothing could be downloaded."""

    exit_code = 5


class NoRoom(LlamaServerError):
    """Not enough free space."""

    exit_code = 6
