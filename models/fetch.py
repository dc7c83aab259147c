"""Fetch the models of a profile: ``python -m models.fetch --profile tiny``."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec

from models.acquire import Acquirer
from models.errors import DiskError, ManifestError, ModelsError
from models.installed import (
    Installed,
    Record,
    load_installed,
    save_installed,
    source_of,
    untouched,
)
from models.manifest import DEFAULT_MANIFEST, ROLES, Manifest, Profile, Role, load_manifest
from models.storage import locked, megabytes

DEFAULT_FOLDER = Path(__file__).with_name("files")
# download.DEFAULT_ENDPOINT is the same; importing it would cost 0.2 s when nothing is to be done.
DEFAULT_ENDPOINT = "https://huggingface.co"

EXIT_CODES = """\
exit codes:
  0  done, or nothing to do
  2  bad arguments, manifest or folder
  4  wrong size or sha256: refused, not installed
  5  no source could be reached
  6  disk too small
  130, 143  interrupted; run again, it goes on where it stopped

environment:
  HF_ENDPOINT  base address of the model hub (default https://huggingface.co)
"""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--json`` prints when the models are in place."""

    profile: str
    folder: str
    up_to_date: bool
    files: dict[Role, Record]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        roles: tuple[Role, ...] = (options.only,) if options.only else ROLES
        summary = fetch(
            load_manifest(options.manifest),
            options.profile,
            options.dir,
            roles=roles,
            keep_wheels=options.keep_wheels,
        )
    except ModelsError as error:
        return _failed(error, as_json=options.json)
    except OSError as error:
        return _failed(_translated(error, options.dir), as_json=options.json)
    except KeyboardInterrupt:
        _say("interrupted: run again, it goes on where it stopped")
        return 130
    if options.json:
        print(msgspec.json.encode(summary).decode())
    else:
        print(_report(summary))
    return 0


def fetch(
    manifest: Manifest,
    profile_name: str,
    folder: Path,
    *,
    roles: Sequence[Role] = ROLES,
    keep_wheels: bool = False,
    retry_pause_seconds: float = 1.0,
) -> Summary:
    """Make sure that ``folder`` holds the files of a profile's ``roles``; raises `ModelsError`.

    With everything in place it reads two small files, asks no network and writes nothing.
    """
    profile = manifest.profile(profile_name)
    _warn_of_licences(manifest, profile, roles)
    current = _current(manifest, profile, profile_name, folder, roles, load_installed(folder))
    if current is not None:
        return Summary(profile=profile_name, folder=str(folder), up_to_date=True, files=current)
    endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
    acquirer = Acquirer(
        folder=folder,
        endpoint=endpoint,
        say=_say,
        keep_wheels=keep_wheels,
        retry_pause_seconds=retry_pause_seconds,
    )
    files: dict[Role, Record] = {}
    with locked(folder, _say):
        for role in roles:
            name = profile.model_name(role)
            installed = load_installed(folder)
            files[role] = acquirer.acquire(name, manifest.models[name], installed)
            # Saved after each file: a run that is cut at the second keeps the first.
            save_installed(folder, installed.with_record(profile_name, role, files[role]))
    return Summary(profile=profile_name, folder=str(folder), up_to_date=False, files=files)


def _current(
    manifest: Manifest,
    profile: Profile,
    profile_name: str,
    folder: Path,
    roles: Sequence[Role],
    installed: Installed,
) -> dict[Role, Record] | None:
    """Return the records of all roles when nothing is to be fetched, else None."""
    files: dict[Role, Record] = {}
    for role in roles:
        record = installed.record(profile_name, role)
        name = profile.model_name(role)
        if record is None or record.model != name:
            return None
        if source_of(record, manifest.models[name]) is None or not untouched(record, folder):
            return None
        files[role] = record
    return files


def _warn_of_licences(manifest: Manifest, profile: Profile, roles: Sequence[Role]) -> None:
    for role in roles:
        name = profile.model_name(role)
        licence = manifest.models[name].licence
        if not licence.commercial_use:
            _say(
                f"*** {name}: NON-COMMERCIAL LICENCE ({licence.spdx}: {licence.note}). "
                f"Not for a site that earns money; profile 'default' is free of this. ***"
            )


def _report(summary: Summary) -> str:
    rows = [("role", "file", "size", "licence", "source")]
    for role, record in summary.files.items():
        rows.append(
            (role, record.file, megabytes(record.size_bytes), record.licence.spdx, record.source)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    notes = [
        f"note: {record.file}: {record.licence.note}"
        for record in summary.files.values()
        if record.licence.note
    ]
    state = "up to date" if summary.up_to_date else "installed"
    return "\n".join([*lines, *notes, f"profile {summary.profile}: {state} in {summary.folder}"])


def _failed(error: ModelsError, *, as_json: bool) -> int:
    _say(f"error: {error}")
    if as_json:
        print(msgspec.json.encode({"error": {"code": error.code, "message": str(error)}}).decode())
    return error.exit_code


def _translated(error: OSError, folder: Path) -> ModelsError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskError(
            f"{folder}: {error.strerror}: free some space or pass --dir on another "
            f"disk, then run again"
        )
    return ManifestError(
        f"{error.filename or folder}: {error.strerror}; pass --dir with a folder "
        f"that can be written to"
    )


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception instead of sudden death: pip is stopped too, not left running.
    sys.exit(128 + number)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m models.fetch",
        description="Fetch and check the models of a profile.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--profile",
        default="default",
        help="which models: default, tiny, nomic or 3b (default: %(default)s)",
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help="where the files go (default: models/files)",
    )
    parser.add_argument("--only", choices=ROLES, help="fetch one role only")
    parser.add_argument(
        "--manifest",
        type=Path,
        default=DEFAULT_MANIFEST,
        metavar="FILE",
        help="another manifest (default: models/manifest.yaml)",
    )
    parser.add_argument(
        "--keep-wheels", action="store_true", help="keep the wheels that a file was made of"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    return parser


if __name__ == "__main__":
    sys.exit(main())
