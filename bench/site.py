"""Retrieval on the sample site's labelled questions, with each idea of the product switched off in turn.

    python -m bench.site [--questions tests/eval/gate.yaml] [--json]

Needs a running embedding server and the published index of the site. A question counts as hit when the
first (third, fifth) passage is of a document that answers it. `cross` are questions in the other
language than the document.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bench.figures import table
from bot.chat.search import Evidence, search
from corpus.embedding import EmbeddingClient
from corpus.language import detect_language
from corpus.model import Language
from corpus.reader import open_index
from corpus.settings import Settings
from corpus.settings_file import load_settings
from corpus.vectors import Vector

RANKS = (1, 3, 5)
Search = Callable[[str, Vector, Language], Evidence]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.site", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--questions", type=Path, default=Path("tests/eval/gate.yaml"))
    parser.add_argument("--config", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = load_settings(options.config)
    labelled = yaml.safe_load(options.questions.read_text())["questions"]
    asked = [question for question in labelled if question["label"] == "answerable"]
    with EmbeddingClient(settings.embeddings) as client:
        prefix = settings.embeddings.query_prefix
        vectors = [client.embed([prefix + question["question"]])[0] for question in asked]
    result = measure(asked, vectors, settings)
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(asked: Sequence[Any], vectors: Sequence[Vector], settings: Settings) -> dict[str, Any]:
    """Hit rates 0–1 by variant, kind of question and rank."""
    folder, rag = Path(settings.rag.index_path), settings.rag
    index, bare = open_index(folder), open_index(folder)
    bare.without_crumbs()
    rrf = msgspec.structs.replace(rag, fusion="rrf")
    variants: dict[str, Search] = {
        "product": lambda q, v, lang: search(index, q, v, rag, lang),
        "without breadcrumb vectors": lambda q, v, lang: search(bare, q, v, rag, lang),
        "without levelling languages": lambda q, v, lang: search(index, q, v, rag, None),
        "rank fusion (RRF)": lambda q, v, lang: search(index, q, v, rrf, lang),
        "keywords only": lambda q, v, lang: search(index, q, None, rag, lang),
    }
    try:
        return {name: _rates(run, asked, vectors, settings) for name, run in variants.items()}
    finally:
        index.close()
        bare.close()


def render(result: dict[str, Any]) -> str:
    """The rates as a table for people."""
    rows = [
        [
            name,
            *(
                f"{100 * rates[kind][str(rank)]:.0f}"
                for kind in ("same", "cross")
                for rank in RANKS
            ),
        ]
        for name, rates in result.items()
    ]
    head = ["", *(f"{kind} @{rank} %" for kind in ("same", "cross") for rank in RANKS)]
    return table(head, rows)


def _rates(
    run: Search, asked: Sequence[Any], vectors: Sequence[Vector], settings: Settings
) -> dict[str, dict[str, float]]:
    ranks: dict[str, list[float]] = {"same": [], "cross": []}
    for question, vector in zip(asked, vectors, strict=True):
        language = detect_language(question["question"]) or settings.rag.default_language
        evidence = run(question["question"], vector, language)
        names = [hit.passage.document.name for hit in evidence.hits]
        found = [
            place for place, name in enumerate(names, start=1) if name in question["documents"]
        ]
        ranks["cross" if question.get("cross") else "same"].append(
            found[0] if found else float("inf")
        )
    return {
        kind: {
            str(rank): round(sum(place <= rank for place in places) / len(places), 4)
            for rank in RANKS
        }
        for kind, places in ranks.items()
    }


if __name__ == "__main__":
    main()
