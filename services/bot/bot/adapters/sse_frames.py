"""Server-sent events out of bytes, without any I/O.

Lines end at CR LF, LF or CR and nowhere else. `str.splitlines()` and `httpx.aiter_lines()` also
break at U+2028, U+0085, `\\x0b` and `\\x0c`, which JSON may hold raw: a token is then lost or the
stream dies (florimondmanca/httpx-sse#34, langgenius/dify#39008).
"""

from __future__ import annotations

import re

MAX_EVENT_BYTES = 1 << 20  # a chunk of llama-server has some 300 bytes; more than this is no stream
LINE_END = re.compile(rb"\r\n|\n|\r")


class FrameTooLong(ValueError):
    """A line or event exceeds the limit: whatever answers, it is not an event stream."""


class FrameDecoder:
    """Feed bytes as they come; get the data of each event as soon as it is complete."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._partial = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._after_cr = False

    def feed(self, received: bytes) -> list[str]:
        """Data of the events that `received` completes; an event without data is none.

        Bytes that are not UTF-8 become U+FFFD, once the whole line is there: a character split
        over two reads stays whole.

        Raises:
            FrameTooLong: a line or the data of one event is longer than allowed.
        """
        if not received:
            return []
        if self._after_cr and received.startswith(b"\n"):
            received = received[1:]  # second half of a CR LF whose CR came with the last read
            self._after_cr = False
            if not received:
                return []
        self._after_cr = received.endswith(b"\r")
        events: list[str] = []
        first, *others = LINE_END.split(received)
        self._partial += first
        for following in others:
            event = self._line(bytes(self._partial))
            if event is not None:
                events.append(event)
            self._partial = bytearray(following)
        if len(self._partial) > self._max:
            raise FrameTooLong(f"a line of more than {self._max} bytes")
        return events

    def _line(self, line: bytes) -> str | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        if name == b"data":  # comments have an empty name; event, id and retry are not used
            value = value.removeprefix(b" ")
            self._data_bytes += len(value)
            if self._data_bytes > self._max:
                raise FrameTooLong(f"an event of more than {self._max} bytes")
            self._data.append(value)
        return None

    def _dispatch(self) -> str | None:
        if not self._data:
            return None
        data = b"\n".join(self._data)
        self._data, self._data_bytes = [], 0
        return data.decode("utf-8", "replace")
