"""Blocks of a Markdown document as text a reader sees, each with the seams where it may be cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from indexer.markup import html_text, inline_tag_text

BlockKind = Literal["prose", "lines", "group"]
ADDRESS_SCHEMES = ("mailto:", "tel:")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One block: `head`, then units joined by `joint`, then `tail`."""

    kind: BlockKind
    """prose: cut at sentences. lines: cut between units. group: cut between parts."""
    text: str
    head: str = ""
    """Repeated at the top of every piece: table header and separator, or the opening fence."""
    tail: str = ""
    """Repeated at the end of every piece: the closing fence."""
    units: tuple[str, ...] = ()
    parts: tuple[Block, ...] = ()
    joint: str = "\n"


def markdown_parser(*, mdx: bool) -> MarkdownIt:
    """CommonMark with tables and strikethrough; in MDX indentation never makes code."""
    # maxNesting 20 of the preset silently drops deeper text (measured); 100 is beyond any document
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    return parser.disable("code") if mdx else parser


def prose(text: str) -> Block:
    """A paragraph; one made of `|` lines only is a table without separator, cut between lines."""
    lines = text.split("\n")
    if len(lines) > 1 and all(line.lstrip().startswith("|") for line in lines):
        return Block(kind="lines", text=text, units=tuple(lines))
    return Block(kind="prose", text=text)


def blocks_of(node: SyntaxTreeNode) -> list[Block]:
    """Blocks one node of the tree stands for; [] when a reader sees nothing of it."""
    match node.type:
        case "paragraph" | "heading":
            text = _inline(node.children)
            mark = f"{node.markup} " if node.type == "heading" and node.markup[:1] == "#" else ""
            return [prose(mark + text)] if text.strip() else []
        case "fence":
            return _code(node)
        case "code_block":
            units = tuple(f"    {line}" if line else "" for line in _lines(node.content))
            return [Block(kind="lines", text="\n".join(units), units=units)] if any(units) else []
        case "html_block":
            return _html(node.content)
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "blockquote":
            return _quote(node)
        case "table":
            return _table(node)
        case "hr":
            return []
        case _:
            return [block for child in node.children for block in blocks_of(child)]


def plain_text(tokens: Sequence[Token] | None, *, images: bool = True) -> str:
    """Text of inline tokens without markup, white space collapsed: titles."""
    parts = []
    for token in tokens or ():
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image" and images:
            parts.append(plain_text(token.children))
        elif token.type == "html_inline":
            parts.append(inline_tag_text(token.content) if images else "")
    return " ".join("".join(parts).split())


def _inline(children: Iterable[SyntaxTreeNode]) -> str:
    tokens = [
        inline
        for child in children
        for token in child.to_tokens()
        for inline in token.children or []
    ]
    return "\n".join(line.strip(" ") for line in _rendered(tokens).split("\n")).strip("\n")


def _rendered(tokens: Sequence[Token]) -> str:
    """Inline tokens as Markdown, links as their text, images as their description."""
    out: list[str] = []
    opened: list[tuple[str, int]] = []
    for token in tokens:
        match token.type:
            case "code_inline":
                pad = " " if token.content[:1] == "`" or token.content[-1:] == "`" else ""
                out.append(f"{token.markup}{pad}{token.content}{pad}{token.markup}")
            case "softbreak" | "hardbreak":
                out.append("\n")
            case "image":
                out.append(plain_text(token.children))
            case "html_inline":
                out.append(inline_tag_text(token.content))
            case "link_open":
                opened.append((str(token.attrs.get("href", "")), len(out)))
            case "link_close" if opened:
                href, start = opened.pop()
                out.append(_address(href, "".join(out[start:])))
            case "text" | "text_special":
                out.append(token.content)
            case _:
                out.append(token.markup)
    return "".join(out)


def _address(href: str, text: str) -> str:
    """E-mail and telephone links keep their address: it may be written nowhere else."""
    for scheme in ADDRESS_SCHEMES:
        if href.casefold().startswith(scheme):
            address = href[len(scheme) :].split("?")[0]
            return f" ({address})" if address and address not in text else ""
    return ""


def _lines(content: str) -> list[str]:
    return content.removesuffix("\n").split("\n")


def _code(node: SyntaxTreeNode) -> list[Block]:
    if not node.content.strip():
        return []
    units = tuple(_lines(node.content))
    info = node.info.strip()
    head, tail = ("$$", "$$") if info == "math" else (node.markup + info, node.markup)
    text = "\n".join((head, *units, tail))
    return [Block(kind="lines", text=text, head=head, tail=tail, units=units)]


def _html(content: str) -> list[Block]:
    text = html_text(content)
    if not text:
        return []
    if "```" in text:  # preformatted text: let the parser see the fences, HTML is already gone
        tree = SyntaxTreeNode(MarkdownIt("zero").enable("fence").parse(text))
        return [block for child in tree.children for block in blocks_of(child)]
    return [prose(part.strip("\n")) for part in re.split(r"\n\n+", text) if part.strip()]


def _group(parts: Sequence[Block], text: str, joint: str) -> Block:
    return Block(kind="group", text=text, parts=tuple(parts), joint=joint)


def _list(node: SyntaxTreeNode) -> list[Block]:
    items = []
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
    for number, item in enumerate(node.children, first):
        marker = f"{number}{item.markup} " if node.type == "ordered_list" else f"{item.markup} "
        children = [block for child in item.children for block in blocks_of(child)]
        if not children:
            continue
        tight = all(child.hidden for child in item.children if child.type == "paragraph")
        joint = "\n" if tight else "\n\n"
        pad = " " * len(marker)
        text = joint.join(child.text for child in children).replace("\n", f"\n{pad}")
        text = re.sub(r"\n +(?=\n)", "\n", f"{marker}{text}")
        lead = children[0]
        if lead.kind == "prose":
            lead = msgspec.structs.replace(lead, text=marker + lead.text)
        items.append(_group([lead, *children[1:]], text, joint))
    if not items:
        return []
    return [_group(items, "\n".join(item.text for item in items), "\n")]


def _quote(node: SyntaxTreeNode) -> list[Block]:
    children = [block for child in node.children for block in blocks_of(child)]
    if not children:
        return []
    quoted = [
        child if child.kind != "prose"
        else msgspec.structs.replace(child, text="> " + child.text.replace("\n", "\n> "))
        for child in children
    ]  # fmt: skip
    whole = "\n\n".join(child.text for child in children)
    text = "\n".join(f"> {line}".rstrip(" ") for line in whole.split("\n"))
    return [_group(quoted, text, "\n")]


def _table(node: SyntaxTreeNode) -> list[Block]:
    rows = [row for part in node.children for row in part.children]
    texts = [_row(row) for row in rows]
    columns = len(rows[0].children)
    head = f"{texts[0]}\n|{' --- |' * columns}"
    units = tuple(texts[1:])
    text = "\n".join((head, *units))
    return [Block(kind="lines", text=text, head=head if units else "", units=units or (text,))]


def _row(row: SyntaxTreeNode) -> str:
    cells = (_inline(cell.children).replace("\n", " ").replace("|", "\\|") for cell in row.children)
    return f"| {' | '.join(cells)} |"
