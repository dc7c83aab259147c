"""Fifteen lines of SSE for tests: frames on bytes, JSON in `data:`, comments kept apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

COMMENT = {"type": ":comment"}


def read_sse(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Events in order; a comment block appears as COMMENT; anything else fails the test."""
    pending = b""
    for piece in pieces:
        pending += piece
        *blocks, pending = pending.split(b"\n\n")
        for block in blocks:
            assert b"\n" not in block, f"one line an event, got {block!r}"
            assert b"\r" not in block
            if block.startswith(b":"):
                yield COMMENT
            else:
                assert block.startswith(b"data: {"), block
                yield json.loads(block[6:])
    assert pending == b"", f"cut inside an event: {pending!r}"


def without_comments(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events only."""
    return [event for event in events if event is not COMMENT]
