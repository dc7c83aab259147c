"""docs/configuration.md: every setting with type, limits, default and its sentence in the source.

The sentences are the strings under the fields of corpus/settings.py. Python drops those at run
time, so they are read from the source; types, limits and defaults come from msgspec.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import inspect as types

import corpus.settings
from corpus.settings import Settings
from corpus.settings_file import ENVIRONMENT_PREFIX

INTRODUCTION = """\
# Configuration

<!-- Generated from packages/corpus/corpus/settings.py by `make docs`; edit the sentences there. -->

The file is `configs/portfolio-bot.yaml`; every key may be left out. `chat-bot config validate`
checks it: a wrong value stops the start with the key's path, the value and what is allowed.

An environment variable goes before the file: `PORTFOLIO_BOT__SERVER__PORT=8000` is `server.port`,
list items go by number: `PORTFOLIO_BOT__PROVIDERS__0__ENDPOINT`. Values are read as YAML. Secrets
are never values here, only the paths of files that hold them. `make demo` sets the endpoints, the
model names and the embedding model's hash by such variables, for the models of its `PROFILE`.
"""


@dataclass(frozen=True)
class Setting:
    """One documented key."""

    path: str
    kind: str
    default: str
    sentence: str
    variable: str


@dataclass(frozen=True)
class Section:
    """A group of keys."""

    path: str
    sentence: str
    settings: tuple[Setting, ...]


def sections() -> list[Section]:
    """Every section, nested ones behind the one they are in."""
    documented = _sentences(inspect.getsource(corpus.settings))
    return list(_sections(Settings, "", ENVIRONMENT_PREFIX, documented))


def render() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for section in sections():
        parts.append(f"## `{section.path}`\n\n{section.sentence}\n")
        rows = ["| key | type | default | what it does |", "|---|---|---|---|"]
        rows += [
            f"| `{item.path}` | {item.kind} | {item.default} | {item.sentence} |"
            for item in section.settings
        ]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _sections(
    struct: type[msgspec.Struct], path: str, variable: str, documented: dict[tuple[str, str], str]
) -> Iterator[Section]:
    own: list[Setting] = []
    nested: list[Section] = []
    information = types.type_info(struct)
    if not isinstance(information, types.StructType):
        raise TypeError(struct)
    for item in information.fields:
        here = f"{path}.{item.name}" if path else item.name
        name = f"{variable}{item.name.upper()}"
        inner = item.type
        if isinstance(inner, types.VarTupleType) and isinstance(inner.item_type, types.StructType):
            inner, here, name = inner.item_type, f"{here}[]", f"{name}__0"
        if isinstance(inner, types.StructType):
            nested += _sections(inner.cls, here, f"{name}__", documented)
            continue
        own.append(
            Setting(
                path=here,
                kind=_kind(item.type),
                default=_default(item),
                sentence=documented[struct.__name__, item.name],
                variable=name,
            )
        )
    if own:
        yield Section(path, documented[struct.__name__, ""], tuple(own))
    yield from nested


def _sentences(source: str) -> dict[tuple[str, str], str]:
    """`(class, field)` to the string under it; `(class, "")` to the class's own."""
    found = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        found[node.name, ""] = ast.get_docstring(node) or ""
        for field, following in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match following:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        # One line: it becomes a cell of a table.
                        found[node.name, field.target.id] = " ".join(text.split())
    return found


def _kind(kind: Any) -> str:
    match kind:
        case types.UnionType(types=options):
            return " or ".join(_kind(option) for option in options)
        case types.LiteralType(values=values):
            return " or ".join(f"`{value}`" for value in values)
        case types.VarTupleType(item_type=inner):
            return f"list of {_kind(inner)}"
        case types.DictType(key_type=key, value_type=value):
            return f"for each of {_kind(key)}: {_kind(value)}"
        case types.NoneType():
            return "null"
        case types.BoolType():
            return "true or false"
        case types.StrType(pattern=pattern, max_length=longest):
            if pattern:
                return "http(s) address"
            return f"text, at most {longest} characters" if longest else "text"
        case types.IntType() | types.FloatType():
            name = "number" if isinstance(kind, types.FloatType) else "whole number"
            return " ".join([name, *_limits(kind)])
    raise TypeError(f"say in scripts/settings_reference.py how to describe {kind}")


def _limits(kind: types.IntType | types.FloatType) -> list[str]:
    if kind.ge is not None and kind.le is not None:
        return [f"from {kind.ge:,} to {kind.le:,}"]
    limits = (("≥", kind.ge), (">", kind.gt), ("≤", kind.le), ("<", kind.lt))
    return [f"{word} {limit:,}" for word, limit in limits if limit is not None]


def _default(item: types.Field) -> str:
    value = item.default
    if value is msgspec.NODEFAULT:
        value = item.default_factory() if callable(item.default_factory) else value
    if value is msgspec.NODEFAULT:
        return "(required)"
    return f"`{json.dumps(value, ensure_ascii=False)}`"
