"""A bot with a scripted service in a process of its own, for tests that send it signals.

`python -m tests.stopping_app SCRIPT PORT PATIENCE_SECONDS` serves; SCRIPT is `hang` (the model says
nothing) or `deaf` (the service does not even notice that it should stop).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from bot.app import create_app
from bot.chat.admission import Ticket
from bot.chat.events import Chunk, Event
from bot.chat.service import Ask
from bot.cli.serve import run
from bot.log import configure_logging
from corpus.settings import Settings
from tests.fakes import HANG, SOURCES, Gate, ScriptedChat, fake_ports


class Hanging(ScriptedChat):
    """Every answer stops after its first word."""

    async def answer(self, ask: Ask, ticket: Ticket) -> AsyncGenerator[Event, None]:
        self.enqueue(SOURCES, Chunk(content="one"), HANG)
        async for event in super().answer(ask, ticket):
            yield event


class Deaf(Hanging):
    """Does not end its answers when the server stops, as during a long prompt."""

    async def _interrupted(self, step: float | str | Gate) -> bool:
        await asyncio.Event().wait()
        return False


if __name__ == "__main__":
    configure_logging("json")
    settings = Settings()
    settings = replace(settings, server=replace(settings.server, port=int(sys.argv[2])))
    kind = {"hang": Hanging, "deaf": Deaf}[sys.argv[1]]
    app = create_app(settings, fake_ports(), make_service=kind)
    run(app, settings, patience_seconds=float(sys.argv[3]))
