"""Take the prompt's last line out of an answer: small models now and then repeat it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.opening import begun


class Echo:
    """Feed pieces of the model's text, get what may go on; chunks change nothing.

    Held back is only a tail of the text that begins one of the lines.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines`: what is dropped wherever it stands, as it is written in the prompt."""
        self._lines = tuple(dict.fromkeys(filter(None, lines)))
        self._held = ""

    def feed(self, text: str) -> str:
        """Text that may go on."""
        self._held += text
        for line in self._lines:
            self._held = self._held.replace(line, "")
        waiting = max((begun(self._held, line) for line in self._lines), default=0)
        return self._release(len(self._held) - waiting)

    def close(self) -> str:
        """What was held when the answer ended in the middle of a line."""
        return self._release(len(self._held))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        return ready
