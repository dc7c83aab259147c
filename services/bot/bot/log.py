"""Logs: one line a record on stderr, JSON or text, without anything a visitor wrote.

Exceptions are logged by class and place, not by text: the text of a foreign exception may hold the
question, an answer or a key. Only our own errors with texts written for the owner keep them.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from corpus.errors import CorpusError

# What a record may carry beside its message; anything else in `extra` is dropped.
FIELDS = (
    "request_id", "route", "status", "duration_ms", "code",
    "ms", "probability", "answerable", "dense",
)  # fmt: skip
current_request: ContextVar[str | None] = ContextVar("current_request", default=None)
"""Id of the request being answered; tasks it starts inherit it, so their records carry it too."""
LogFormat = Literal["json", "text"]
# Line ends and controls of any kind, U+0085, U+2028 and U+2029 among them: one record, one line.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# httpx logs every upstream address at INFO, uvicorn repeats what we say ourselves.
QUIET = ("httpx", "httpcore", "uvicorn", "asyncio")


def configure_logging(log_format: LogFormat = "json", level: int = logging.INFO) -> None:
    """Send everything to stderr in one format; replaces what was configured before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The record as the keys both formats show, in order."""
    found: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
    }
    for name in FIELDS:
        value = getattr(record, name, current_request.get() if name == "request_id" else None)
        if value is not None:
            found[name] = value
    if record.exc_info and record.exc_info[1] is not None:
        found["error"] = describe(record.exc_info[1])
    return found


def describe(error: BaseException) -> str:
    """`ValueError at bot/chat/service.py:120 < …`: class and innermost places, never the text."""
    places = [
        f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno}"
        for frame in reversed(traceback.extract_tb(error.__traceback__))
    ]
    text = f": {error}" if isinstance(error, CorpusError) else ""
    return f"{type(error).__name__}{text} at {' < '.join(places[:6]) or 'unknown place'}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line, ASCII only, so that no terminal or parser is surprised."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        return json.dumps(fields_of(record), ensure_ascii=True, default=str)


class TextFormatter(logging.Formatter):
    """For people: time, level, message, then `key=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        found = fields_of(record)
        line = f"{found.pop('time')[11:19]} {found.pop('level'):7} {found.pop('message')}"
        rest = "".join(f" {name}={value}" for name, value in found.items() if name != "logger")
        return UNPRINTABLE.sub(lambda match: f"\\x{ord(match[0]):02x}", line + rest)
