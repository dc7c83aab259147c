"""Do the lock files still answer requirements/*.in and the packages? Checked without a network.

What only a resolver can say (is there a newer version, do all of them fit) is left to `make lock`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
OWN_PREFIX = "portfolio-bot"
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?P<rest>.*)$")


def wanted(path: Path) -> Iterator[Requirement]:
    """The requirements of an `.in` file, those of included files too."""
    for line in path.read_text("utf-8").splitlines():
        text = line.split("#", 1)[0].strip()
        if text.startswith("-r "):
            yield from wanted(path.with_name(text.removeprefix("-r ").strip()))
        elif text:
            yield Requirement(text)


def locked(path: Path) -> tuple[dict[str, Version], list[str]]:
    """The pins of a lock file by name, and what is wrong with the file itself."""
    pins: dict[str, Version] = {}
    problems = []
    text = path.read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if match := PIN.match(line):
            pins[canonicalize_name(match["name"])] = Version(match["version"])
            if "--hash=sha256:" not in line:
                problems.append(f"{path.name}: {match['name']} has no hash")
    return pins, problems


def unmet(source: str, requirements: Iterator[Requirement], pins: dict[str, Version]) -> list[str]:
    """Requirements without a pin, or with one they do not allow."""
    problems = []
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        if name.startswith(OWN_PREFIX):
            continue
        if name not in pins:
            problems.append(f"{source}: {requirement} is not locked")
        elif not requirement.specifier.contains(pins[name], prereleases=True):
            problems.append(f"{source}: {requirement} does not allow the locked {pins[name]}")
    return problems


def dependencies(path: Path) -> Iterator[Requirement]:
    """What a package of this repository needs."""
    for text in tomllib.loads(path.read_text("utf-8"))["project"].get("dependencies", []):
        yield Requirement(text)


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is wrong, one line each."""
    folder = root / "requirements"
    runtime, found = locked(folder / "runtime.txt")
    dev, more = locked(folder / "dev.txt")
    found += more
    found += unmet("runtime.in", wanted(folder / "runtime.in"), runtime)
    found += unmet("dev.in", wanted(folder / "dev.in"), dev)
    for path in sorted(
        [*root.glob("packages/*/pyproject.toml"), *root.glob("services/*/pyproject.toml")]
    ):
        found += unmet(str(path.relative_to(root)), dependencies(path), runtime)
    found += [
        f"{name}: {version} in runtime.txt, {dev.get(name)} in dev.txt"
        for name, version in runtime.items()
        if dev.get(name) != version
    ]
    return found


def main() -> int:
    """Print what is wrong; 1 when there is something."""
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print("run `make lock`", file=sys.stderr)
        return 1
    print("lock files are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
