"""Fetch the models of ``$PROFILE`` and name them for the llama-server containers.

The file names differ by source (models/manifest.yaml), but a container's command line is fixed: so
``chat-tiny.gguf`` and ``embed-tiny.gguf`` are links to what was fetched for the profile ``tiny``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from models.fetch import main as fetch
from models.installed import load_installed
from models.manifest import ROLES

FOLDER_VARIABLE = "MODELS_DIR"


def main() -> int:
    """The fetcher's exit code; the links are made only after it succeeded."""
    profile = os.environ.get("PROFILE") or "default"
    folder = Path(os.environ.get(FOLDER_VARIABLE) or "/models")
    # pip's parts are up to 100 MB: in a tmpfs they would count as this container's memory.
    scratch = folder / ".tmp"
    scratch.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(scratch)
    try:
        code = fetch(["--profile", profile, "--dir", str(folder)])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if code == 0:
        link(profile, folder)
    return code


def link(profile: str, folder: Path) -> None:
    """Point ``ROLE-PROFILE.gguf`` at the profile's files; the one before stays until replaced."""
    installed = load_installed(folder)
    for role in ROLES:
        record = installed.record(profile, role)
        if record is None:
            continue
        fresh = folder / f".{role}-{profile}.link"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(record.file)
        fresh.replace(folder / f"{role}-{profile}.gguf")


if __name__ == "__main__":
    sys.exit(main())
