"""Memory of the bot process with an index of 1,000 chunks, at start and after 100 answers.

    python -m bench.memory [--chunks 1000] [--answers 100] [--json]

The bot is the real `chat-bot serve` in a process of its own; the model servers are stand-ins in this
process that speak llama-server's wire format, so that only the bot is measured.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import psutil

from bench.figures import table
from corpus.model import PROBE_TEXT, Chunk, Document, EmbeddingIdentity, IndexMeta
from corpus.schema import SCHEMA_VERSION
from corpus.settings import Settings
from corpus.vectors import Vector, unit
from corpus.writer import HashedVector, IndexBatch, IndexEntry, publish
from tests.fake_llama import FakeLlama, Reply

CHUNKS_PER_DOCUMENT = 8
WINDOWS_PER_CHUNK = 3
START_SECONDS = 20
WORDS = ("harbour", "river", "engine", "garden", "window", "silver", "market", "bridge")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.memory", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.chunks, options.answers)
    if options.json:
        print(msgspec.json.encode(result).decode())
        return
    rows = [
        ["at start", result["start_mb"]],
        [f"after {options.answers} answers", result["after_mb"]],
    ]
    print(f"{options.chunks} chunks, {result['answered']} answers by the model")
    print(table(["bot process", "RSS MB"], rows))


def measure(chunks: int, answers: int) -> dict[str, Any]:
    """RSS of the bot in megabytes (10^6 bytes) and how many answers the model really gave."""
    with tempfile.TemporaryDirectory() as folder, FakeLlama() as fake:
        publish_index(Path(folder, "index"), chunks, fake)
        with serving(Path(folder), fake) as (process, url):
            started = process.memory_info().rss
            answered = 0
            with httpx.Client(base_url=url, timeout=30) as client:
                for number in range(answers):
                    fake.enqueue(Reply(text=("The harbour", " opened in 1999", " [1].")))
                    question = f"When did the {WORDS[number % len(WORDS)]} number {number} open?"
                    body = {"messages": [{"role": "user", "content": question}]}
                    response = client.post("/api/chat", json=body)
                    answered += '"route":"answer"' in response.text
            ended = process.memory_info().rss
    return {
        "chunks": chunks,
        "answers": answers,
        "answered": answered,
        "start_mb": round(started / 1e6, 1),
        "after_mb": round(ended / 1e6, 1),
    }


def publish_index(folder: Path, chunks: int, fake: FakeLlama) -> None:
    """An index of `chunks` passages of some 200 words with vectors of the usual number and length."""
    folder.mkdir()
    settings = Settings().embeddings
    random = np.random.default_rng(0)

    def vector() -> Vector:
        return unit(random.standard_normal(settings.dimension).astype(np.float32))

    def entry(number: int) -> IndexEntry:
        text = " ".join(f"{WORDS[(number + i) % len(WORDS)]} {number * 31 + i}" for i in range(100))
        return IndexEntry(
            chunk=Chunk(
                heading=f"Part {number}", anchor=f"part-{number}", text=text, ordinal=number
            ),
            text_hash=f"{number}",
            vector=vector(),
            windows=tuple(
                HashedVector(text_hash=f"{number}-{i}", vector=vector())
                for i in range(WINDOWS_PER_CHUNK)
            ),
            crumb=HashedVector(text_hash=f"{number}-c", vector=vector()),
        )

    batches = [
        IndexBatch(
            document=Document(
                path=f"posts/{n}.md", kind="post", title=f"Post {n}", url=f"/p/{n}", lang="en"
            ),
            entries=tuple(entry(i) for i in range(n, min(n + CHUNKS_PER_DOCUMENT, chunks))),
        )
        for n in range(0, chunks, CHUNKS_PER_DOCUMENT)
    ]
    identity = EmbeddingIdentity(
        model=settings.model, dimension=settings.dimension, query_prefix=settings.query_prefix,
        passage_prefix=settings.passage_prefix,
        probe=tuple(float(x) for x in unit(list(fake.vector_of(PROBE_TEXT)))),
    )  # fmt: skip
    meta = IndexMeta(
        schema_version=SCHEMA_VERSION, chunker_version=0, embedding=identity, documents=len(batches),
        chunks=chunks, vectors=chunks, source_hash="benchmark", built_at="1970-01-01T00:00:00Z",
    )  # fmt: skip
    publish(folder, meta, batches)


@contextmanager
def serving(folder: Path, fake: FakeLlama) -> Iterator[tuple[psutil.Process, str]]:
    """The bot as its own process on a free port, answering every question from the index."""
    port = _free_port()
    environment = os.environ | {
        "PORTFOLIO_BOT__RAG__INDEX_PATH": str(folder / "index"),
        "PORTFOLIO_BOT__RAG__THRESHOLD": "0",
        "PORTFOLIO_BOT__PROVIDERS__0__ENDPOINT": fake.url,
        "PORTFOLIO_BOT__EMBEDDINGS__ENDPOINT": fake.url,
        # The stand-in's answers are for the questions asked here.
        "PORTFOLIO_BOT__PROVIDERS__0__WARM_WHEN_IDLE": "false",
        "PORTFOLIO_BOT__SERVER__RATE_LIMIT__BURST": "1000000",
        "PORTFOLIO_BOT__SERVER__RATE_LIMIT__REQUESTS_PER_MINUTE": "1000000",
    }
    command = [sys.executable, "-m", "bot", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(url, server)
            yield psutil.Process(server.pid), url
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"{url}/api/health", timeout=3).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    sys.exit(f"the bot did not become healthy within {START_SECONDS} s")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    main()
