"""Framing of server-sent events on bytes, and the filter that keeps thoughts out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.adapters.llamacpp_wire import Answer
from bot.adapters.sse_frames import FrameDecoder, FrameTooLong
from bot.adapters.think_filter import ThinkFilter
from bot.chat.ports.model import ModelEvent, PromptProgress, TextDelta

RECORDED = Path(__file__).parent.parent / "data" / "llama_stream.http"


def recorded_events() -> bytes:
    """The events of a real answer of llama-server, without headers and transfer coding."""
    body = RECORDED.read_bytes().partition(b"\r\n\r\n")[2]
    events = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        events += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return events


def read_all(pieces: list[bytes]) -> list[ModelEvent]:
    decoder, answer = FrameDecoder(), Answer()
    events = [
        event for piece in pieces for data in decoder.feed(piece) for event in answer.read(data)
    ]
    return [*events, answer.end()]


def test_recorded_stream_split_at_every_byte_gives_identical_events() -> None:
    """F4: half a character and a cut `data:` change nothing."""
    stream = recorded_events()
    whole = read_all([stream])
    assert [e.text for e in whole if isinstance(e, TextDelta)] == ["¡", "Hola", "!", " 😊"]
    assert len([e for e in whole if isinstance(e, PromptProgress)]) == 5
    assert read_all([stream[i : i + 1] for i in range(len(stream))]) == whole
    for cut in range(0, len(stream), 7):
        assert read_all([stream[:cut], stream[cut:]]) == whole


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_only_newlines_end_a_line(separator: str) -> None:
    """SSE-01: `splitlines()` would break here and lose the token."""
    data = f'{{"a":"x{separator}y"}}'
    assert FrameDecoder().feed(f"data: {data}\n\n".encode()) == [data]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_each_line_ending_works_split_or_not(ending: str) -> None:
    stream = f": ping{ending}{ending}data: a{ending}data:b{ending}id: 1{ending}{ending}"
    stream += f"event: x{ending}{ending}data: c{ending}{ending}"
    assert FrameDecoder().feed(stream.encode()) == ["a\nb", "c"]
    decoder = FrameDecoder()
    assert [e for byte in stream.encode() for e in decoder.feed(bytes([byte]))] == ["a\nb", "c"]


def test_unfinished_event_is_not_given() -> None:
    """SSE-04: what the server did not finish is not shown as if it had."""
    assert FrameDecoder().feed(b"data: a\n") == []
    assert FrameDecoder().feed(b'data: {"half') == []


def test_bytes_that_are_no_text_are_replaced() -> None:
    """F4: half UTF-8 at the end of a line is no crash."""
    assert FrameDecoder().feed(b"data: a\xe2\x82\n\n") == ["a\ufffd"]


def test_endless_line_and_endless_event_are_refused() -> None:
    decoder = FrameDecoder(max_event_bytes=100)
    assert decoder.feed(b"x" * 100) == []
    with pytest.raises(FrameTooLong):
        decoder.feed(b"x")
    decoder = FrameDecoder(max_event_bytes=100)
    assert decoder.feed(b"data: 0123456789\n" * 10) == []
    with pytest.raises(FrameTooLong):
        decoder.feed(b"data: 0\n")


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    st.lists(st.integers(0, 400)),
)
def test_events_do_not_depend_on_how_the_network_cuts(texts: list[str], cuts: list[int]) -> None:
    stream = b"".join(f"data: {text}\r\n\r\n".encode() for text in texts)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    decoder = FrameDecoder()
    got = [event for start, end in pairwise(places) for event in decoder.feed(stream[start:end])]
    assert got == texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>a</think>b", "b"),
        ("x<think>a</think>y<think>c</think>z", "xyz"),
        ("<think>never closed", ""),
        ("a < b and <thin ice>", "a < b and <thin ice>"),
        ("lone</think>tag", "lonetag"),
        ("<think><think>a</think>b", "b"),
        ("ends with <thi", "ends with <thi"),
        ("ends with </thin", "ends with </thin"),
        ("", ""),
    ],
)
def test_thoughts_are_dropped_however_they_are_cut(text: str, shown: str) -> None:
    """LLM-05: tags whole, split over deltas, unclosed."""
    for size in range(1, len(text) + 2):
        kept = ThinkFilter()
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert "".join(map(kept.feed, pieces)) + kept.end() == shown, size
