"""Take the model's NO_ANSWER out of the text: at the start it means that the model declined.

There small models spell it as they like: `No_ANSWER` where the question is Spanish, «No answer» in English.
"""

from __future__ import annotations

from bot.chat.prompt import NO_ANSWER

OPENING_MARKS = " \n\"'`*([«“‘"  # what a model may put around NO_ANSWER


class Opening:
    """Feed pieces of the model's text, get what may go on.

    Held back are the first characters while they may still become the word, and later any tail that
    begins it; after the word nothing more is shown.
    """

    def __init__(self, *, active: bool) -> None:
        self._held = ""
        self._active = active
        self._shown = False
        self._over = False
        self.declined = False

    def feed(self, text: str) -> str:
        """Text that may go on."""
        if not self._active:
            return text
        if self._over:
            return ""
        self._held += text
        if not self._shown:
            said = self._held.lstrip(OPENING_MARKS)
            spelt = said[: len(NO_ANSWER)].upper().replace(" ", "_")
            if spelt == NO_ANSWER:
                self._over = self.declined = True
                return self._release(0)
            if NO_ANSWER.startswith(spelt):
                return ""
        at = self._held.find(NO_ANSWER)
        if at >= 0:
            self._over = True
            return self._release(at)
        return self._release(len(self._held) - begun(self._held, NO_ANSWER))

    def close(self) -> str:
        """What was still held when the stream ended: a very short answer."""
        return "" if self._over else self._release(len(self._held))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        self._shown = self._shown or bool(ready)
        return ready


def begun(text: str, word: str) -> int:
    """Length of the longest tail of `text` that begins `word` and is not all of it."""
    longest = min(len(word) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(word[:n])), 0)
