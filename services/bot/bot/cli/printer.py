"""Show one answer in a terminal as its events come, or as one JSON document at the end."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from bot.cli.options import EXIT_REFUSED, EXIT_UNREACHABLE, CommandFailed
from corpus.language import detect_language
from corpus.text import clean

UNREACHABLE_CODES = ("model-", "busy", "restarting", "context-overflow", "internal-error", "not-a-")


class AnswerPrinter:
    """Takes the events of one answer; `finish` ends the output."""

    def __init__(self, question: str, *, as_json: bool) -> None:
        self._question = question
        self._as_json = as_json
        self._ended = False
        self._waiting = False
        self._reply: dict[str, Any] = {
            "content": "",
            "sources": [],
            "passages": [],
            "usage": {},
            "conversation_id": "",
        }

    def take(self, event: dict[str, Any]) -> None:
        """Show one event.

        Raises:
            CommandFailed: it is an `error` event; exit code 5, or 1 when the request was refused.
        """
        match event["type"]:
            case "start":
                self._reply["conversation_id"] = event["conversation_id"]
            case "sources":
                self._reply["sources"] = event["documents"]
                self._reply["passages"] = event["passages"]
            case "queued":
                self._wait(f"place {event['position']}, about {event['eta_seconds']:.0f} s")
            case "progress":
                self._wait(f"reading, {event['processed']} of {event['total']} tokens")
            case "chunk":
                self._wait("")
                self._reply["content"] += event["content"]
                if not self._as_json:
                    click.echo(printable(event["content"]), nl=False)
            case "done":
                self._reply["usage"] = event["usage"]
                self._ended = True
            case "error":
                self._fail(event)

    def finish(self) -> None:
        """Print the sources, or the document.

        Raises:
            CommandFailed: exit code 5, the stream ended without its last event.
        """
        if not self._ended:
            raise CommandFailed("the answer broke off", EXIT_UNREACHABLE)
        if self._as_json:
            click.echo(json.dumps(self._reply, ensure_ascii=False))
            return
        click.echo()
        if passages := self._reply["passages"]:
            spanish = detect_language(self._question) == "es"
            click.echo("\nFuentes:" if spanish else "\nSources:")
            for passage in passages:
                name = " — ".join(part for part in (passage["title"], passage["section"]) if part)
                click.echo(printable(f"  [{passage['n']}] {name}  {passage['url']}".rstrip()))

    def _wait(self, text: str) -> None:
        """Show on a terminal what is being waited for; an empty text clears the line."""
        if sys.stderr.isatty() and (text or self._waiting):
            self._waiting = bool(text)
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    def _fail(self, event: dict[str, Any]) -> None:
        self._wait("")
        if self._reply["content"] and not self._as_json:
            click.echo()
        unreachable = str(event["code"]).startswith(UNREACHABLE_CODES)
        raise CommandFailed(
            f"{printable(event['message'])} ({event['code']})",
            EXIT_UNREACHABLE if unreachable else EXIT_REFUSED,
        )


def printable(text: str) -> str:
    """Without control and escape characters: a page's text must not drive the terminal."""
    return clean(text)
