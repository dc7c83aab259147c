"""The command lines of the two llama-servers, for the build pinned in native/llama_server.py.

Defaults of llama-server that do not fit a small machine, hence the flags: 4 slots with a shared
cache, the model's whole context, 8 GiB of prompt cache in memory, CORS for everyone, a web page.
"""

from __future__ import annotations

import os
from pathlib import Path

HOST = "127.0.0.1"
CHAT_THREADS_MAX = 8
EMBED_THREADS_MAX = 4
"""Embedding a question takes 33 ms on two threads: more would take them from the answer."""

CLOSED = (
    "--device", "none",
    "--offline",
    "--no-webui",
    "--no-slots",
    "--cors-origins", "",  # an empty list: no page in a browser may talk to it
    "--no-cors-credentials",
    "--cache-ram", "0",
    "--parallel", "1",
    "--log-colors", "off",
    "--log-prefix",
    "--log-timestamps",
)  # fmt: skip
"""No GPU, no network, no page, no second slot; log lines whose level can be read."""

CHAT = (
    "--no-repack",  # 1.34 GB instead of 1.95 GB with the 1.5B model, prefill not slower (measured)
    "-b", "64",  # who leaves during prefill frees the model within a batch, 1 s; with 2048: 13 s
    "-ub", "64",
    "-fa", "off",  # a question behind a page is read 13 % sooner (measured), a page as fast
)  # fmt: skip

EMBED = (
    "--embeddings",
    "-b", "2048",  # an input over the micro-batch is refused with 500
    "-ub", "2048",
)  # fmt: skip


EMBED_ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE"}
"""OpenMP's threads spin while they wait; beside a busy chat server on two CPUs the embedder's then
stop each other: indexing the sample site took 360 s instead of 21 (measured at load 6)."""


def thread_count(most: int) -> int:
    """CPUs this process may use, at most `most`."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), most)
    return min(os.cpu_count() or 1, most)


def chat_command(
    binary: Path, model: Path, *, port: int, context_tokens: int, states: Path | None = None
) -> tuple[str, ...]:
    """Serves the language model; `/health` answers 200 once it is loaded.

    `states` is an existing folder for prompt states: only with it may they be saved and restored.
    """
    threads = thread_count(CHAT_THREADS_MAX)
    saving = () if states is None else ("--slot-save-path", f"{states}/")
    return (*_common(binary, model, port, context_tokens, threads), *CHAT, *saving)


def embed_command(
    binary: Path, model: Path, *, port: int, context_tokens: int, pooling: str
) -> tuple[str, ...]:
    """Serves the embedding model; `context_tokens` is the longest input it takes."""
    threads = thread_count(EMBED_THREADS_MAX)
    common = _common(binary, model, port, context_tokens, threads)
    return (*common, *EMBED, "--pooling", pooling)


def _common(binary: Path, model: Path, port: int, context: int, threads: int) -> tuple[str, ...]:
    address = ("--host", HOST, "--port", str(port))
    return (str(binary), "-m", str(model), *address, "-c", str(context), "-t", str(threads),
            *CLOSED)  # fmt: skip
