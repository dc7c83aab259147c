"""Is a local port free, and if not, which program holds it?"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

LISTENING = "0A"
PROC = Path("/proc")


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on `host:port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the servers do: a port whose last connections are still being closed counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now, chosen by the system."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def holder(port: int, proc: Path = PROC) -> str:
    """The program that listens on `port`, as `name (process 123)`.

    "another program" where the system does not tell: not Linux, or a process of another user.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    for folder in proc.glob("[0-9]*"):
        if sockets & _open_files(folder):
            with contextlib.suppress(OSError):
                name = (folder / "comm").read_text().strip()
                return f"{name} (process {folder.name})"
    return "another program"


def _open_files(process: Path) -> set[str]:
    found: set[str] = set()
    # Processes and their files go away while they are listed; others' are not ours to see.
    with contextlib.suppress(OSError):
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(str(link.readlink()))
    return found


def _listening_inodes(port: int, proc: Path) -> set[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        try:
            rows = (proc / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            cells = row.split()
            if cells[3] == LISTENING and int(cells[1].rsplit(":", 1)[1], 16) == port:
                found.add(cells[9])
    return found
