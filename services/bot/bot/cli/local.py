"""Answer in this process: the same service as the server's, without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from bot.adapters.build import open_ports
from bot.chat.service import Ask, ChatService
from corpus.settings import Settings
from corpus.text import clean


def ask_here(
    settings: Settings,
    config_path: Path | None,
    question: str,
    *,
    use_retrieval: bool,
    take: Callable[[dict[str, Any]], None],
) -> None:
    """Answer, giving each event to `take` as the wire would have it, as soon as it is there.

    Raises:
        ChatError: the answer could not start.
    """
    asyncio.run(_answer(settings, config_path, question, use_retrieval, take))


async def _answer(
    settings: Settings,
    config_path: Path | None,
    question: str,
    use_retrieval: bool,
    take: Callable[[dict[str, Any]], None],
) -> None:
    # One task from start to end: deadlines inside the service belong to the task that set them.
    async with open_ports(settings, config_path) as ports:
        service = ChatService(settings, ports)
        ticket = service.admit()
        try:
            ask = Ask(question=clean(question).strip(), use_retrieval=use_retrieval)
            async with aclosing(service.answer(ask, ticket)) as answer:
                async for event in answer:
                    take(msgspec.to_builtins(event))
        finally:
            ticket.release()
