"""Composition: the settings in, every concrete adapter out, opened and closed in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import zip_longest
from pathlib import Path

from bot.adapters.embedder import LlamaEmbedder
from bot.adapters.feedback_file import VoteFile
from bot.adapters.index_source import FolderIndexSource
from bot.adapters.known_answers import open_known_answers
from bot.adapters.llamacpp import LlamaServer
from bot.adapters.redis_meter import MeteredModel
from bot.adapters.redis_state import State, open_state
from bot.adapters.reindexer import SubprocessReindexer
from bot.adapters.states.build import open_states
from bot.chat.ports import ChatServer, Ports
from corpus.settings import FeedbackSettings, Settings


@asynccontextmanager
async def open_ports(
    settings: Settings, config_path: Path | None = None
) -> AsyncGenerator[Ports, None]:
    """All ports for one life of the application; what is missing outside is no reason to fail.

    Servers that are down, Redis among them, and an absent index show in the ports' own checks, so
    the bot starts in any order with them. `config_path` is handed to the indexer.
    """
    index = FolderIndexSource(Path(settings.rag.index_path), settings.embeddings)
    async with AsyncExitStack() as stack:
        state = await stack.enter_async_context(open_state(settings))
        first, *more = await _chat_servers(settings, state, stack)
        embedder = await stack.enter_async_context(
            LlamaEmbedder(settings.embeddings, on_recovery=index.expect_other_embedder)
        )
        stack.callback(index.close)
        await asyncio.to_thread(index.refresh)
        watcher = asyncio.create_task(index.run(embedder), name="index-watcher")
        stack.push_async_callback(_stop, watcher)
        yield Ports(
            model=first.model,
            states=first.states,
            more_servers=tuple(more),
            embedder=embedder,
            index=index,
            limiter=state.limiter,
            conversations=state.conversations,
            answers=state.answers,
            journal=_journal(settings.feedback),
            shared=state.shared,
            known=open_known_answers(settings.known_answers),
            reindexer=SubprocessReindexer(config_path, on_published=lambda: index.look(embedder)),
        )


async def _chat_servers(
    settings: Settings, state: State, stack: AsyncExitStack
) -> list[ChatServer]:
    """Each with its own slot and connections; the disk and the budget are common to all."""
    servers = []
    all_states = await stack.enter_async_context(open_states(settings))
    for provider, states in zip_longest(settings.provider.servers(), all_states):
        server = await stack.enter_async_context(
            LlamaServer(provider, on_stream=states.used if states else lambda: None)
        )
        model = MeteredModel(server, state.budget)
        stack.push_async_callback(model.aclose)
        servers.append(ChatServer(model=model, states=states))
    return servers


def _journal(settings: FeedbackSettings) -> VoteFile | None:
    if settings.store != "questions" or settings.path is None:
        return None
    return VoteFile(Path(settings.path), max_file_bytes=settings.max_file_bytes)


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
