"""The sample site in data/ and the labelled questions about it, for the tests that keep them honest."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot.evaluation import facts

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
QUESTIONS = ROOT / "tests" / "eval"

FILES = sorted(p for p in DATA.rglob("*") if p.suffix in {".md", ".mdx"})
READMES = [p for p in FILES if p.stem.upper() == "README"]
DOCUMENTS = [p for p in FILES if p not in READMES]


def name(path: Path) -> str:
    return path.relative_to(DATA).as_posix()


@cache
def split(path: Path) -> tuple[dict[str, Any], str]:
    """Frontmatter and text of a document."""
    return split_text(path.read_text(encoding="utf-8"))


def split_text(text: str) -> tuple[dict[str, Any], str]:
    for fence, load in (("---", yaml.safe_load), ("+++", tomllib.loads)):
        if text.startswith(f"{fence}\n"):
            head, body = text[len(fence) + 1 :].split(f"\n{fence}\n", 1)
            return load(head), body
    raise AssertionError(f"no frontmatter: {text[:60]!r}")


@cache
def folded(path: Path) -> str:
    """The whole file as `bot.evaluation.facts.holds` wants it."""
    return facts.folded(path.read_text(encoding="utf-8"))


def by_file_name(file_name: str) -> Path:
    matches = [p for p in DOCUMENTS if p.name == file_name]
    assert len(matches) == 1, f"{file_name}: {len(matches)} documents of that name"
    return matches[0]


def live(folder: str) -> list[Path]:
    return [p for p in DOCUMENTS if p.parent == DATA / folder and not split(p)[0].get("draft")]


@cache
def labelled(kind: str) -> dict[str, Any]:
    """One file of tests/eval."""
    content: dict[str, Any] = yaml.safe_load((QUESTIONS / f"{kind}.yaml").read_text("utf-8"))
    return content
