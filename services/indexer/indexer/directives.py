"""Markdown source before parsing: comments and template directives out, math fenced off."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from indexer.code_spans import span_end

# What the site's own build consumes: Hugo shortcodes, interpolations, Liquid and Jinja blocks. None
# crosses a blank line, so that a stray opening can't swallow the page.
DIRECTIVES = (("{{<", ">}}"), ("{{%", "%}}"), ("{{", "}}"), ("{%", "%}"), ("{#", "#}"))
HIDDEN_START = re.compile(r"\{%-?\s*comment\b")
HIDDEN_END = re.compile(r"\{%-?\s*endcomment\s*-?%\}")
FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
MATH_LINE = re.compile(r"(?P<indent>[ \t]*)\$\$(?P<rest>[^\n]*)")
MATH_CLOSING = re.compile(r"(?P<rest>[^\n]*?)\$\$[ \t]*$")
MAX_MATH_LINES = 60  # a formula; two far-apart `$$` of a shell tutorial are none
BACKTICKS = re.compile(r"`+")


def plain_source(text: str, parser: MarkdownIt) -> str:
    """Markdown without HTML comments and template directives; `$$` blocks become ```` ```math ````.

    Code keeps every byte. A comment is dropped up to its end even where CommonMark would show it
    (across blank lines inside a paragraph): its author meant it to be hidden.
    """
    text = _fence_math(text, parser)
    line_starts = _line_starts(text)
    block_tokens = _block_tokens(text, parser)
    code_lines = _code_lines(block_tokens)
    html_starts = {line_starts[t.map[0]] for t in block_tokens if t.type == "html_block" and t.map}
    code_ranges = [(line_starts[first], line_starts[last]) for first, last in code_lines]
    out: list[str] = []
    position = 0
    pending = iter([*code_ranges, (len(text), len(text))])
    code_start, code_end = next(pending)
    while position < len(text):
        while position >= code_end and code_start < len(text):
            code_start, code_end = next(pending)
        if code_start <= position < code_end:
            out.append(text[position:code_end])
            position = code_end
            continue
        end, replacement = _construct(text, position, code_ranges, html_starts)
        out.append(replacement)
        position = end
    return "".join(out)


def template_end(text: str, position: int) -> int | None:
    """Position after the template directive that begins at `position`, or None.

    A Liquid comment reaches to its end, content included: its author hid it.
    """
    if HIDDEN_START.match(text, position) and (hidden := HIDDEN_END.search(text, position)):
        return hidden.end()
    for opening, closing in DIRECTIVES:
        if text.startswith(opening, position):
            blank = text.find("\n\n", position)
            end = text.find(closing, position + len(opening), blank if blank >= 0 else len(text))
            if end >= 0:
                return end + len(closing)
    return None


def _construct(
    text: str, position: int, code_ranges: list[tuple[int, int]], block_starts: set[int]
) -> tuple[int, str]:
    char = text[position]
    if char == "\\":
        return position + 2, text[position : position + 2]
    if char == "`":
        end = span_end(text, position)
        if end is None:
            run = BACKTICKS.match(text, position)
            end = run.end() if run else position + 1
        return end, text[position:end]
    if char == "<" and text.startswith("<!--", position):
        end = _comment_end(text, position, code_ranges)
        if end is not None:
            return end, ""
        line_start = text.rfind("\n", 0, position) + 1
        return (len(text), "") if line_start in block_starts else (position + 4, "")
    if char == "{" and (template := template_end(text, position)):
        return template, ""
    if (
        char == "["
        and (position == 0 or text[position - 1] == "\n")
        and FOOTNOTE.match(text, position)
    ):
        return position + 1, "\\["  # a one-word footnote would be swallowed as a link definition
    return position + 1, char


def _comment_end(text: str, position: int, code_ranges: list[tuple[int, int]]) -> int | None:
    if text.startswith(("<!-->", "<!--->"), position):
        return text.index(">", position) + 1
    search = position + 4
    while (end := text.find("-->", search)) >= 0:
        inside = next((last for first, last in code_ranges if first <= end < last), None)
        if inside is None:
            return end + 3
        search = inside
    return None


def _block_tokens(text: str, parser: MarkdownIt) -> list[Token]:
    """Tokens of the blocks only: inline parsing is slow and not needed to know where code is."""
    tokens: list[Token] = []
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _code_lines(tokens: list[Token]) -> list[tuple[int, int]]:
    """Line ranges (first, after last) of fenced and indented code at any depth."""
    return [(t.map[0], t.map[1]) for t in tokens if t.type in ("fence", "code_block") and t.map]


def _line_starts(text: str) -> list[int]:
    """Offset of every line, and of the end of the text twice (maps may point one line past it)."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return [min(start, len(text)) for start in [*starts, starts[-1]]]


def _fence_math(text: str, parser: MarkdownIt) -> str:
    if "$$" not in text:
        return text
    code_lines = _code_lines(_block_tokens(text, parser))
    lines = text.split("\n")
    is_code = set[int]().union(*(range(first, last) for first, last in code_lines))
    number = 0
    while number < len(lines):
        opening = MATH_LINE.fullmatch(lines[number])
        if opening is None or number in is_code or "$$" in opening["rest"]:
            number += 1
            continue
        last = _math_end(lines, number, is_code)
        if last is None:
            number += 1
            continue
        closing = MATH_CLOSING.fullmatch(lines[last])
        assert closing is not None
        indent = opening["indent"]
        inner = [indent + opening["rest"], *lines[number + 1 : last], closing["rest"]]
        fence = "`" * (
            3 + max((len(run) for line in inner for run in BACKTICKS.findall(line)), default=0)
        )
        kept = [line for line in inner if line.strip()]
        lines[number : last + 1] = [f"{indent}{fence}math", *kept, f"{indent}{fence}"]
        is_code = {
            line + len(kept) + 2 - (last + 1 - number) if line > last else line for line in is_code
        }
        number += len(kept) + 2
    return "\n".join(lines)


def _math_end(lines: list[str], start: int, is_code: set[int]) -> int | None:
    for number in range(start + 1, min(start + MAX_MATH_LINES, len(lines))):
        if number in is_code:
            return None
        if MATH_CLOSING.fullmatch(lines[number]):
            return number
    return None
