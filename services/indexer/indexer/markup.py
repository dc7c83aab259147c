"""Text of raw HTML: tags, comments, scripts and styles go; `<pre>` becomes a fenced block."""

from __future__ import annotations

import re
from html.parser import HTMLParser

# Tags that stand inside a word or sentence: removing one must not part or glue words.
INLINE_TAGS = frozenset(
    "a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strike strong sub "
    "sup time tt u var wbr".split()
)
HIDDEN_TAGS = frozenset({"script", "style", "template", "svg", "iframe", "object", "noscript"})
TAG = re.compile(r"</?([A-Za-z][\w:-]*)")
ALTERNATIVE = re.compile(r"\balt\s*=\s*([\"'])(.*?)\1", re.DOTALL | re.IGNORECASE)


class _TextOnly(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden: list[str] = []
        self.preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN_TAGS:
            self.hidden.append(tag)
        elif tag == "pre":
            self.preformatted += 1
            self.parts.append("\n\n```\n")
        elif tag == "img":
            self.parts.append(dict(attrs).get("alt") or "")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag not in INLINE_TAGS:
            self.parts.append(" " if tag in ("td", "th") else "\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in HIDDEN_TAGS:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag == self.hidden[-1]:
            self.hidden.pop()
        elif tag == "pre" and self.preformatted:
            self.preformatted -= 1
            self.parts.append("\n```\n\n")
        elif tag not in INLINE_TAGS and tag not in HIDDEN_TAGS:
            self.parts.append(" " if tag in ("td", "th") else "\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            in_prose = not self.preformatted
            self.parts.append("\n".join(map(str.strip, data.split("\n"))) if "\n" in data and in_prose
                              else data)  # fmt: skip


def html_text(html: str) -> str:
    """What a reader sees of an HTML block, with fences around preformatted text; may be empty."""
    parser = _TextOnly()
    parser.feed(html)
    parser.close()
    text = "".join(parser.parts) + ("\n```" if parser.preformatted else "")
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n ")


def inline_tag_text(tag: str) -> str:
    """What takes the place of one inline tag, comment or declaration."""
    match = TAG.match(tag)
    if match is None:
        return ""
    name = match[1].casefold()
    if name == "br":
        return "\n"
    if name == "img":
        alternative = ALTERNATIVE.search(tag)
        return alternative[2] if alternative else ""
    return "" if name in INLINE_TAGS else " "
