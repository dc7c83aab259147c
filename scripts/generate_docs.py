"""Write the generated pages of docs/: `python -m scripts.generate_docs`, or `--check` them."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts import cli_reference, settings_reference

ROOT = Path(__file__).resolve().parent.parent


def pages() -> dict[Path, str]:
    """Every generated file with the text it must have."""
    return {
        ROOT / "docs/configuration.md": settings_reference.render(),
        ROOT / "docs/cli.md": cli_reference.render(),
    }


def difference(path: Path, text: str) -> str:
    """What is stale in `path`, as a diff; empty when nothing is."""
    now = path.read_text("utf-8") if path.exists() else ""
    name = str(path.relative_to(ROOT))
    lines = difflib.unified_diff(
        now.splitlines(), text.splitlines(), name, f"{name} (from the code)", lineterm=""
    )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; with `--check` only say whether they are stale, by exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m scripts.generate_docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, show what is stale")
    options = parser.parse_args(arguments)
    stale = {path: text for path, text in pages().items() if difference(path, text)}
    for path, text in stale.items():
        if options.check:
            print(difference(path, text))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    if options.check and stale:
        print("stale: run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
