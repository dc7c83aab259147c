"""Ask a running bot over HTTP and read its stream of events."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import httpx

Events = Generator[dict[str, Any], None, None]
TIMEOUT = httpx.Timeout(60.0, connect=2.0)  # between two bytes; the bot sends something every 10 s


class NoBot(Exception):
    """Nothing, or something else, answers at that address."""


def ask_bot(
    base: str,
    question: str,
    *,
    history: Sequence[Mapping[str, str]] = (),
    conversation_id: str = "",
    language: str = "",
) -> Events:
    """Events of the answer, to be closed; a problem document becomes an `error` event.

    Args:
        history: earlier messages, as `role` and `content`.
        language: the browser's, for questions that give no sign of theirs.

    Raises:
        NoBot: before the first event.
    """
    body: dict[str, Any] = {"messages": [*history, {"role": "user", "content": question}]}
    if conversation_id:
        body["conversation_id"] = conversation_id
    headers = {"accept-language": language} if language else {}
    # Loading the certificate store takes 0.1 s, which plain http on this machine need not wait for.
    client = httpx.Client(timeout=TIMEOUT, trust_env=False, verify=base.startswith("https:"))
    try:
        request = client.build_request("POST", f"{base}/api/chat", json=body, headers=headers)
        response = client.send(request, stream=True)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        client.close()
        raise NoBot(f"no bot answers at {base}") from error
    return _events(client, response, base)


def _events(client: httpx.Client, response: httpx.Response, base: str) -> Events:
    with closing(client), closing(response):
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            try:
                yield from read_events(response.iter_bytes())
            except httpx.HTTPError:
                return  # cut; the caller misses the last event and says so
        else:
            yield _problem(response, base)


def describe_bot(base: str) -> dict[str, Any]:
    """What `GET /api/info` tells: name, model, topics.

    Raises:
        NoBot: nothing, or something else, answers at that address.
    """
    verify = base.startswith("https:")
    try:
        with httpx.Client(timeout=TIMEOUT, trust_env=False, verify=verify) as client:
            found = client.get(f"{base}/api/info").raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise NoBot(f"no bot answers at {base}") from error
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise NoBot(f"{base} is not a portfolio-bot")
    return found


def _problem(response: httpx.Response, base: str) -> dict[str, Any]:
    wait = response.headers.get("retry-after", "")
    event: dict[str, Any] = {"type": "error", "retryable": False}
    if wait.isdigit():
        event["retry_after_seconds"] = float(wait)
    try:
        problem = json.loads(response.read())
        message = problem.get("detail") or problem["title"]
        return event | {"code": problem["code"], "message": message}
    except (ValueError, KeyError, AttributeError, httpx.HTTPError):
        return event | {"code": "not-a-bot", "message": f"{base} is not a portfolio-bot"}


def read_events(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Events of an SSE body, framed on bytes: `iter_lines` breaks at U+2028 inside the JSON."""
    pending = b""
    for piece in pieces:
        pending += piece
        *blocks, pending = pending.split(b"\n\n")
        for block in blocks:
            if block.startswith(b"data:"):
                yield json.loads(block[5:])
