"""A small site and a chat server that comes back, for what goes wrong with a real model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from corpus.embedding import EmbeddingClient
from corpus.settings import KnownAnswerSettings, Settings
from indexer import job
from indexer.chat_tokens import ChatTokenCounter
from native.chosen import chosen_models
from native.ports import free_port
from native.servers import chat_command
from tests.chat_process import SupervisedChat
from tests.conftest import (
    PROFILE,
    ROOT,
    ModelServer,
    models_folder,
    needed_llama_server,
)
from tests.disk_faults import small_volume

VOLUME_MEGABYTES = 256
PATIENT_SECONDS = 1800.0
LONG_PAGES = ("clothes-shop.md", "tide-map.md")
SHORT_PAGES = {
    "boats.md": """---
title: The harbour's boats
lang: en
---

The harbour shop rents boats from May to September. The red boat costs 35 euros an hour. The blue boat costs
21 euros an hour. The green boat costs 49 euros an hour. All boats are back before sunset.
""",
    "bakery.md": """---
title: The village bakery
lang: en
---

The village bakery opens at seven. The rye bread costs 6 euros a loaf. The wheat bread costs 4 euros a loaf.
The oven is heated with beech wood. On Sundays nothing is baked.
""",
}


@pytest.fixture(scope="module")
def states_volume(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bool]]:
    """Folder of the prompt states, and whether it is a small volume of its own."""
    folder = tmp_path_factory.mktemp("states-volume")
    with small_volume(folder, VOLUME_MEGABYTES) as mounted:
        yield folder, mounted


@pytest.fixture(scope="module")
def chat(
    states_volume: tuple[Path, bool], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SupervisedChat]:
    """The chat server of the small profile, with prompt states, started again whenever it ends."""
    binary = needed_llama_server()
    models = chosen_models(PROFILE, models_folder())
    command = chat_command(
        binary, models.chat_path, port=free_port(),
        context_tokens=models.chat_traits.context_size_tokens, states=states_volume[0],
    )  # fmt: skip
    with SupervisedChat(command, tmp_path_factory.mktemp("chat") / "server.log") as server:
        yield server


@pytest.fixture(scope="module")
def small_site(
    chat: SupervisedChat,
    embed_server: ModelServer,
    states_volume: tuple[Path, bool],
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    """Settings of two short pages and two long ones, indexed; deadlines of a crowded test machine."""
    content, index = tmp_path_factory.mktemp("content"), tmp_path_factory.mktemp("index")
    for folder in ("projects", "docs", "posts"):
        (content / folder).mkdir()
    for name, text in SHORT_PAGES.items():
        (content / "projects" / name).write_text(text, "utf-8")
    for name in LONG_PAGES:
        shutil.copy(ROOT / "data/projects" / name, content / "projects")
    base = Settings()
    provider = replace(
        base.provider, endpoint=chat.url, states_path=str(states_volume[0]), warm_when_idle=False,
        first_token_seconds=PATIENT_SECONDS, total_seconds=PATIENT_SECONDS, max_tokens=200,
    )  # fmt: skip
    limits = replace(
        base.server.rate_limit, requests_per_minute=6000, burst=1000, model_seconds_per_minute=6000
    )
    settings = replace(
        base,
        rag=replace(
            base.rag, data_path=str(content / "projects"), docs_path=str(content / "docs"),
            posts_path=str(content / "posts"), index_path=str(index),
        ),
        embeddings=replace(base.embeddings, endpoint=embed_server.url, query_timeout_seconds=60.0),
        providers=(provider,),
        server=replace(base.server, rate_limit=limits, queue_seconds=PATIENT_SECONDS),
        known_answers=KnownAnswerSettings(enabled=False),
    )  # fmt: skip
    with EmbeddingClient(settings.embeddings) as client, ChatTokenCounter(provider) as counter:
        report = job.run(settings, client=client, chat=counter)
    assert not report.keyword_only
    return settings
