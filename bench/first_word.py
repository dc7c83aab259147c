"""Time to the first word: a plain prompt of the top five passages, and this product warm and cold.

    python -m bench.first_word [--model PATH] [--questions 30] [--json] [--svg FILE]
    python -m bench.first_word --squad FILE [--translated FILE]    # the same over longer texts

One run, one model file, one index of the sample site. Each question is asked in turn of three bots,
each with a llama-server of its own, of which one works at a time:

    plain  the five best passages in the prompt, the server's own prompt cache on
    warm   the page's state restored, all pages evaluated before
    cold   the same with no state on disk: what the first visitor of a page waits

Then follow-up questions, two visitors who take turns, and suggested questions that are known already.
Key facts are the labelled ones of tests/eval/gate.yaml. With `--squad` the site is a SQuAD-format
file, each article a post; `--translated` has the same questions in Spanish, and gold answers are the facts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import yaml
from msgspec.structs import replace

from bench.bots import (
    ROOT,
    Timed,
    ask,
    chat_server,
    embed_server,
    indexed,
    llama_server,
    serving,
    warmed,
    with_states,
)
from bench.chart import bars
from bench.figures import percentiles, table
from bench.squad_site import labelled, write_site
from bot.evaluation.facts import share
from corpus.model import Language
from corpus.settings import KnownAnswerSettings, Settings
from native.chosen import chosen_models

KINDS = ("plain", "warm", "cold")
FOLLOW_UPS = {"en": "Tell me more about it.", "es": "Cuéntame más sobre eso."}
DEFAULT_CACHE = (
    "--cache-ram",
    "1024",
)  # llama-server's own prompt cache, as a plain design runs it


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its table or JSON."""
    parser = argparse.ArgumentParser(prog="bench.first_word", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--model", type=Path, help="a GGUF file [default: that of the profile]")
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--squad", type=Path, help="a SQuAD-format file instead of the sample site")
    parser.add_argument("--translated", type=Path, help="its questions in Spanish")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--conversations", type=int, default=8)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path, help="also draw a chart")
    options = parser.parse_args(arguments)
    result = measure(options)
    if options.svg:
        options.svg.write_text(bars(chart_of(result), "seconds to the first word, p50"), "utf-8")
    print(msgspec.json.encode(result).decode() if options.json else render(result))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The JSON document."""
    binary = llama_server()
    models = chosen_models(options.profile, options.models)
    model = options.model or models.chat_path
    every = _asked(options, options.questions + 2 * options.conversations)
    asked, talks = every[: options.questions], every[options.questions :]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        content = write_site(options.squad, folder / "site") if options.squad else ROOT / "data"
        for kind in KINDS:
            (folder / kind).mkdir()
        embed = stack.enter_context(embed_server(binary, models.embed_path, folder))
        servers = {
            kind: stack.enter_context(
                chat_server(
                    binary, model, folder / kind, states=kind != "plain",
                    extra=DEFAULT_CACHE if kind == "plain" else (),
                )
            )
            for kind in KINDS
        }  # fmt: skip
        base = indexed(folder / "index", embed, servers["warm"], options.max_tokens, content)
        bots = {
            kind: stack.enter_context(serving(_settings(base, kind, servers[kind], folder)))
            for kind in KINDS
        }
        pages, warming_s = warmed(bots["warm"])
        say(f"{pages} pages warm after {warming_s:.0f} s")
        first: dict[str, list[Timed]] = {kind: [] for kind in KINDS}
        for n, question in enumerate(asked, start=1):
            for kind in KINDS:
                if kind == "cold":
                    forget_states(servers["cold"], folder / "cold/states")
                first[kind].append(ask(bots[kind], question["question"]))
            say(f"{n}/{len(asked)} {_line({kind: first[kind][-1] for kind in KINDS})}")
        # Never asked before: a server that keeps whole prompts in memory would have them ready.
        follow = follow_ups(bots, talks[: options.conversations])
        mixed = interleaved(bots, talks[options.conversations :])
        known = replace(base, known_answers=KnownAnswerSettings(enabled=True))
        suggested = suggestions(stack, known, servers["warm"], folder)
    return figures(asked, first, follow, mixed, suggested, pages, warming_s)


def chosen_questions(count: int) -> list[dict[str, Any]]:
    """So many answerable questions, half of each language, spread over the labelled set."""
    labelled = yaml.safe_load(Path("tests/eval/gate.yaml").read_text("utf-8"))["questions"]
    chosen: list[list[dict[str, Any]]] = []
    for language in ("en", "es"):
        own = [q for q in labelled if q["label"] == "answerable" and q["lang"] == language]
        places = np.linspace(0, len(own) - 1, count // 2).round().astype(int)
        chosen.append([own[place] for place in dict.fromkeys(places.tolist())])
    # Every other one first, so that any beginning of the list is spread over the site.
    return [
        question
        for start in (0, 1)
        for pair in zip(*(own[start::2] for own in chosen), strict=False)
        for question in pair
    ]


def follow_ups(bots: dict[str, str], talks: Sequence[dict[str, Any]]) -> dict[str, list[Timed]]:
    """The second turn of conversations, each right after its first."""
    found: dict[str, list[Timed]] = {"plain": [], "warm": []}
    for question in talks:
        for kind, times in found.items():
            opened = ask(bots[kind], question["question"])
            times.append(_second(bots[kind], question, opened))
    return found


def interleaved(bots: dict[str, str], talks: Sequence[dict[str, Any]]) -> dict[str, list[Timed]]:
    """The second turns of two visitors: A asks, B asks, A goes on, B goes on."""
    found: dict[str, list[Timed]] = {"plain": [], "warm": []}
    for one, other in zip(talks[::2], talks[1::2], strict=False):
        for kind, times in found.items():
            opened = [(q, ask(bots[kind], q["question"])) for q in (one, other)]
            times.extend(_second(bots[kind], q, answer) for q, answer in opened)
    return found


def suggestions(stack: ExitStack, settings: Settings, server: str, folder: Path) -> list[Timed]:
    """The configured questions, after the bot answered them for itself."""
    url = stack.enter_context(serving(_settings(settings, "warm", server, folder)))
    warmed(url)
    questions = [q for own in settings.persona.suggested_questions.values() for q in own]
    return [timed for q in questions if (timed := ask(url, q)).route == "known"]


def forget_states(server: str, folder: Path) -> None:
    """Make the next question of that server a cold one."""
    for state in folder.iterdir():
        state.unlink()
    httpx.post(f"{server}/slots/0?action=erase", timeout=60, trust_env=False).raise_for_status()


def figures(
    asked: Sequence[dict[str, Any]],
    first: dict[str, list[Timed]],
    follow: dict[str, list[Timed]],
    mixed: dict[str, list[Timed]],
    suggested: Sequence[Timed],
    pages: int,
    warming_s: float,
) -> dict[str, Any]:
    """Percentiles over the questions that the model answered in every bot, and their ratios."""
    spoken = [
        n for n in range(len(asked)) if all(first[kind][n].route == "answer" for kind in KINDS)
    ]
    kept = {kind: [first[kind][n] for n in spoken] for kind in KINDS}
    words = {kind: _rounded([t.first_word_s for t in kept[kind]]) for kind in KINDS}
    hits = [t.cached_tokens > t.evaluated_tokens for t in kept["warm"]]
    return {
        "questions": len(asked),
        "answered_by_all": len(spoken),
        "pages": pages,
        "warming_s": round(warming_s, 1),
        "first_word_s": words,
        "sources_s": {k: _rounded([t.sources_s for t in kept[k]]) for k in KINDS},
        "total_s": {k: _rounded([t.total_s for t in kept[k]]) for k in KINDS},
        "evaluated_tokens": {k: _rounded([t.evaluated_tokens for t in kept[k]]) for k in KINDS},
        "ratio": {p: round(words["plain"][p] / words["warm"][p], 1) for p in ("p50", "p95")},
        "hit_rate": round(sum(hits) / max(len(hits), 1), 3),
        "key_facts": {
            k: round(float(np.mean([share(t.text, q.get("facts", ()))
                                    for q, t in zip(asked, first[k], strict=True)])), 3)
            for k in KINDS
        },
        "followup_s": {k: _rounded([t.first_word_s for t in ts]) for k, ts in follow.items()},
        "followup_ratio": _ratio(follow),
        "interleaved_s": {k: _rounded([t.first_word_s for t in ts]) for k, ts in mixed.items()},
        "interleaved_ratio": _ratio(mixed),
        "suggested_s": _rounded([t.first_word_s for t in suggested]),
    }  # fmt: skip


def chart_of(result: dict[str, Any]) -> list[tuple[str, float]]:
    """Label and seconds of each bar."""
    words = result["first_word_s"]
    return [
        ("plain prompt, top five passages", words["plain"]["p50"]),
        ("cold page", words["cold"]["p50"]),
        ("warm page", words["warm"]["p50"]),
        ("follow-up, plain", result["followup_s"]["plain"]["p50"]),
        ("follow-up, warm", result["followup_s"]["warm"]["p50"]),
        ("suggested question", result["suggested_s"]["p50"]),
    ]


def render(result: dict[str, Any]) -> str:
    """A table for people."""
    rows = []
    for kind in KINDS:
        cells = [f"{result[key][kind][p]:.2f}"
                 for key in ("sources_s", "first_word_s", "total_s") for p in ("p50", "p95")]  # fmt: skip
        tokens = result["evaluated_tokens"][kind]
        rows.append([kind, *cells, f"{tokens['p50']:.0f}", result["key_facts"][kind]])
    head = [
        "bot",
        "sources p50",
        "p95",
        "first word p50",
        "p95",
        "end p50",
        "p95",
        "evaluated",
        "facts",
    ]
    return "\n".join([
        f"{result['answered_by_all']} of {result['questions']} questions answered by all; "
        f"{result['pages']} pages warmed in {result['warming_s']} s",
        table(head, rows),
        f"first word: {result['ratio']['p50']} times sooner (p50), {result['ratio']['p95']} (p95); "
        f"states found {result['hit_rate']:.0%}",
        f"follow-ups {result['followup_ratio']} times, interleaved {result['interleaved_ratio']} times; "
        f"suggested {result['suggested_s']}",
    ])  # fmt: skip


def say(line: str) -> None:
    """Progress, apart from the result."""
    print(line, file=sys.stderr, flush=True)


def _asked(options: argparse.Namespace, count: int) -> list[dict[str, Any]]:
    """As many of each language in every part of the list."""
    if not options.squad:
        return chosen_questions(count)
    files: dict[Language, Path] = {"en": options.squad}
    if options.translated:
        files["es"] = options.translated
    return labelled(options.squad, files, count)


def _settings(base: Settings, kind: str, server: str, folder: Path) -> Settings:
    provider = replace(base.provider, endpoint=server)
    if kind == "plain":
        rag = replace(base.rag, context="passages")
        return replace(base, providers=(provider,), rag=rag)
    return with_states(replace(base, providers=(provider,)), folder / kind)


def _second(url: str, question: dict[str, Any], opened: Timed) -> Timed:
    history = [(question["question"], opened.text)]
    return ask(url, FOLLOW_UPS[question["lang"]], history, opened.conversation_id)


def _rounded(values: Sequence[float]) -> dict[str, float]:
    return percentiles(values, 3)


def _ratio(times: dict[str, list[Timed]]) -> float:
    """Median of plain over warm, for the second turns that both answered with the model."""
    both = [
        (plain.first_word_s, warm.first_word_s)
        for plain, warm in zip(times["plain"], times["warm"], strict=True)
        if plain.route == warm.route == "answer"
    ]
    if not both:
        return float("nan")
    plain, warm = zip(*both, strict=True)
    return round(float(np.median(plain) / np.median(warm)), 1)


def _line(times: dict[str, Timed]) -> str:
    return "  ".join(f"{kind} {t.first_word_s:.2f} s ({t.route})" for kind, t in times.items())


if __name__ == "__main__":
    main()
