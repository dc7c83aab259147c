"""What `chat-bot ask` shows of an answer's events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.cli.options import CommandFailed
from bot.cli.printer import AnswerPrinter
from bot.cli.remote import read_events

PASSAGE = {"n": 1, "title": "Clothes shop", "section": "Payments", "url": "/p/shop#pay", "lang": "en",
           "kind": "project", "quote": "Stripe"}  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    {"type": "start", "conversation_id": "c" * 22},
    {"type": "queued", "position": 1, "eta_seconds": 12.0},
    {"type": "sources", "documents": ["clothes-shop.md"], "passages": [PASSAGE]},
    {"type": "progress", "processed": 1, "total": 2},
    {"type": "chunk", "content": "Con Stripe "},
    {"type": "chunk", "content": "[1]."},
    {"type": "done", "usage": {"input_tokens": 9, "output_tokens": 2}, "finish_reason": "stop",
     "route": "answer", "timings": {}},
]  # fmt: skip


def show(events: list[dict[str, Any]], question: str = "How?", *, as_json: bool = False) -> None:
    printer = AnswerPrinter(question, as_json=as_json)
    for event in events:
        printer.take(event)
    printer.finish()


@pytest.mark.parametrize(
    ("question", "head"), [("How do they pay?", "Sources:"), ("¿Cómo se paga?", "Fuentes:")]
)
def test_text_then_numbered_sources(
    capsys: pytest.CaptureFixture[str], question: str, head: str
) -> None:
    show(EVENTS, question)
    assert capsys.readouterr().out == (
        f"Con Stripe [1].\n\n{head}\n  [1] Clothes shop — Payments  /p/shop#pay\n"
    )


def test_json_is_the_body_of_a_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    show(EVENTS, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "content": "Con Stripe [1].",
        "sources": ["clothes-shop.md"],
        "passages": [PASSAGE],
        "usage": {"input_tokens": 9, "output_tokens": 2},
        "conversation_id": "c" * 22,
    }


def test_control_sequences_never_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """X15: an indexed page may hold them, split over chunks or in a title."""
    evil = [
        EVENTS[0],
        {**EVENTS[2], "passages": [{**PASSAGE, "title": "a\x1b]0;x\x07", "url": "\x1b[2J/x"}]},
        {"type": "chunk", "content": "\x1b"},
        {"type": "chunk", "content": "[31mred\u202e\x07\n"},
        EVENTS[-1],
    ]
    show(evil)
    shown = capsys.readouterr().out
    assert "\n" in shown
    assert not any(character in shown for character in "\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("model-unavailable", 5), ("model-timeout", 5), ("busy", 5), ("restarting", 5), ("not-a-bot", 5),
     ("rate-limited", 1), ("question-too-long", 1)],
)  # fmt: skip
def test_error_events_end_with_their_exit_code(code: str, exit_code: int) -> None:
    event = {"type": "error", "code": code, "message": "Lo siento.", "retryable": True}
    with pytest.raises(CommandFailed, match="Lo siento") as caught:
        show([EVENTS[0], event])
    assert caught.value.exit_code == exit_code


def test_a_stream_without_its_last_event_has_failed() -> None:
    """SSE-04."""
    with pytest.raises(CommandFailed, match="broke off") as caught:
        show(EVENTS[:-1])
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_events_are_framed_on_bytes(size: int) -> None:
    """SSE-01: split anywhere, with U+2028 and half characters inside."""
    sent = [{"type": "chunk", "content": "a\u2028b\u0085c ñ😀\n\n"}, {"type": "done"}]
    wire = b": keep-alive\n\n" + b"".join(
        b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n" for event in sent
    )
    pieces = [wire[start : start + size] for start in range(0, len(wire), size)]
    assert list(read_events(pieces)) == sent
