"""Keep a model's private reasoning out of what visitors see, however the stream cuts it."""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkFilter:
    """Drops `<think>…</think>`, split over pieces or never closed; a lone closing tag goes too.

    It holds back only what may become a tag, at most seven characters, so that text still streams.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    def feed(self, piece: str) -> str:
        """What may be shown now that `piece` has arrived."""
        text, self._held = self._held + piece, ""
        shown: list[str] = []
        while text:
            tags = (CLOSE,) if self._thinking else (OPEN, CLOSE)
            found = min(((at, tag) for tag in tags if (at := text.find(tag)) >= 0), default=None)
            if found is None:
                keep = _possible_start(text, tags)
                self._held = text[len(text) - keep :]
                outside, text = text[: len(text) - keep], ""
            else:
                at, tag = found
                outside, text = text[:at], text[at + len(tag) :]
            if not self._thinking:
                shown.append(outside)
            if found is not None:
                self._thinking = found[1] == OPEN
        return "".join(shown)

    def end(self) -> str:
        """What was held back and turned out to be text; nothing of an unclosed thought."""
        held, self._held = self._held, ""
        return "" if self._thinking else held


def _possible_start(text: str, tags: tuple[str, ...]) -> int:
    """Length of the longest end of `text` with which one of `tags` begins."""
    longest = max(map(len, tags)) - 1
    return next(
        (
            length
            for length in range(min(longest, len(text)), 0, -1)
            if any(tag.startswith(text[-length:]) for tag in tags)
        ),
        0,
    )
