"""Cut a Markdown body into sections at its own headings, as the parser sees them."""

from __future__ import annotations

import re

import msgspec
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from indexer.blocks import Block, blocks_of, markdown_parser, plain_text, prose
from indexer.directives import plain_source
from indexer.mdx import strip_mdx
from indexer.slugs import Slugger

# A heading longer than this is a paragraph that `---` turned into one (MD-04): its name is cut, and
# the whole text stays in the section.
MAX_TITLE_CHARS = 120
CUSTOM_ANCHOR = re.compile(r"\s*\{#([^\s{}]+)\}\s*$")


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """What stands between one level-0 heading and the next."""

    level: int
    """1 to 6; 0 for the text before the first heading."""
    path: tuple[str, ...]
    """Titles from the outermost heading down to this one, without the document's own title."""
    anchor: str
    blocks: tuple[Block, ...]


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed body."""

    title: str
    """The title given, else the first H1, else empty."""
    sections: tuple[Section, ...]


def outline(body: str, title: str, *, mdx: bool) -> Outline:
    """Sections of a Markdown or MDX body in order; a section without text gives its title away.

    Only level-0 headings open sections: those in quotes and lists stay text. A section with no body
    and no sub-section becomes a line of its parent.
    """
    parser = markdown_parser(mdx=mdx)
    tokens = parser.parse(plain_source(strip_mdx(body) if mdx else body, parser))
    tree = SyntaxTreeNode(tokens)
    title = title or _first_title(tree)
    levels = [node.tag for node in tree.children if node.type == "heading"]
    lone_h1 = levels[:1] == ["h1"] and levels.count("h1") == 1 and len(levels) > 1
    builder = _Builder(title, lone_h1)
    slugger = Slugger()
    for node in tree.children:
        if node.type == "heading" and builder.open_section(node, slugger):
            continue
        for nested in node.walk():
            if nested.type == "heading" and nested is not node:
                slugger.slug(_slug_text(nested))  # counted by sites too, at any depth
        builder.add(blocks_of(node))
    return Outline(title=title, sections=builder.sections())


class _Builder:
    def __init__(self, title: str, lone_h1: bool) -> None:
        self._title = title
        self._lone_h1 = lone_h1
        self._open: list[tuple[int, str]] = []
        self._title_only: set[int] = set()
        self._sections: list[tuple[int, tuple[str, ...], str, list[Block]]] = [(0, (), "", [])]

    def open_section(self, node: SyntaxTreeNode, slugger: Slugger) -> bool:
        """Begin a section; False when the heading has no title of its own and stays text."""
        children = _inline_tokens(node)
        anchor = slugger.slug(_slug_text(node))
        full = plain_text(children)
        if custom := CUSTOM_ANCHOR.search(full):
            full, anchor = full[: custom.start()], custom[1]
        if not full or not plain_text(children, images=False):
            return False
        level = int(node.tag[1:])
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        title = _capped(full)
        # The one H1 over a page's sections is its title in longer words: it would stand in every path.
        same = _same(full, self._title)
        is_document_title = level == 1 and (same or self._lone_h1) and not self._open
        if not is_document_title:
            self._open.append((level, title))
        path = tuple(name for _, name in self._open)
        blocks = [prose(full)] if title != full or (is_document_title and not same) else []
        if is_document_title and blocks:
            self._title_only.add(len(self._sections))
        self._sections.append((level if not is_document_title else 0, path, anchor, blocks))
        return True

    def add(self, blocks: list[Block]) -> None:
        self._sections[-1][3].extend(blocks)

    def sections(self) -> tuple[Section, ...]:
        """Sections with text; the titles of empty leaves have moved into their parents."""
        self._move_lone_title()
        for index, (level, path, _, blocks) in enumerate(self._sections):
            following = self._sections[index + 1 :]
            has_children = bool(following) and following[0][0] > level
            if blocks or not path or has_children:
                continue
            parent = next(
                place for place in range(index - 1, -1, -1) if self._sections[place][1] == path[:-1]
            )
            self._sections[parent][3].append(prose(path[-1]))
        return tuple(
            Section(level=level, path=path, anchor=anchor, blocks=tuple(blocks))
            for level, path, anchor, blocks in self._sections
            if blocks
        )

    def _move_lone_title(self) -> None:
        """A long title with nothing under it joins the text above it, else the section below.

        As a passage of its own it would say nothing and match everything about the page.
        """
        for index, (_, path, _, blocks) in enumerate(self._sections[1:], start=1):
            if path or len(blocks) != 1 or index not in self._title_only:
                continue
            above = self._sections[index - 1][3]
            if above:
                above.append(blocks.pop())
            elif index + 1 < len(self._sections):
                self._sections[index + 1][3].insert(0, blocks.pop())


def _inline_tokens(node: SyntaxTreeNode) -> list[Token]:
    return list(node.children[0].to_tokens()[0].children or []) if node.children else []


def _slug_text(node: SyntaxTreeNode) -> str:
    return plain_text(_inline_tokens(node), images=False)


def _first_title(tree: SyntaxTreeNode) -> str:
    for node in tree.children:
        if node.type == "heading" and node.tag == "h1":
            title = CUSTOM_ANCHOR.sub("", plain_text(_inline_tokens(node)))
            if title and plain_text(_inline_tokens(node), images=False):
                return _capped(title)
    return ""


def _capped(title: str) -> str:
    if len(title) <= MAX_TITLE_CHARS:
        return title
    cut = title[: MAX_TITLE_CHARS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"


def _same(heading: str, title: str) -> bool:
    return heading.casefold().split() == title.casefold().split()
