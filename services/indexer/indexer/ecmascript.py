"""Find the end of JavaScript inside MDX: balanced brackets, strings, templates and comments."""

from __future__ import annotations

import re

OPENING = {"{": "}", "(": ")", "[": "]"}
CLOSING = frozenset(OPENING.values())
IMPORT = re.compile(r"import\s*(?:[\"'{*]|type\s|[\w$]+\s*(?:,|from\b|$))", re.MULTILINE)
EXPORT = re.compile(
    r"export\s+(?:const|let|var|function|async|class|default|type|interface|enum|\{|\*)|export\s*[{*]"
)
UNFINISHED = re.compile(r"(?:[=,+\-*/%&|?:.(\[{<>!~^]|\b(?:from|const|let|var|default|as|in|of))$")
CONTINUED = re.compile(r"[ \t]*(?:[.?:+*/%&|=,)\]}]|from\b|as\b)")
STRING = re.compile(r"(['\"])(?:\\.|(?!\1)[^\\\n])*\1")

UNCLOSED = -1
MAX_DEPTH = 20  # templates within templates; deeper is no program


def balanced_end(text: str, start: int, depth: int = 0) -> int | None:
    """Position after the bracket that closes the one at `start`; None when nothing closes it.

    `depth` counts templates around it.
    """
    if text.rfind(OPENING[text[start]]) < start:
        return None  # most stray openings end here, without reading the rest of the file each
    closers = [OPENING[text[start]]]
    position = start + 1
    while position < len(text):
        char = text[position]
        if skipped := _opaque_end(text, position, depth):
            if skipped == UNCLOSED:
                return None
            position = skipped
            continue
        if char in OPENING:
            closers.append(OPENING[char])
        elif char in CLOSING:
            if char != closers[-1]:
                return None
            closers.pop()
            if not closers:
                return position + 1
        position += 1
    return None


def statement_end(text: str, start: int) -> int | None:
    """Position of the line end after the import or export that begins at `start`.

    None when there is no such statement. Where its brackets never close, it ends at the first blank
    line: losing a paragraph to a misread statement is less harm than losing the rest of the file.
    """
    is_import = IMPORT.match(text, start) is not None
    if not is_import and not EXPORT.match(text, start):
        return None
    position, has_string = start, False
    while position < len(text):
        char = text[position]
        if char in OPENING:
            after = balanced_end(text, position)
            if after is None:
                return _blank_line(text, start)
            position = after
        elif skipped := _opaque_end(text, position, 0):
            if skipped == UNCLOSED:
                return _blank_line(text, start)
            has_string = has_string or char in "'\"`"
            position = skipped
        elif char == "\n" and _is_complete(text, start, position, is_import, has_string):
            return position
        else:
            position += 1
    return len(text)


def _is_complete(text: str, start: int, end: int, is_import: bool, has_string: bool) -> bool:
    if text.startswith("\n\n", end):
        return True
    if is_import:
        return has_string
    return not UNFINISHED.search(text[start:end].rstrip()) and not CONTINUED.match(text, end + 1)


def _blank_line(text: str, start: int) -> int:
    blank = text.find("\n\n", start)
    return blank if blank >= 0 else len(text)


def _opaque_end(text: str, position: int, depth: int) -> int | None:
    """End of the string, template or comment at `position`; None when there is none.

    A quote that does not close on its line is an apostrophe of JSX text, not a string. A template
    that never closes is `UNCLOSED`.
    """
    char = text[position]
    if char in "'\"":
        match = STRING.match(text, position)
        return match.end() if match else None
    if char == "/" and text.startswith("/*", position):
        end = text.find("*/", position + 2)
        return end + 2 if end >= 0 else None
    if char == "/" and text.startswith("//", position):
        end = text.find("\n", position)
        return end if end >= 0 else len(text)
    if char == "`":
        return _template_end(text, position, depth)
    return None


def _template_end(text: str, start: int, depth: int) -> int:
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == "`":
            return position + 1
        elif text.startswith("${", position):
            after = balanced_end(text, position + 1, depth + 1) if depth < MAX_DEPTH else None
            if after is None:
                return UNCLOSED
            position = after
        else:
            position += 1
    return UNCLOSED
