"""The documentation agrees with the code: what is generated, what is listed, what is linked."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from corpus.settings import Settings
from corpus.settings_file import load_settings
from scripts import check_locks, cli_reference, generate_docs, settings_reference

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "configs/portfolio-bot.yaml"
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("models/*.md"),
     *ROOT.glob("bench/*.md")]
)  # fmt: skip
CODE = ("packages", "services", "models", "native", "bench", "scripts", "configs")
"""Without the tests: those name pages of sites that they make up."""
SOURCES = sorted(
    path
    for folder in CODE
    for pattern in ("*.py", "*.yaml", "*.html", "*.js")
    for path in (ROOT / folder).rglob(pattern)
    if not path.is_relative_to(ROOT / "models/files")
)
TARGET = re.compile(r"^([a-z][a-z-]*):.*?## ", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")
IN_CODE = re.compile(r"`([^`\n]+)`")
TOP = ("bench/", "configs/", "data/", "docs/", "models/", "native/", "packages/", "requirements/",
       "scripts/", "services/", "tests/", ".ci/")  # fmt: skip
MADE = ("models/files",)
"""Places that only a run makes."""


def relative(path: Path) -> str:
    """A test id."""
    return str(path.relative_to(ROOT))


def test_the_generated_pages_are_what_the_code_says() -> None:
    stale = [diff for path, text in generate_docs.pages().items()
             if (diff := generate_docs.difference(path, text))]  # fmt: skip
    assert not stale, "run `make docs`:\n" + "\n".join(stale)


def test_every_setting_has_a_sentence_and_is_documented() -> None:
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    settings = [item for section in settings_reference.sections() for item in section.settings]
    assert len(settings) > 50
    for item in settings:
        assert item.sentence.endswith("."), f"{item.path} needs a sentence"
        assert f"`{item.path}`" in page


def test_the_configuration_file_holds_every_key() -> None:
    keys = set(flat(yaml.safe_load(CONFIG.read_text("utf-8"))))
    documented = {
        item.path for section in settings_reference.sections() for item in section.settings
    }
    assert keys == documented


def test_every_key_of_the_configuration_file_has_a_comment() -> None:
    plain = re.compile(r"^\s*(- )?[a-z_0-9]+: *(?!#)\S[^#]*$")
    bare = [line for line in CONFIG.read_text("utf-8").splitlines() if plain.match(line)
            and not re.match(r"^ +(en|es):", line)]  # fmt: skip
    assert bare == []


@pytest.mark.parametrize(
    "section", ["server", "providers", "embeddings", "rag", "conversations", "feedback"]
)
def test_the_configuration_file_says_the_defaults(section: str) -> None:
    written, default = load_settings(CONFIG, {}), Settings()
    assert msgspec.to_builtins(getattr(written, section)) == msgspec.to_builtins(
        getattr(default, section)
    )


def test_the_persona_suits_both_languages() -> None:
    persona = load_settings(CONFIG, {}).persona
    for language in ("en", "es"):
        assert len(persona.suggested_questions[language]) >= 3
        assert persona.topics[language]


def test_every_make_target_is_documented() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    assert {"help", "demo", "test", "check"} <= targets
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert {target for target in targets if f"make {target}" not in text} == set()


def test_every_make_target_mentioned_is_there() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    for page in PAGES:
        for code in IN_CODE.findall(page.read_text("utf-8")):
            if match := re.match(r"(?:[A-Z_]+=\S+ )*make ([a-z][a-z-]*)", code):
                assert match[1] in targets, f"{relative(page)}: `{code}`"


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text("utf-8")
    for name, command in cli_reference.commands():
        assert f"## `{name}`" in page
        assert command.help, f"{name} has no help"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text("utf-8")):
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{target} is not there"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{target}#{anchor} is not there"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_file_that_is_named_exists(page: Path) -> None:
    # Results that a claim rests on among them: a number without its file fails here.
    missing = [name for name in named_files(page.read_text("utf-8"))
               if not (ROOT / name).exists() and not name.startswith(MADE)]  # fmt: skip
    assert missing == []


def test_every_page_that_the_code_names_exists() -> None:
    named = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md")
    missing = {
        f"{relative(path)}: {name}"
        for path in SOURCES
        for name in named.findall(path.read_text("utf-8"))
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_decisions_are_numbered_and_say_why() -> None:
    paths = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert paths
    numbers = []
    for path in paths:
        match = re.fullmatch(r"(\d{4})-[a-z0-9-]+\.md", path.name)
        assert match, f"{path.name} is not named 0001-what-was-decided.md"
        numbers.append(match[1])
        assert re.match(rf"# {int(match[1])}\. \S", path.read_text("utf-8")), (
            f"{path.name} starts with `# {int(match[1])}. What was decided`"
        )
    assert len(numbers) == len(set(numbers)), "two decisions have the same number"


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## [Unreleased]" in text


def test_the_lock_files_answer_the_requirements() -> None:
    assert check_locks.problems() == []


def test_the_readme_has_no_place_left_to_fill() -> None:
    assert "<!-- lead:" not in (ROOT / "README.md").read_text("utf-8")


def flat(tree: object, path: str = "") -> list[str]:
    """Paths of the values in a tree, as docs/configuration.md writes them."""
    if isinstance(tree, dict) and not path.startswith(("persona.topics", "persona.suggested")):
        return [key for name, value in tree.items()
                for key in flat(value, f"{path}.{name}" if path else name)]  # fmt: skip
    if isinstance(tree, list) and tree and isinstance(tree[0], dict):
        return flat(tree[0], f"{path}[]")
    return [path]


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE):
        kept = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(kept.replace(" ", "-"))
    return found


def named_files(text: str) -> list[str]:
    """Paths of this repository that a page names as code."""
    found = []
    for code in IN_CODE.findall(text):
        word = code.split()[0] if code.split() else ""
        name = word.split("#", 1)[0].split(":", 1)[0].rstrip("/,")
        if name.startswith(TOP) and not re.search(r"[*<{…$]", name):
            found.append(name)
    return found
