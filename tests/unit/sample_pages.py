"""The sample site's pages as the passages an answer rests on."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
FRONTMATTER = re.compile(r"(---|\+\+\+)\n(.*?)\n\1\n", re.S)
NO_PROSE = re.compile(
    r"```.*?```|<!--.*?-->|\{/\*.*?\*/\}|^(?:import|export)\b[^\n]*$", re.S | re.M
)
SECTION = re.compile(r"\n(?=#{2,3} )")
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.|\|)\s)|\n(?=[#|])")
SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[A-ZÁÉÍÓÚ¿¡«\"`*\d])")
MARKER = re.compile(r"^(?:#+|[-*+]|\d+\.) ")
TRANSLATION = re.compile(r"^translation: (\S+)", re.M)


@cache
def page(name: str) -> tuple[str, ...]:
    """Passages of `posts/cuatro-dias`: its sections, each behind the title and description."""
    text = next(DATA.glob(f"{name}.md*")).read_text(encoding="utf-8")
    head = FRONTMATTER.match(text)
    assert head is not None
    title = "\n".join(line for line in head[2].splitlines() if re.match(r"title|description", line))
    return tuple(f"{title}\n{part}" for part in SECTION.split(text[head.end() :]))


def names() -> list[str]:
    """Every page with frontmatter: `docs/about`…"""
    return sorted(
        f"{path.parent.name}/{path.stem}"
        for path in DATA.glob("*/*.md*")
        if FRONTMATTER.match(path.read_text(encoding="utf-8"))
    )


def twins() -> list[tuple[str, str]]:
    """Pages and their translations, both ways."""
    found = []
    for name in names():
        text = next(DATA.glob(f"{name}.md*")).read_text(encoding="utf-8")
        if other := TRANSLATION.search(text):
            found.append((name, f"{name.split('/')[0]}/{other[1]}"))
    return found


def sentences(name: str) -> list[str]:
    """The page's sentences, headings, items and table rows as an answer would write them."""
    text = next(DATA.glob(f"{name}.md*")).read_text(encoding="utf-8")
    head = FRONTMATTER.match(text)
    assert head is not None
    found = []
    for paragraph in PARAGRAPH.split(NO_PROSE.sub("", text[head.end() :])):
        line = MARKER.sub("", " ".join(paragraph.split()))
        found += [part for part in SENTENCE.split(line) if re.search(r"[a-z]{2}", part)]
    return found
