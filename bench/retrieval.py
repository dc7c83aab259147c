"""Retrieval quality, the gate and search time on SQuAD-format files, with the product's own code.

    python -m bench.retrieval --corpus xquad.en.json --questions xquad.es.json [--json]

Needs a running embedding server (settings `embeddings.endpoint`). Prints hit@1/3/5 and MRR for BM25,
dense, reciprocal rank fusion and the product's fusion over the same candidates, the gate's AUC with
every second article left out of the index (its questions are near negatives), and latencies.
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
from bench.squad import Question, build_index, paragraph_of, read_corpus, read_questions
from bot.calibration.fitting import auc
from bot.chat.calibrations import calibration_for
from bot.chat.gate import decide
from bot.chat.search import search
from corpus.embedding import EmbeddingClient
from corpus.language import detect_language
from corpus.model import Language
from corpus.reader import Index
from corpus.settings import RagSettings, Settings
from corpus.settings_file import load_settings
from corpus.text import content_words
from corpus.vectors import Vector

RANKS = (1, 3, 5)
DEPTH = 15  # passages looked at behind the first: as many candidates as the product takes
METHODS = ("bm25", "dense", "rrf", "fusion")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument(
        "--corpus", type=Path, required=True, help="file whose paragraphs are indexed"
    )
    parser.add_argument(
        "--questions", type=Path, required=True, help="file whose questions are asked"
    )
    parser.add_argument("--config", type=Path, help="configuration file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args(arguments)
    settings = load_settings(options.config)
    result = measure(options.corpus, options.questions, settings)
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(corpus: Path, questions: Path, settings: Settings) -> dict[str, Any]:
    """All figures of one pair of files; rates between 0 and 1."""
    paragraphs, place = read_corpus(corpus)
    asked = read_questions(questions, paragraphs, place)
    language = _language_of(asked)
    with EmbeddingClient(settings.embeddings) as client, tempfile.TemporaryDirectory() as folder:
        vectors, embed_ms = _embed(client, settings, asked)
        index = build_index(Path(folder, "all"), paragraphs, settings, client)
        half = build_index(Path(folder, "half"), paragraphs, settings, client,
                           keep=lambda paragraph: paragraph.article % 2 == 0)  # fmt: skip
        try:
            hits, search_ms = _hits(index, asked, vectors, settings.rag, language)
            gate = _gate_auc(half, asked, vectors, settings, language)
            chunks = len(index)
        finally:
            index.close()
            half.close()
    ranks = {method: np.array(found) for method, found in hits.items()}
    return {
        "hit": {m: {str(n): _rate(ranks[m] <= n) for n in RANKS} for m in METHODS},
        "mrr": {m: round(float(np.mean(1 / ranks[m])), 4) for m in METHODS},
        "gate_auc": round(gate, 4),
        "search_ms": percentiles(search_ms),
        "embed_ms": percentiles(embed_ms),
        "questions": len(asked),
        "paragraphs": len(paragraphs),
        "chunks": chunks,
    }


def render(result: dict[str, Any]) -> str:
    """The figures as a table for people."""
    rows = [
        [method, *(f"{100 * result['hit'][method][str(n)]:.1f}" for n in RANKS),
         f"{result['mrr'][method]:.3f}"]
        for method in METHODS
    ]  # fmt: skip
    return "\n".join(
        [
            f"{result['questions']} questions, {result['paragraphs']} paragraphs, {result['chunks']} chunks",
            table(["method", *(f"hit@{n} %" for n in RANKS), "MRR"], rows),
            f"gate AUC, every second article left out: {result['gate_auc']:.4f}",
            f"search without embedding: p50 {result['search_ms']['p50']} ms, "
            f"p95 {result['search_ms']['p95']} ms",
            f"embedding a question: p50 {result['embed_ms']['p50']} ms, p95 {result['embed_ms']['p95']} ms",
        ]
    )


def _language_of(asked: Sequence[Question]) -> Language:
    """The language most questions are detected to be in: a file has one."""
    found = [detect_language(question.text) for question in asked]
    return "es" if found.count("es") > found.count("en") else "en"


def _embed(
    client: EmbeddingClient, settings: Settings, asked: Sequence[Question]
) -> tuple[list[Vector], list[float]]:
    """A vector a question, one request each as the bot sends it, and the milliseconds of each."""
    vectors, taken = [], []
    for question in asked:
        started = time.perf_counter()
        vectors.extend(client.embed([settings.embeddings.query_prefix + question.text]))
        taken.append((time.perf_counter() - started) * 1000)
    return vectors, taken


def _hits(
    index: Index,
    asked: Sequence[Question],
    vectors: Sequence[Vector],
    rag: RagSettings,
    language: Language,
) -> tuple[dict[str, list[float]], list[float]]:
    """Rank of the right paragraph by each method (infinity when it is not found)."""
    deep = msgspec.structs.replace(rag, top_k=DEPTH, fusion="score")
    ranked = msgspec.structs.replace(deep, fusion="rrf")
    hits: dict[str, list[float]] = {method: [] for method in METHODS}
    taken = []
    for question, vector in zip(asked, vectors, strict=True):
        started = time.perf_counter()
        search(index, question.text, vector, msgspec.structs.replace(rag, fusion="score"), language)
        taken.append((time.perf_counter() - started) * 1000)
        bm25 = [
            index.position(chunk)
            for chunk, _ in index.bm25(content_words(question.text), 3 * DEPTH)
        ]
        dense = [int(row) for row in np.argsort(-index.cosines(vector), kind="stable")[: 3 * DEPTH]]
        orders = {
            "bm25": bm25,
            "dense": dense,
            "rrf": _rows(index, question, vector, ranked, language),
            "fusion": _rows(index, question, vector, deep, language),
        }
        for method, rows in orders.items():
            found = list(dict.fromkeys(paragraph_of(index, row) for row in rows))
            hits[method].append(
                found.index(question.paragraph) + 1 if question.paragraph in found else float("inf")
            )
    return hits, taken


def _rows(
    index: Index, question: Question, vector: Vector, rag: RagSettings, language: Language
) -> list[int]:
    evidence = search(index, question.text, vector, rag, language)
    return [index.position(hit.passage.chunk_id) for hit in evidence.hits]


def _gate_auc(
    index: Index,
    asked: Sequence[Question],
    vectors: Sequence[Vector],
    settings: Settings,
    language: Language,
) -> float:
    calibration = calibration_for(settings.embeddings.model, dense=True)
    probabilities = [
        decide(search(index, q.text, vector, settings.rag, language), calibration, None).logit
        for q, vector in zip(asked, vectors, strict=True)
    ]
    return auc(probabilities, [question.article % 2 == 0 for question in asked])


def _rate(mask: Any) -> float:
    return round(float(np.mean(mask)), 4)


if __name__ == "__main__":
    main()
