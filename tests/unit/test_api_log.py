"""Logs: one JSON object a line, nothing a visitor wrote, no text of foreign exceptions."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from bot.log import JsonFormatter, TextFormatter, configure_logging
from corpus.errors import IndexDamaged

CONTROLS = "a\nb\r\x1b[31mred\x07\u2028c\u2029\x85d\u202e"


def record(message: str, error: Exception | None = None, **fields: object) -> logging.LogRecord:
    found = logging.LogRecord("bot.api", logging.INFO, "x.py", 1, message, None, None)
    if error is not None:
        try:
            raise error
        except Exception:
            found.exc_info = sys.exc_info()
    found.__dict__.update(fields)
    return found


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_control_characters_never_break_a_line(formatter: logging.Formatter) -> None:
    """X15: one record, one line, for the terminal and for the log reader."""
    line = formatter.format(record(CONTROLS))
    assert len(line.splitlines()) == 1
    assert not any(character in line for character in "\x1b\x07\u2028\u202e\x85")


def test_json_line_has_the_documented_fields() -> None:
    line = json.loads(
        JsonFormatter().format(
            record(
                "request", request_id="ab", route="/api/chat", status=200, duration_ms=1.5, code="x"
            )
        )
    )
    assert list(line) == [
        "time", "level", "logger", "message", "request_id", "route", "status", "duration_ms", "code",
    ]  # fmt: skip
    assert line["time"].endswith("+00:00")


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_exceptions_are_logged_by_class_and_place_without_their_text(
    formatter: logging.Formatter,
) -> None:
    """P1: the text of a foreign exception may hold the question."""
    line = formatter.format(record("failed", ValueError("canary-7f3a")))
    assert "ValueError at " in line
    assert "test_api_log.py:" in line
    assert "canary" not in line


def test_our_own_errors_keep_the_text_written_for_the_owner() -> None:
    line = JsonFormatter().format(record("failed", IndexDamaged("run `chat-bot reindex`")))
    assert "run `chat-bot reindex`" in line


def test_configuring_twice_leaves_one_handler_and_quiet_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    try:
        configure_logging("json")
        configure_logging("text")
        assert len(root.handlers) == 1
        assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)
    finally:
        root.setLevel(level)
        for name in ("httpx", "httpcore", "uvicorn", "asyncio"):
            logging.getLogger(name).setLevel(logging.NOTSET)
