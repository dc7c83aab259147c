"""Bots over the sample site for side-by-side measurements: real servers, real HTTP, one process."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
from msgspec import Struct
from msgspec.structs import replace

from bot.app import create_app
from corpus.embedding import EmbeddingClient
from corpus.settings import KnownAnswerSettings, Settings
from corpus.settings_file import load_settings
from indexer import job
from indexer.chat_tokens import ChatTokenCounter
from native.ports import free_port
from native.preflight import ready_llama_server
from native.servers import EMBED_ENVIRONMENT, chat_command, embed_command
from native.tether import tethered
from tests.live_server import serve_in_thread
from tests.sse_client import read_sse

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 300
CONTEXT_TOKENS = 4096
EMBED_TOKENS = 512
PATIENT_SECONDS = 1800.0


class Timed(Struct, frozen=True, kw_only=True):
    """One answer as its visitor saw it; seconds since the question was sent."""

    text: str
    route: str
    conversation_id: str
    sources_s: float
    first_word_s: float
    total_s: float
    evaluated_tokens: int
    cached_tokens: int


def llama_server() -> Path:
    """The program; ends the benchmark with the cure where there is none."""
    binary = ready_llama_server()
    if binary is None:
        raise SystemExit("no llama-server: `python -m native.llama_server` gets one")
    return binary


def with_states(settings: Settings, folder: Path) -> Settings:
    """The same with the prompt states of the `chat_server` that was started in `folder`."""
    provider = replace(settings.provider, states_path=str(folder / "states"))
    return replace(settings, providers=(provider,))


@contextmanager
def running(
    command: Sequence[str], log: Path, environment: Mapping[str, str] = EMBED_ENVIRONMENT
) -> Iterator[None]:
    """A server process that ends with the block; ready when `/health` says so."""
    port = command[command.index("--port") + 1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            tethered(tuple(command)), stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, env=os.environ | dict(environment), start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not _answers(f"http://127.0.0.1:{port}/health"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"llama-server did not start: see {log}")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def chat_server(
    binary: Path, model: Path, folder: Path, *, states: bool, extra: Sequence[str] = ()
) -> Iterator[str]:
    """The chat model at an address of its own; with `states` below `folder`."""
    port = free_port()
    saved = folder / "states" if states else None
    if saved:
        saved.mkdir(parents=True)
    command = chat_command(binary, model, port=port, context_tokens=CONTEXT_TOKENS, states=saved)
    with running([*command, *extra], folder / "chat.log"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def embed_server(binary: Path, model: Path, folder: Path) -> Iterator[str]:
    """The embedding model at an address of its own."""
    port = free_port()
    command = embed_command(binary, model, port=port, context_tokens=EMBED_TOKENS, pooling="mean")
    with running(command, folder / "embed.log"):
        yield f"http://127.0.0.1:{port}"


def indexed(
    folder: Path, embed_url: str, chat_url: str, max_tokens: int, content: Path = ROOT / "data"
) -> Settings:
    """Settings of a site, the sample's unless said, with an index just built in `folder`."""
    settings = load_settings(ROOT / "configs/portfolio-bot.yaml", {})
    provider = replace(
        settings.provider, endpoint=chat_url, max_tokens=max_tokens,
        first_token_seconds=PATIENT_SECONDS, total_seconds=PATIENT_SECONDS, warm_when_idle=False,
    )  # fmt: skip
    settings = replace(
        settings,
        rag=replace(
            settings.rag,
            data_path=str(content / "projects"),
            docs_path=str(content / "docs"),
            posts_path=str(content / "posts"),
            index_path=str(folder),
        ),
        embeddings=replace(settings.embeddings, endpoint=embed_url),
        providers=(provider,),
        server=replace(settings.server, rate_limit=replace(
            settings.server.rate_limit, requests_per_minute=6000, burst=1000,
            model_seconds_per_minute=6000)),
        known_answers=KnownAnswerSettings(enabled=False),
    )  # fmt: skip
    with EmbeddingClient(settings.embeddings) as client, ChatTokenCounter(provider) as counter:
        job.run(settings, client=client, chat=counter)
    return settings


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Address of a bot with these settings."""
    with serve_in_thread(create_app(settings)) as live:
        yield live.url


def warmed(url: str) -> tuple[int, float]:
    """Have a bot evaluate all pages; how many there are, and the seconds it took."""
    began = time.perf_counter()
    httpx.post(f"{url}/api/warm", json={}, timeout=60, trust_env=False).raise_for_status()
    while True:
        reply = httpx.get(f"{url}/api/warm", timeout=60, trust_env=False).json()
        if not reply["working"]:
            return reply["warm"], time.perf_counter() - began
        time.sleep(0.5)


def ask(url: str, question: str, history: Sequence[tuple[str, str]] = (),
        conversation_id: str | None = None) -> Timed:  # fmt: skip
    """Ask as the widget does, and time what a visitor sees."""
    messages = [
        {"role": role, "content": text}
        for turn in history
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    body = {"messages": [*messages, {"role": "user", "content": question}]}
    if conversation_id:
        body["conversation_id"] = conversation_id  # type: ignore[assignment]
    pieces: list[str] = []
    sources = first = 0.0
    began = time.perf_counter()
    with httpx.stream("POST", f"{url}/api/chat", json=body, timeout=PATIENT_SECONDS,
                      trust_env=False) as response:  # fmt: skip
        for event in read_sse(response.iter_bytes()):
            now = time.perf_counter() - began
            match event["type"]:
                case "start":
                    conversation = event["conversation_id"]
                case "sources":
                    sources = sources or now
                case "chunk":
                    first = first or now
                    pieces.append(event["content"])
                case "error":
                    raise SystemExit(f"{question}: {event['code']}")
                case "done":
                    return Timed(
                        text="".join(pieces), route=event["route"], conversation_id=conversation,
                        sources_s=sources, first_word_s=first, total_s=now,
                        evaluated_tokens=event["timings"]["evaluated_tokens"],
                        cached_tokens=event["timings"]["cached_tokens"],
                    )  # fmt: skip
    raise SystemExit(f"{question}: the stream broke off")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
