"""The `chat-bot` command."""
