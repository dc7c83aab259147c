"""Time of one search in an index of 1,000 chunks, without the embedding call.

python -m bench.search_time [--chunks 1000] [--searches 500] [--json]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from bench.figures import percentiles, table
from bench.memory import WORDS, publish_index
from bot.chat.search import search
from corpus.reader import open_index
from corpus.settings import Settings
from corpus.vectors import unit
from tests.fake_llama import FakeLlama


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.search_time", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.chunks, options.searches)
    if options.json:
        print(msgspec.json.encode(result).decode())
        return
    rows = [[name, *result[name].values()] for name in ("hybrid_ms", "keywords_ms")]
    print(table([f"{options.chunks} chunks", "p50", "p95"], rows))


def measure(chunks: int, searches: int) -> dict[str, Any]:
    """Milliseconds of a search by words and meaning, and by words only."""
    settings = Settings()
    random = np.random.default_rng(1)
    taken: dict[str, list[float]] = {"hybrid_ms": [], "keywords_ms": []}
    with tempfile.TemporaryDirectory() as folder, FakeLlama() as fake:
        publish_index(Path(folder, "index"), chunks, fake)
        index = open_index(Path(folder, "index"))
        for number in range(searches):
            first, second = WORDS[number % 8], WORDS[(number + 3) % 8]
            question = f"When did the {first} near the {second} number {number} open?"
            vector = unit(random.standard_normal(settings.embeddings.dimension).astype(np.float32))
            for name, given in (("hybrid_ms", vector), ("keywords_ms", None)):
                started = time.perf_counter()
                search(index, question, given, settings.rag, "en")
                taken[name].append((time.perf_counter() - started) * 1000)
        index.close()
    return {"chunks": chunks, **{name: percentiles(values) for name, values in taken.items()}}


if __name__ == "__main__":
    main()
