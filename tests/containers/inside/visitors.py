"""Many visitors with addresses of their own; run in a container that has the gateway's address.

    python visitors.py count KIND...   how many of each kind the bot allows
    python visitors.py crowd VISITORS QUESTION   all of them ask the model at once

The bot believes X-Forwarded-For from this one address, so these are visitors as Caddy would name them.
Prints one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from ipaddress import IPv6Address

import httpx

URL = "http://bot:7331/api/chat"
AT_ONCE = 50
LAST_WAIT_SECONDS = 240.0
FIRST = int(IPv6Address("2001:db8:77::"))
KINDS: dict[str, list[str]] = {
    "one /64": [str(IPv6Address(FIRST + 1 + n)) for n in range(300)],
    "300 /64 of one /48": [str(IPv6Address(int(IPv6Address("2001:db8:78::")) + (n << 64)))
                           for n in range(300) for _ in range(2)],
    "the next /48": ["2001:db8:79::1"] * 3,
    "IPv4 and the same mapped": ["198.51.100.7", "::ffff:198.51.100.7", "::ffff:c633:6407"] * 10,
}  # fmt: skip


def client(connections: int) -> httpx.AsyncClient:
    """Waiting for a free connection is this program's own matter and has no limit."""
    limits = httpx.Limits(max_connections=connections)
    return httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(LAST_WAIT_SECONDS, pool=None))


async def count(kinds: list[str]) -> dict[str, dict[str, float]]:
    """Requests, how many were allowed, and in how many seconds."""
    found = {}
    async with client(AT_ONCE) as http:
        for kind in kinds:
            begun = time.monotonic()

            async def one(address: str) -> int:
                # Counted before it is read: a body that is refused costs the bot nothing more.
                headers = {"X-Forwarded-For": address}
                return (await http.post(URL, json={"messages": []}, headers=headers)).status_code

            codes = Counter(await asyncio.gather(*map(one, KINDS[kind])))
            refused = codes.pop(429, 0)
            assert set(codes) <= {400}, codes
            found[kind] = {"requests": len(KINDS[kind]), "allowed": len(KINDS[kind]) - refused,
                           "seconds": time.monotonic() - begun}  # fmt: skip
    return found


async def crowd(visitors: int, question: str) -> dict[str, object]:
    """What each one is told first; all stay until the last one knows, then leave."""
    told: Counter[str] = Counter()
    all_know = asyncio.Event()
    waits: list[float] = []
    body = {"messages": [{"role": "user", "content": question}]}

    async def one(number: int, http: httpx.AsyncClient) -> None:
        headers = {"X-Forwarded-For": f"10.{number // 250}.1.{number % 250}"}
        begun = time.monotonic()
        async with http.stream("POST", URL, json=body, headers=headers) as reply:
            if reply.status_code != 200:
                problem = json.loads(await reply.aread())
                assert int(reply.headers["retry-after"]) >= 1
                hear(f"{reply.status_code} {problem['code']}", begun)
                return
            async for line in reply.aiter_lines():
                event = json.loads(line[5:]) if line.startswith("data:") else {"type": "start"}
                if event["type"] == "start":
                    continue
                hear(event["code"] if event["type"] == "error" else event["type"], begun)
                await all_know.wait()
                return

    def hear(what: str, begun: float) -> None:
        told[what] += 1
        if "busy" in what:
            waits.append(time.monotonic() - begun)
        if told.total() == visitors:
            all_know.set()

    async with client(visitors) as http:
        await asyncio.wait_for(
            asyncio.gather(*(one(number, http) for number in range(visitors))), LAST_WAIT_SECONDS
        )
    return {"told": told, "slowest_refusal": max(waits, default=0.0)}


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    work = count(rest) if command == "count" else crowd(int(rest[0]), rest[1])
    print(json.dumps(asyncio.run(work)))
