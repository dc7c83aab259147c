"""`python -m indexer` and the console script `chat-bot-index`."""

from __future__ import annotations

import sys

from indexer.cli import main as run_command


def main() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(run_command())


if __name__ == "__main__":
    main()
