"""Flags of llama-server on this machine: what reads a prompt, writes an answer and lets go soonest.

    python -m bench.tuning [--profile default] [--rounds 3] [--only NAME] [--json]

Every variant is the product's command line with one change, run alone, in turn, `rounds` times; medians.
`tail` is a short question behind a page that the slot holds: a warm page's whole wait but the restore.
`freed` is how long the next visitor waits after the one before left in the middle of a long prompt.
The last table is the embedding of a question while the chat server writes an answer.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec

from bench.bots import CONTEXT_TOKENS, EMBED_TOKENS, llama_server, running
from bench.figures import table
from bench.requantised import requantise
from native.chosen import chosen_models
from native.ports import free_port
from native.servers import chat_command, embed_command

READ, LEFT = Path("data/projects/clothes-shop.md"), Path("data/docs/cv.mdx")
PROMPT_CHARS = 2800  # about 750 tokens, a usual page
ANSWER_TOKENS = 48
QUESTIONS = (
    "How do customers pay in the clothes shop?\n(Look at [4], answer in English.)",
    "¿Quién mantiene hoy la tienda de ropa?\n(Mira [7] y responde en español.)",
    "Which database do the two branches use?\n(Look at [3], answer in English.)",
)
"""As the product asks them: some 25 tokens with what the template puts around them."""
LEAVE_SECONDS = 1.5
WAIT_SECONDS = 600.0
EMBEDDINGS_MEASURED = 12
OTHER_WEIGHTS = "Q4_0"  # stands for the path of the requantised model
Change = tuple[str, tuple[str, ...], tuple[str, ...]]
CHAT_CHANGES: tuple[Change, ...] = (
    # name, flags taken out, flags put in
    ("product", (), ()),
    ("weights repacked", ("--no-repack",), ()),
    ("one thread", ("-t",), ("-t", "1")),
    ("batch 32", ("-b", "-ub"), ("-b", "32", "-ub", "32")),
    ("batch 128", ("-b", "-ub"), ("-b", "128", "-ub", "128")),
    ("batch 256", ("-b", "-ub"), ("-b", "256", "-ub", "256")),
    ("batch 2048, micro-batch 512", ("-b", "-ub"), ("-b", "2048", "-ub", "512")),
    ("flash attention", ("-fa",), ("-fa", "on")),
    ("KV cache q8_0", ("-fa",), ("-ctk", "q8_0", "-ctv", "q8_0", "-fa", "on")),
    ("n-gram speculation", (), ("--spec-type", "ngram-simple")),
    ("weights Q4_0", ("-m",), ("-m", OTHER_WEIGHTS)),
    ("weights Q4_0, repacked", ("-m", "--no-repack"), ("-m", OTHER_WEIGHTS)),
)
SWITCHES = frozenset({"--no-repack"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its tables or JSON."""
    parser = argparse.ArgumentParser(prog="bench.tuning", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=[name for name, _, _ in CHAT_CHANGES],
                        help="this variant; may be repeated [default: all, and the embedder]")  # fmt: skip
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.profile, options.models, options.rounds, options.only or ())
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(profile: str, folder: Path, rounds: int, only: Sequence[str] = ()) -> dict[str, Any]:
    """Medians of every variant, or of the chosen ones."""
    changes = [change for change in CHAT_CHANGES if not only or change[0] in only]
    binary = llama_server()
    models = chosen_models(profile, folder)
    with tempfile.TemporaryDirectory() as logs:
        other = Path(logs) / "q4_0.gguf"
        if any(OTHER_WEIGHTS in new for _, _, new in changes):
            requantise(models.chat_path, other)
        chat: dict[str, list[dict[str, float]]] = {name: [] for name, _, _ in changes}
        for _ in range(rounds):
            for change in changes:
                command = _changed(
                    chat_command(
                        binary, models.chat_path, port=free_port(), context_tokens=CONTEXT_TOKENS
                    ),
                    change,
                    other,
                )
                with running(command, Path(logs) / "chat.log"):
                    chat[change[0]].append(_chat_figures(_address(command)))
        embedding = (
            {} if only else _embedding(binary, models.chat_path, models.embed_path, Path(logs))
        )
    return {
        "chat": {
            name: {key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0]}
            for name, runs in chat.items()
        },
        "embedding_ms_beside_an_answer": embedding,
    }


def render(result: dict[str, Any]) -> str:
    """Tables for people."""
    rows = [
        [name, f"{run['prefill']:.0f}", f"{run['tail_ms']:.0f}", f"{run['decode']:.1f}",
         f"{run['freed_s']:.2f}",
         f"{run['rss_mb']:.0f}"]
        for name, run in result["chat"].items()
    ]  # fmt: skip
    head = ["chat server", "prompt tokens/s", "tail ms", "answer tokens/s", "freed s", "RSS MB"]
    beside = [[n, f"{ms:.0f}"] for n, ms in result["embedding_ms_beside_an_answer"].items()]
    tables = [
        table(head, rows),
        *([table(["embedding server", "ms p50"], beside)] if beside else []),
    ]
    return "\n\n".join(tables)


def _changed(command: Sequence[str], change: Change, other: Path) -> list[str]:
    _, out, new = change
    new = tuple(str(other) if part == OTHER_WEIGHTS else part for part in new)
    kept: list[str] = []
    skip = False
    for part in command:
        if skip:
            skip = False
        elif part in out:
            skip = part not in SWITCHES
        else:
            kept.append(part)
    return [*kept, *new]


def _address(command: Sequence[str]) -> str:
    return f"http://127.0.0.1:{command[command.index('--port') + 1]}"


def _chat_figures(url: str) -> dict[str, float]:
    _complete(url, "Hello", 4)  # the weights are read from the disk once
    timings = _complete(url, READ.read_text("utf-8")[:PROMPT_CHARS], ANSWER_TOKENS)
    return {
        "prefill": timings["prompt_per_second"],
        "decode": timings["predicted_per_second"],
        "tail_ms": _tail_ms(url),
        "freed_s": _freed(url),
        "rss_mb": _rss_mb(url),
    }


def _tail_ms(url: str) -> float:
    """Milliseconds to evaluate a question behind a page evaluated before; median of three."""
    page = READ.read_text("utf-8")[:PROMPT_CHARS]
    _complete(url, "And?", 1, page)
    times = [_complete(url, question, 1, page)["prompt_ms"] for question in QUESTIONS]
    return statistics.median(times)


def _complete(url: str, text: str, tokens: int, page: str = "") -> dict[str, float]:
    system = [{"role": "system", "content": page}] if page else []
    body = {"messages": [*system, {"role": "user", "content": text}], "max_tokens": tokens,
            "temperature": 0, "cache_prompt": bool(page)}  # fmt: skip
    reply = httpx.post(
        f"{url}/v1/chat/completions", json=body, timeout=WAIT_SECONDS, trust_env=False
    )
    timings: dict[str, float] = reply.raise_for_status().json()["timings"]
    return timings


def _freed(url: str) -> float:
    """Seconds until a one-word question is answered after somebody left during prefill."""
    body = {"messages": [{"role": "user", "content": LEFT.read_text("utf-8")}],
            "stream": True, "max_tokens": 8}  # fmt: skip
    with suppress(httpx.TimeoutException):
        httpx.post(f"{url}/v1/chat/completions", json=body, timeout=LEAVE_SECONDS, trust_env=False)
    began = time.perf_counter()
    _complete(url, "Hi", 1)
    return time.perf_counter() - began


def _rss_mb(url: str) -> float:
    import psutil

    port = int(url.rsplit(":", 1)[1])
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        command = process.info["cmdline"] or []
        if "llama-server" in " ".join(command[:1]) and str(port) in command:
            return float(process.info["memory_info"].rss / 1e6)
    return float("nan")


def _embedding(binary: Path, chat: Path, embed: Path, logs: Path) -> dict[str, float]:
    found = {}
    command = chat_command(binary, chat, port=free_port(), context_tokens=CONTEXT_TOKENS)
    with running(command, logs / "chat.log"):
        for threads in ("1", "2"):
            for policy in ("PASSIVE", "default"):
                own = list(embed_command(
                    binary, embed, port=free_port(), context_tokens=EMBED_TOKENS, pooling="mean"
                ))  # fmt: skip
                own[own.index("-t") + 1] = threads
                policies = {"OMP_WAIT_POLICY": policy} if policy != "default" else {}
                with (
                    running(own, logs / "embed.log", policies),
                    _answering(_address(command)),
                ):
                    times = [_embed_ms(_address(own)) for _ in range(EMBEDDINGS_MEASURED)]
                found[f"{threads} thread(s), OMP_WAIT_POLICY {policy}"] = round(
                    statistics.median(times), 1
                )
    return found


@contextmanager
def _answering(url: str) -> Iterator[None]:
    """A chat server that writes an answer for as long as the block runs."""
    body = {"messages": [{"role": "user", "content": "Count to a thousand in words."}],
            "stream": True, "max_tokens": 2000}  # fmt: skip
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=WAIT_SECONDS,
                      trust_env=False) as reply:  # fmt: skip
        next(reply.iter_bytes())
        yield


def _embed_ms(url: str) -> float:
    began = time.perf_counter()
    body = {"input": ["query: ¿Con qué se paga en la tienda de ropa?"], "model": "embed"}
    httpx.post(f"{url}/v1/embeddings", json=body, timeout=60, trust_env=False).raise_for_status()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    os.environ.pop("OMP_WAIT_POLICY", None)
    main()
