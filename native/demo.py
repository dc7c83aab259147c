"""`make demo`: everything from nothing to a bot that answers, then serve until Ctrl-C.

Preflight, llama-server, models, embedding server, index, chat server, bot: each step says what it
does, and the first that can't be done ends the run with one line and the cure.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.errors import ModelsError
from native.chosen import ChosenModels, chosen_models
from native.console import Console
from native.preflight import (
    BUILD_BYTES,
    DEFAULT_PORTS,
    MODEL_BYTES,
    ROOT,
    Finding,
    check_disk,
    check_memory,
    check_port,
    first_failure,
)
from native.servers import EMBED_ENVIRONMENT, chat_command, embed_command
from native.service import ProcessFailed, Service
from native.supervisor import Supervisor, supervise

QUESTION = "¿Con qué se paga en la tienda de ropa?"
INDEX_PROBLEMS = {
    4: "some content has problems (above); the rest is indexed",
    5: "the index has no vectors: search is by keywords only",
}
"""Exit codes of the indexer after which there is an index to serve."""
STATES = ROOT / "var/states"
BIN = Path(sys.executable).parent
"""Not resolved: in a virtual environment the link itself is what finds the packages."""


@dataclass(frozen=True, kw_only=True)
class Demo:
    """One run: which models, on which ports."""

    profile: str
    models_folder: Path
    port: int
    chat_port: int
    embed_port: int
    console: Console

    async def run(self, supervisor: Supervisor) -> None:
        """The plan that the supervisor carries out."""
        started = time.monotonic()
        self._preflight()
        binary = await self._llama_server(supervisor)
        models = await self._models(supervisor)
        states = self._states_folder()
        settings = models.settings(
            port=self.port, chat_port=self.chat_port, embed_port=self.embed_port, states=states
        )
        traits = models.embed_traits
        await supervisor.start(
            Service(
                name="embed",
                llama=True,
                command=embed_command(
                    binary,
                    models.embed_path,
                    port=self.embed_port,
                    context_tokens=traits.context_size_tokens,
                    pooling=traits.pooling,
                ),
                health_url=f"http://127.0.0.1:{self.embed_port}/health",
                environment=EMBED_ENVIRONMENT,
            )
        )
        await supervisor.start(
            Service(
                name="chat",
                llama=True,
                command=chat_command(
                    binary,
                    models.chat_path,
                    port=self.chat_port,
                    context_tokens=models.chat_traits.context_size_tokens,
                    states=states,
                ),
                health_url=f"http://127.0.0.1:{self.chat_port}/health",
                ready_seconds=300.0,
            )
        )
        # Behind the chat server: its tokenizer says how much goes on a page.
        await self._index(supervisor, settings)
        await supervisor.start(
            Service(
                name="bot",
                command=(
                    str(BIN / "chat-bot"),
                    "serve",
                    "--port",
                    str(self.port),
                    "--log-format",
                    "text",
                ),
                health_url=f"http://127.0.0.1:{self.port}/api/health",
                environment=settings,
            )
        )
        self._welcome(time.monotonic() - started)
        await supervisor.wait()

    def _preflight(self) -> None:
        findings = [
            check_port("PORT", self.port),
            check_port("CHAT_PORT", self.chat_port),
            check_port("EMBED_PORT", self.embed_port),
            check_disk(self.models_folder, self._missing_bytes()),
            check_memory(self.profile),
        ]
        for finding in findings:
            if finding.level == "warn":
                self.console.say(f"warning: {finding}")
        failure: Finding | None = first_failure(findings)
        if failure is not None:
            raise ProcessFailed(str(failure))

    def _states_folder(self) -> Path | None:
        """Where chat server and bot keep prompt states; without it answers only begin later."""
        try:
            STATES.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            self.console.say(f"warning: no prompt states: {STATES}: {error.strerror}")
            return None
        return STATES

    def _missing_bytes(self) -> float:
        try:
            chosen_models(self.profile, self.models_folder)
        except ModelsError:
            return BUILD_BYTES + MODEL_BYTES.get(self.profile, MODEL_BYTES["default"])
        return 0.2e9

    async def _llama_server(self, supervisor: Supervisor) -> Path:
        code, printed = await supervisor.run((sys.executable, "-m", "native.llama_server"))
        if code:
            raise ProcessFailed("there is no llama-server (above)")
        return Path(printed.splitlines()[-1])

    async def _models(self, supervisor: Supervisor) -> ChosenModels:
        command = (
            sys.executable,
            "-m",
            "models.fetch",
            "--profile",
            self.profile,
            "--dir",
            str(self.models_folder),
        )
        code, printed = await supervisor.run(command)
        if code:
            raise ProcessFailed(f"the models of profile {self.profile} are not complete (above)")
        lines = printed.splitlines()
        for line in lines[-1:] if "up to date" in printed else lines:
            self.console.line("models", line)
        try:
            return chosen_models(self.profile, self.models_folder)
        except ModelsError as error:
            raise ProcessFailed(str(error)) from error

    async def _index(self, supervisor: Supervisor, settings: dict[str, str]) -> None:
        code, printed = await supervisor.run((sys.executable, "-m", "indexer"), settings)
        lines = printed.strip().splitlines()
        if lines:
            self.console.line("index", _summary(lines[-1]))
        if code in INDEX_PROBLEMS:
            self.console.say(f"warning: {INDEX_PROBLEMS[code]}")
        elif code:
            raise ProcessFailed(f"the content could not be indexed (exit code {code}, above)")

    def _welcome(self, seconds: float) -> None:
        program = (BIN / "chat-bot").relative_to(ROOT) if BIN.is_relative_to(ROOT) else "chat-bot"
        url = f"http://127.0.0.1:{self.port}"
        where = "" if self.port == DEFAULT_PORTS["PORT"] else f" --url {url}"
        body = json.dumps({"messages": [{"role": "user", "content": QUESTION}]}, ensure_ascii=False)
        for line in (
            "",
            f"  Up after {seconds:.0f} s:  {url}",
            "",
            f'  Ask:   {program} ask{where} "{QUESTION}"',
            f"  Or:    curl -N {url}/api/chat -H 'Content-Type: application/json' \\",
            f"           -d {shlex.quote(body)}",
            "  Stop:  Ctrl-C",
            "",
        ):
            self.console.say(line)


def _summary(line: str) -> str:
    """What the indexer's JSON line says, for people; the line itself where it says anything else."""
    try:
        done = json.loads(line)
        return (
            f"{done['indexed_files']} files, {done['total_chunks']} passages: {done['embedded']} "
            f"embedded, {done['reused']} as before, in {done['duration_ms'] / 1000:.1f} s"
        )
    except (ValueError, KeyError, TypeError):
        return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parser().parse_args(arguments)
    console = Console()
    demo = Demo(
        profile=options.profile,
        models_folder=options.dir.absolute(),
        port=options.port,
        chat_port=options.chat_port,
        embed_port=options.embed_port,
        console=console,
    )
    return supervise(demo.run, folder=ROOT, log_folder=ROOT / "var/log", console=console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m native.demo", description="Start the bot and all it needs on this machine."
    )
    parser.add_argument("--profile", default="default", help="models: default, tiny, nomic or 3b")
    parser.add_argument(
        "--dir", type=Path, default=ROOT / "models/files", help="folder of the models"
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORTS["PORT"])
    parser.add_argument("--chat-port", type=int, default=DEFAULT_PORTS["CHAT_PORT"])
    parser.add_argument("--embed-port", type=int, default=DEFAULT_PORTS["EMBED_PORT"])
    return parser


if __name__ == "__main__":
    sys.exit(main())
