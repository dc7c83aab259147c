"""Find a llama-server that runs on this machine, or build one.

In this order: ``LLAMA_SERVER``, PATH, what an earlier run left in the cache, the official image
where a Docker engine can pull it, built from source. ``python -m native.llama_server`` prints the
path on stdout and everything else on stderr.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from native.llama_build import build, cpu_switches
from native.llama_errors import LlamaServerError
from native.llama_image import from_image

NAME = "llama-server"
BUILD = "llama-server-11434"
CPU_NOTE = "cpu-switches.txt"
VERSION_TIMEOUT_SECONDS = 20

EPILOG = """\
exit codes:
  0  path printed
  2  a compiler, make or pip is missing
  4  the source is not the expected one, or the build failed
  5  nothing could be downloaded
  6  disk too small
  130, 143  interrupted; nothing half-done is left

environment:
  LLAMA_SERVER         a llama-server to use instead of looking for one
  PORTFOLIO_BOT_CACHE  where a built one is kept (default ${XDG_CACHE_HOME:-~/.cache}/portfolio-bot)
"""


def find_or_build(
    environment: Mapping[str, str] | None = None, say: Callable[[str], None] | None = None
) -> Path:
    """Return a llama-server that answers ``--version``; raises `LlamaServerError` otherwise.

    May take minutes (a build), once a machine; the second call takes a fraction of a second.
    """
    env = os.environ if environment is None else environment
    tell = say or _say
    for candidate, whence in _given(env):
        if usable(candidate, whence, tell):
            return candidate
    cache = cache_folder(env)
    _drop_build_of_another_cpu(cache / BUILD, tell)
    for binary in (cache / BUILD / NAME, cache / f"{BUILD}-image" / NAME):
        if binary.exists() and usable(binary, "cache", tell):
            return binary
    with _locked(cache, tell):
        # The one that held the lock before may have built it meanwhile.
        binary = cache / BUILD / NAME
        if binary.exists() and usable(binary, "cache", tell):
            return binary
        copied = from_image(cache / f"{BUILD}-image", tell)
        if copied is not None:
            if usable(copied, "official image", tell):
                return copied
            shutil.rmtree(copied.parent, ignore_errors=True)
        built = build(binary, tell)
        (built.parent / CPU_NOTE).write_text(" ".join(cpu_switches()))
    if not usable(built, "built", tell):
        raise LlamaServerError(
            f"{built} was built but does not run: set LLAMA_SERVER to one that does"
        )
    return built


def _drop_build_of_another_cpu(folder: Path, say: Callable[[str], None]) -> None:
    """Remove a cached build made for other CPU features: it would die of SIGILL at its first product.

    A home folder moves between machines, and a virtual machine's CPU can change under it.
    """
    note = folder / CPU_NOTE
    if note.is_file() and note.read_text() != " ".join(cpu_switches()):
        say(f"cache: {folder} was built for another CPU: removed")
        shutil.rmtree(folder, ignore_errors=True)


def usable(binary: Path, whence: str, say: Callable[[str], None]) -> bool:
    """Return whether ``binary --version`` works; says which version, or why it is passed over."""
    try:
        done = subprocess.run(
            [str(binary), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=VERSION_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        say(f"{whence}: {binary} did not answer --version: passed over")
        return False
    except OSError as error:
        say(f"{whence}: {binary} can't be run ({error.strerror}): passed over")
        return False
    lines = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode != 0:
        reason = lines[-1] if lines else f"code {done.returncode}"
        say(f"{whence}: {binary} does not run here ({reason}): passed over")
        return False
    version = next((line for line in lines if line.startswith("version")), "version unknown")
    say(f"{whence}: {binary} ({version})")
    return True


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return where this machine keeps what was built."""
    own = environment.get("PORTFOLIO_BOT_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "portfolio-bot"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m native.llama_server",
        description=(__doc__ or "").splitlines()[0],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        print(find_or_build())
    except LlamaServerError as error:
        _say(f"error: {error}")
        return error.exit_code
    except OSError as error:
        _say(
            f"error: {error.filename or cache_folder(os.environ)}: {error.strerror}; set "
            f"PORTFOLIO_BOT_CACHE to a folder that can be written to"
        )
        return 2
    except KeyboardInterrupt:
        _say("interrupted: nothing half-done is left")
        return 130
    return 0


def _given(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    named = environment.get("LLAMA_SERVER")
    if named:
        # A bare name is looked up as a shell would; a path is taken as it is.
        yield Path(shutil.which(named, path=environment.get("PATH")) or named), "LLAMA_SERVER"
    found = shutil.which(NAME, path=environment.get("PATH"))
    if found:
        yield Path(found), "PATH"


@contextmanager
def _locked(cache: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Let one process build at a time; the kernel drops the lock with the process."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{BUILD}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another process is building llama-server: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception instead of sudden death: the build is ended and cleaned up too.
    sys.exit(128 + number)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
