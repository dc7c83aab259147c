"""Split frontmatter (YAML between `---`, TOML between `+++`) from the body."""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime, time
from typing import Any

import msgspec
import yaml

KEY_LINE = re.compile(r"^[ \t]*[\"']?[\w.-]+[\"']?[ \t]*[:=]", re.MULTILINE)
OPENING = re.compile(r"\n*(---|\+\+\+)[ \t]*\n")
CLOSINGS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
TOML_PLACE = re.compile(r"\(at line (\d+)")

Value = str | list[Any] | dict[str, Any]


class FrontmatterBroken(Exception):
    """It is meant as frontmatter but can't be read; `line` counts from 1 in the file."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """A source text in its two parts."""

    fields: dict[str, Value]
    """Every scalar as the text the author wrote: `title: 404` and `title: Yes` stay as they are."""
    body: str


def split_frontmatter(text: str) -> Split:
    """Fields and body of `text`, which has `\\n` line ends and no byte-order mark.

    A `---` at the top that opens no keys is a thematic break, hence body.

    Raises:
        FrontmatterBroken: unclosed, or not valid YAML or TOML.
    """
    opening = OPENING.match(text)
    if opening is None:
        # A file that ends right after its opening line, or has none at all.
        return Split(fields={}, body=text)
    marker = opening[1]
    first_line = text.count("\n", 0, opening.end()) + 1
    closing = CLOSINGS[marker].search(text, opening.end())
    raw = text[opening.end() : closing.start()] if closing else text[opening.end() :]
    if closing is None:
        if KEY_LINE.match(raw):
            raise FrontmatterBroken(first_line - 1, f"the frontmatter has no closing `{marker}`")
        return Split(fields={}, body=text)
    fields = _yaml(raw, first_line) if marker == "---" else _toml(raw, first_line)
    if fields is None:
        return Split(fields={}, body=text)
    return Split(fields=fields, body=text[closing.end() :].removeprefix("\n"))


def _yaml(raw: str, first_line: int) -> dict[str, Value] | None:
    try:
        # BaseLoader builds strings, lists and mappings only: nothing is executed, and neither
        # `title: No` nor `date: 2025-02-30` turns into something the author did not write.
        tree = yaml.load(raw, yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as error:
        if not KEY_LINE.search(raw):
            return None
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise FrontmatterBroken(
            line, f"the frontmatter can't be read ({problem}): quote values that hold `: ` or `#`"
        ) from error
    except RecursionError as error:
        raise FrontmatterBroken(first_line, "the frontmatter is nested too deeply") from error
    if tree is None or tree == "":
        return {}
    if isinstance(tree, dict):
        return {str(key): value for key, value in tree.items()}
    return None


def _toml(raw: str, first_line: int) -> dict[str, Value] | None:
    try:
        return {key: _as_written(value) for key, value in tomllib.loads(raw).items()}
    except tomllib.TOMLDecodeError as error:
        if not KEY_LINE.search(raw):
            return None
        place = TOML_PLACE.search(str(error))
        line = first_line + (int(place[1]) - 1 if place else 0)
        raise FrontmatterBroken(line, f"the frontmatter can't be read ({error})") from error
    except RecursionError as error:
        raise FrontmatterBroken(first_line, "the frontmatter is nested too deeply") from error


def _as_written(value: Any) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list):
        return [_as_written(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_written(item) for key, item in value.items()}
    return str(value)
