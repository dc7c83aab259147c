"""Imports go one way: bot.api -> bot.chat <- bot.adapters, bot -> corpus <- indexer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.modules import imported_by, modules_of, source_of, within

FORBIDDEN = {
    "corpus": ["bot", "indexer", "models", "native", "litestar", "uvicorn", "redis"],
    "indexer": ["bot", "models", "native", "litestar", "uvicorn", "redis"],
    "bot": ["indexer", "models", "native"],
    "bot.chat": ["bot.api", "bot.adapters", "bot.cli", "litestar", "uvicorn", "redis", "httpx"],
    "bot.evaluation": ["bot.chat.guard", "bot.api", "bot.adapters", "bot.cli", "litestar", "httpx"],
    "bot.adapters": ["bot.api", "bot.cli", "litestar", "uvicorn"],
    "bot.api": ["bot.adapters", "bot.cli", "redis"],
    "bot.cli.main": ["litestar", "uvicorn", "redis", "httpx", "numpy", "sqlite3"],
    "models": ["bot", "indexer", "native", "corpus", "litestar"],
    "native": ["bot", "indexer", "litestar", "uvicorn", "redis"],
}
"""What must not be loaded once every module of a package is, or one module such as the command."""

IO_LIBRARIES = {"litestar", "uvicorn", "redis", "httpx", "sqlite3", "socket", "subprocess"}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_what_a_package_must_not_load(package: str) -> None:
    loaded = imported_by(modules_of(package))
    assert {name: found for name in FORBIDDEN[package] if (found := within(loaded, name))} == {}


def test_the_application_imports_no_library_that_does_io() -> None:
    # By source and not by sys.modules: corpus.reader, the index contract, needs sqlite3 itself.
    found = {
        module: wrong
        for module in modules_of("bot.chat")
        if (wrong := {name.split(".")[0] for name in direct_imports(module)} & IO_LIBRARIES)
    }
    assert found == {}


def test_only_the_api_imports_litestar() -> None:
    users = {
        module
        for module in modules_of("bot")
        if any(name.split(".")[0] == "litestar" for name in direct_imports(module))
    }
    assert users, "the check finds nothing at all"
    assert {module for module in users if not module.startswith("bot.api")} == set()


def test_the_check_can_fail() -> None:
    loaded = imported_by(["bot.app"])
    assert within(loaded, "litestar"), "bot.app builds the Litestar app"
    assert within(loaded, "bot.chat")


def direct_imports(module: str) -> set[str]:
    """Every module named by an import statement that runs, at the top or in a function."""
    return set(_imports(ast.parse(source_of(module).read_text("utf-8"))))


def _imports(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(name)):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)
