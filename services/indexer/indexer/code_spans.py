"""Where code is in Markdown source, for the passes that must not touch it."""

from __future__ import annotations

import re

BACKTICKS = re.compile(r"`+")
FENCE = re.compile(
    r"(?P<indent>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<marker>`{3,}|~{3,})(?P<info>[^\n]*)"
)


def span_end(text: str, start: int) -> int | None:
    """Position after the inline code that opens with the backticks at `start`.

    None when no run of the same length closes it within the paragraph: then they are plain text.
    """
    run = BACKTICKS.match(text, start)
    if run is None:
        return None
    paragraph_end = text.find("\n\n", run.end())
    limit = paragraph_end if paragraph_end >= 0 else len(text)
    for closing in BACKTICKS.finditer(text, run.end(), limit):
        if closing.end() - closing.start() == run.end() - run.start():
            return closing.end()
    return None


def fence_end(text: str, line_start: int) -> int | None:
    """Position after the fenced block that opens on the line at `line_start`, or None.

    Only for MDX, where the parser can't be asked before the JSX around the fence is gone.
    """
    opening = FENCE.match(text, line_start)
    if opening is None or (opening["marker"][0] == "`" and "`" in opening["info"]):
        return None
    marker = opening["marker"]
    closing = re.compile(
        rf"^[ \t>]*{re.escape(marker)}{re.escape(marker[0])}*[ \t]*$", re.MULTILINE
    )
    match = closing.search(text, opening.end())
    return match.end() if match else len(text)
