"""How soon the model is free after a visitor who leaves, through the whole bot over HTTP.

    python -m bench.leaving [--profile default] [--tries 20] [--json]

The visitor closes the connection in the line, while the prompt is evaluated, or while the answer is written.
`free` is when the chat server's log says that it let go of that task; in the line, when the one behind
moves up. `next` is when the server is given the question that another visitor asks at once, of a page whose
state is saved; in the line there is none, since the answer before goes on.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bench.bots import chat_server, embed_server, indexed, llama_server, with_states
from bench.figures import percentiles, table
from bot.app import create_app
from native.chosen import chosen_models
from tests.chat_process import evaluations
from tests.live_server import serve_in_thread
from tests.visits import ask, visit, wait_for

SOON_SECONDS = 1.2
"""The visitor's own batch of 64 tokens takes 1 s with a 1.5B model on two CPUs."""
LOOK_SECONDS = 0.02
WAIT_SECONDS = 600.0
MOST_VOID = 3
"""Tries for each that counts: an answer may be over before its visitor has gone."""
ANSWER_TOKENS = 320
WARM = "¿Con qué se paga en la tienda de ropa?"
COLD = ("How does the tide map get its data?", "¿Cómo funciona la guía del museo?")
"""Of two pages in turn: each drives out what the server has read of the other one."""
LONG = "Describe the clothes shop: what was the problem, how was it built, how do people pay?"
HOLDER, LEAVER, NEXT = "198.51.100.1", "198.51.100.2", "198.51.100.3"


class Left(Struct, frozen=True, kw_only=True):
    """What came of one visitor who left; seconds since the connection was closed."""

    free_s: float
    next_s: float | None = None
    read_after: int | None = None
    """Tokens of the prompt that were evaluated after the last progress the visitor saw."""


class Rig(Struct, frozen=True):
    """A running bot, and the log of its chat server."""

    url: str
    log: Path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.leaving", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(options.profile, options.models, options.tries)
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(profile: str, models_folder: Path, tries: int) -> dict[str, Any]:
    """Figures of the three moments."""
    binary = llama_server()
    models = chosen_models(profile, models_folder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            embed_server(binary, models.embed_path, folder) as embed_url,
            chat_server(binary, models.chat_path, folder, states=True) as chat_url,
        ):
            settings = indexed(folder / "index", embed_url, chat_url, ANSWER_TOKENS)
            server = replace(settings.server, queue_seconds=WAIT_SECONDS)
            settings = replace(with_states(settings, folder), server=server)
            with serve_in_thread(create_app(settings), trusted_proxies=("127.0.0.1",)) as live:
                rig = Rig(live.url, folder / "chat.log")
                for question in (LONG, WARM):  # their pages are saved from here on
                    ask(rig.url, question)
                moments = {
                    "in the line": _often(tries, lambda n: _in_line(rig, COLD[n % len(COLD)])),
                    "while the prompt is evaluated": _often(
                        tries, lambda n: _in_work(rig, COLD[n % len(COLD)], "progress")
                    ),
                    "while the answer is written": _often(
                        tries, lambda n: _in_work(rig, LONG, "chunk")
                    ),
                }
    return {"tries": tries, "moments": {n: figures(left) for n, left in moments.items()}}


def figures(left: Sequence[Left]) -> dict[str, Any]:
    """How many were soon, and the spread of the seconds."""
    found: dict[str, Any] = {
        "soon": sum(each.free_s <= SOON_SECONDS for each in left),
        "free_s": _spread([each.free_s for each in left]),
    }
    if later := [each.next_s for each in left if each.next_s is not None]:
        found["next_s"] = _spread(later)
    if read := [each.read_after for each in left if each.read_after is not None]:
        found["read_after_max"] = max(read)
    return found


def render(result: dict[str, Any]) -> str:
    """Table for people."""
    rows = [
        [moment, f"{found['soon']} of {result['tries']}", _line(found["free_s"]),
         _line(found["next_s"]) if "next_s" in found else "–", found.get("read_after_max", "–")]
        for moment, found in result["moments"].items()
    ]  # fmt: skip
    head = ["visitor leaves", f"model free within {SOON_SECONDS} s", "free s p50 / p95 / max",
            "next s p50 / p95 / max", "tokens read after, most"]  # fmt: skip
    return table(head, rows)


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    return {**percentiles(seconds), "max": round(max(seconds), 2)}


def _line(spread: dict[str, float]) -> str:
    return " / ".join(f"{spread[name]:.2f}" for name in ("p50", "p95", "max"))


def _often(tries: int, attempt: Callable[[int], Left | None]) -> list[Left]:
    found: list[Left] = []
    for n in range(tries * MOST_VOID):
        if len(found) < tries and (left := attempt(n)) is not None:
            found.append(left)
    if len(found) < tries:
        raise SystemExit(f"only {len(found)} of {tries} visitors left before their answer was over")
    return found


def _in_line(rig: Rig, holding: str) -> Left | None:
    """The first of two who wait leaves; None where the model came free before."""
    since = _size(rig.log)
    with visit(rig.url, holding, HOLDER) as holder:
        wait_for(holder, "progress")
        with ExitStack() as stack:
            leaver = stack.enter_context(visit(rig.url, WARM, LEAVER))
            if wait_for(leaver, "queued")["position"] != 1:
                return None
            with visit(rig.url, WARM, NEXT) as behind:
                if wait_for(behind, "queued")["position"] != 2:
                    return None
                began = time.perf_counter()
                stack.close()
                moved = wait_for(behind, "queued")["position"] == 1
                free_s = time.perf_counter() - began
        # All of it was the holder's, whose page is read piece by piece.
        read = [each.tokens for each in evaluations(rig.log, since) if each.tokens is not None]
    return Left(free_s=free_s) if moved and read == sorted(set(read)) else None


def _in_work(rig: Rig, question: str, moment: str) -> Left | None:
    """The visitor whom the model works for leaves; None where it was done before."""
    since = _size(rig.log)
    with visit(rig.url, question, LEAVER) as leaver:
        seen = wait_for(leaver, moment)
        while moment == "progress" and not seen["processed"]:
            seen = wait_for(leaver, moment)
        began = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        answered = pool.submit(_answer_next, rig)
        looks: list[tuple[float, int, int]] = []
        while not answered.done() or not looks:
            done = evaluations(rig.log, since)
            seconds = time.perf_counter() - began
            looks.append((seconds, len(done), sum(each.tokens is not None for each in done)))
            _look(began)
        answered.result()
    *_, left, _ = done = evaluations(rig.log, since)  # the last one is that of the next visitor
    count = len(done)
    if (moment == "chunk" and not left.cancelled) or left.tokens is None:
        return None
    return Left(
        free_s=next(at for at, _, released in looks if released >= count - 1),
        next_s=next(at for at, launched, _ in looks if launched == count),
        read_after=left.tokens - seen["processed"] if moment == "progress" else None,
    )


def _answer_next(rig: Rig) -> None:
    with visit(rig.url, WARM, NEXT) as events:
        wait_for(events, "done")


def _size(log: Path) -> int:
    return log.stat().st_size


def _look(began: float) -> None:
    if time.perf_counter() - began > WAIT_SECONDS:
        raise SystemExit("the model was not let go of")
    time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main()
