"""All labelled questions asked of the product over the sample site, with real models: one command.

    python -m bench.answers [--profile default] [--set test] [--limit N] [--out FOLDER]

Starts both model servers, indexes the sample site, serves a bot without limits that keeps no answers,
and runs `chat-bot eval` on it; then once more over a copy with the planted pages. Writes NAME.json and
NAME.html below the folder, NAME being profile and half, prints both tables, and says what failed.
All of the 1.5B model's test half takes about an hour on two CPUs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.bots import ROOT, chat_server, embed_server, indexed, llama_server, serving, with_states
from native.chosen import chosen_models


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, judge and report; the exit code is that of the first evaluation that failed."""
    parser = argparse.ArgumentParser(prog="bench.answers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--profile", default="default")
    parser.add_argument("--models", type=Path, default=Path("models/files"))
    parser.add_argument("--set", dest="half", choices=("dev", "test"), default="test")
    parser.add_argument("--limit", type=int, help="at most so many, the kinds taking turns")
    parser.add_argument("--kind", action="append", default=[], help="only this kind")
    parser.add_argument("--out", type=Path, help="folder of the reports [default: none written]")
    parser.add_argument("rest", nargs="*", help="options for `chat-bot eval`, behind --")
    options = parser.parse_args(arguments)
    sys.exit(run(options))


def run(options: argparse.Namespace) -> int:
    """Both evaluations, the planted one only where no kind is chosen."""
    binary = llama_server()
    models = chosen_models(options.profile, options.models)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embed = stack.enter_context(embed_server(binary, models.embed_path, folder))
        chat = stack.enter_context(chat_server(binary, models.chat_path, folder, states=True))
        asked = ["--set", options.half, *options.rest]
        asked += [part for kind in options.kind for part in ("--kind", kind)]
        if options.limit:
            asked += ["--limit", str(options.limit)]

        def evaluate(name: str, content: Path, *more: str) -> int:
            settings = indexed(folder / f"{name}-index", embed, chat, 320, content)
            with serving(with_states(settings, folder)) as url:
                command = [*asked, *more, "--url", url, "--index", settings.rag.index_path]
                return _eval(command, options.out, f"{options.profile}-{name}")

        worst = evaluate(options.half, ROOT / "data")
        if not options.kind and not options.limit:
            copy = folder / "planted"
            shutil.copytree(ROOT / "data", copy)
            _chat_bot(["eval", "--set", options.half, "--plant", str(copy)], quiet=True)
            worst = evaluate(f"{options.half}-planted", copy, "--planted") or worst
    return worst


def _eval(command: Sequence[str], out: Path | None, name: str) -> int:
    if out is None:
        return _chat_bot(["eval", *command])
    out.mkdir(parents=True, exist_ok=True)
    report = ["--html", str(out / f"{name}.html")]
    with (out / f"{name}.json").open("w", encoding="utf-8") as file:
        code = _chat_bot(["eval", *command, *report, "--json"], output=file.fileno())
    print(f"{name}: {out / name}.json and .html", flush=True)
    return code


def _chat_bot(command: Sequence[str], *, quiet: bool = False, output: int | None = None) -> int:
    program = Path(sys.executable).with_name("chat-bot")
    target = subprocess.DEVNULL if quiet else output
    return subprocess.run([str(program), *command], stdout=target, check=False).returncode


if __name__ == "__main__":
    main()
