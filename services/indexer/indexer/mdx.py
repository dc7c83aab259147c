"""MDX to Markdown: imports, exports, JSX tags, comments and expressions go, their prose stays."""

from __future__ import annotations

import re

from indexer.code_spans import fence_end, span_end
from indexer.directives import template_end
from indexer.ecmascript import balanced_end, statement_end
from indexer.markup import INLINE_TAGS

TAG_START = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_$][\w.:$-]*|(?=>))")
AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
OPAQUE_ELEMENT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
ALTERNATIVE = re.compile(r"\balt\s*=\s*(?:\{\s*)?([\"'])(?P<text>.*?)\1", re.DOTALL)
LITERAL = re.compile(r"\{\s*(?:([\"'`])(?P<text>(?:(?!\1)[^\\$])*)\1|(?P<number>\d[\d.]*))\s*\}")
IMAGE_NAMES = frozenset({"img", "image", "picture", "figure"})


def strip_mdx(text: str) -> str:
    """Plain Markdown of an MDX body. Fenced and inline code is left as it is.

    Components are transparent, whatever their names: their children stay, the tags become spaces.
    """
    out: list[str] = []
    position, line_start, may_be_statement = 0, True, True
    while position < len(text):
        if line_start:
            line_start = False
            if (end := fence_end(text, position)) is not None:
                out.append(text[position:end])
                position = end
                continue
            if may_be_statement and (end := statement_end(text, position)) is not None:
                position = end + 1
                line_start = True
                continue
        char = text[position]
        if char == "\n":
            # ESM may begin only after a blank line or other ESM; `import` in prose stays prose.
            may_be_statement = text.startswith("\n\n", position) or not _current_line(out).strip()
            line_start = True
            out.append(char)
            position += 1
            continue
        end, replacement = _construct(text, position)
        out.append(replacement)
        position = end
    return "".join(out)


def _current_line(out: list[str]) -> str:
    for index in range(len(out) - 1, -1, -1):
        if "\n" in out[index]:
            return out[index].rsplit("\n", 1)[1] + "".join(out[index + 1 :])
    return "".join(out)


def _construct(text: str, position: int) -> tuple[int, str]:
    """End of what begins at `position`, and the text that takes its place."""
    char = text[position]
    if char == "\\":
        return position + 2, text[position : position + 2]
    if char == "`":
        end = span_end(text, position)
        if end is None:
            run = len(text[position:]) - len(text[position:].lstrip("`"))
            end = position + run
        return end, text[position:end]
    if char == "{":
        if template := template_end(text, position):
            return template, ""
        end = balanced_end(text, position)
        if end is None:
            return position + 1, char
        literal = LITERAL.fullmatch(text, position, end)
        return end, (literal["text"] or literal["number"] or "") if literal else ""
    if char == "<":
        return _tag(text, position)
    return position + 1, char


def _tag(text: str, position: int) -> tuple[int, str]:
    if link := AUTOLINK.match(text, position):
        return link.end(), link[0]
    for hidden in (COMMENT, OPAQUE_ELEMENT):
        if match := hidden.match(text, position):
            return match.end(), ""
    start = TAG_START.match(text, position)
    end = _tag_end(text, start.end()) if start else None
    if start is None or end is None:
        return position + 1, "<"
    name = start["name"].casefold()
    if name in IMAGE_NAMES and (alternative := ALTERNATIVE.search(text, start.end(), end)):
        return end, alternative["text"]
    if name == "br":
        return end, "\n"
    return end, "" if name in INLINE_TAGS else " "


def _tag_end(text: str, position: int) -> int | None:
    """Position after the `>` of a tag; quotes and braces in attributes may hold `>` themselves."""
    while position < len(text):
        char = text[position]
        if char == ">":
            return position + 1
        if char == "{":
            after = balanced_end(text, position)
            if after is None:
                return None
            position = after
        elif char in "'\"":
            closing = text.find(char, position + 1)
            if closing < 0:
                return None
            position = closing + 1
        elif char == "<":
            return None
        else:
            position += 1
    return None
