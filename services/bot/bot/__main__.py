"""`python -m bot` is the `chat-bot` command."""

from __future__ import annotations

from bot.cli.main import main

if __name__ == "__main__":
    main()
