"""One answer as a visitor got it, gathered from the events of its stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

MARK = re.compile(r"\[(\d{1,4})\]")
PREPARED = frozenset({"greeting", "thanks", "goodbye", "identity", "refusal", "catalogue"})
"""Routes whose words come from the program and not from a model or a passage."""
WRITTEN = frozenset({"answer", "known"})
"""Routes whose words are a model's, so that a refusal may be in them."""


class Shown(Struct, frozen=True, kw_only=True):
    """A passage as the `sources` event names it; `n` is the number of `[n]`."""

    n: int
    title: str
    section: str
    url: str
    lang: str
    quote: str


class Answer(Struct, frozen=True, kw_only=True):
    """What came back for one question; times in milliseconds since it was sent."""

    text: str = ""
    route: str = ""
    documents: tuple[str, ...] = ()
    passages: tuple[Shown, ...] = ()
    """Of the last `sources` event: what `[n]` refers to."""
    offered: tuple[Shown, ...] = ()
    """Of all `sources` events: what the answer may rest on."""
    conversation_id: str = ""
    first_word_ms: float | None = None
    total_ms: float = 0.0
    error: str = ""
    """Code of the failure; empty for an answer that ended well."""
    retry_after_seconds: float | None = None
    """The bot refused for now and says when to come back."""

    @property
    def cited(self) -> tuple[int, ...]:
        """Numbers that stand in the text, each once, in order."""
        return tuple(dict.fromkeys(int(n) for n in MARK.findall(self.text)))


def gather(events: Iterable[dict[str, Any]], clock: Callable[[], float]) -> Answer:
    """The whole answer; a stream that ends without its last event has the error `broken-off`."""
    began = clock()
    pieces: list[str] = []
    found: dict[str, Any] = {"error": "broken-off"}
    offered: dict[Shown, None] = {}
    for event in events:
        match event["type"]:
            case "start":
                found["conversation_id"] = event["conversation_id"]
            case "sources":
                passages = tuple(_shown(passage) for passage in event["passages"])
                found |= {"documents": tuple(event["documents"]), "passages": passages}
                offered |= dict.fromkeys(passages)
            case "chunk":
                found.setdefault("first_word_ms", 1000 * (clock() - began))
                pieces.append(event["content"])
            case "done":
                found |= {"route": event["route"], "error": ""}
            case "error":
                found["error"] = event["code"]
                found["retry_after_seconds"] = event.get("retry_after_seconds")
    return Answer(
        text="".join(pieces), offered=tuple(offered), total_ms=1000 * (clock() - began), **found
    )


def _shown(passage: dict[str, Any]) -> Shown:
    return Shown(**{name: passage[name] for name in Shown.__struct_fields__})
