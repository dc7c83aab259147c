"""Visits to a running bot, as the widget makes them: whole, or left at a moment of one's choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.live_server import NO_CERTIFICATES, question
from tests.sse_client import read_sse, without_comments

VISIT_SECONDS = 900.0
"""Longest silence in a stream; reached by a failure only."""
Event = dict[str, Any]


class Answer:
    """A stream from its first event to its last."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(event["content"] for event in self.events if event["type"] == "chunk")

    @property
    def documents(self) -> list[str]:
        """What the answer rests on, by its last word about it."""
        found: list[str] = []
        for event in self.events:
            if event["type"] == "sources":
                found = event["documents"]
        return found

    @property
    def ends(self) -> list[Event]:
        """The events that end a stream; one, where all is well."""
        return [event for event in self.events if event["type"] in ("done", "error")]


@contextmanager
def visit(url: str, text: str, visitor: str = "198.51.100.1") -> Iterator[Iterator[Event]]:
    """Ask, and read events; whoever leaves the block early closes the connection."""
    with httpx.stream(
        "POST", f"{url}/api/chat", json=question(text), timeout=VISIT_SECONDS, trust_env=False,
        verify=NO_CERTIFICATES, headers={"x-forwarded-for": visitor},
    ) as response:  # fmt: skip
        assert response.status_code == 200, response.read()
        yield read_sse(response.iter_bytes())


def wait_for(events: Iterator[Event], kind: str) -> Event:
    """Read until an event of this kind."""
    seen = []
    for event in events:
        if event["type"] == kind:
            return event
        seen.append(event["type"])
    raise AssertionError(f"no {kind} after {seen}")


def ask(url: str, text: str, visitor: str = "198.51.100.1") -> Answer:
    """The whole answer."""
    with visit(url, text, visitor) as events:
        return Answer(without_comments(events))
