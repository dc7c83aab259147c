"""The llama-server adapter against a real HTTP server that speaks its wire format."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from bot.adapters.llamacpp import CHECK_SECONDS, LlamaServer
from bot.chat.errors import (
    ContextOverflow,
    ModelEmpty,
    ModelError,
    ModelInterrupted,
    ModelLoading,
    ModelTimeout,
    ModelUnavailable,
)
from bot.chat.ports.model import Finished, Message, ModelEvent, PromptProgress, TextDelta
from corpus.settings import ProviderSettings
from tests.fake_llama import FakeLlama, Reply, overflow_body, server_error

pytestmark = pytest.mark.anyio
MESSAGES = (
    Message(role="system", content="Rules."),
    Message(role="user", content="¿Qué tal?"),
)
SECRET = "upstream-secret-text"
FINISH = b'data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}]}\n\n'


@pytest.fixture
def fake() -> Iterator[FakeLlama]:
    with FakeLlama() as server:
        yield server


@pytest.fixture
async def model(fake: FakeLlama) -> AsyncIterator[LlamaServer]:
    async with LlamaServer(provider(fake)) as server:
        yield server


def provider(fake: FakeLlama, **changes: float) -> ProviderSettings:
    return ProviderSettings(endpoint=fake.url, model="m-1", **changes)  # type: ignore[arg-type]


async def answer(model: LlamaServer) -> list[ModelEvent]:
    async with aclosing(model.stream(MESSAGES)) as events:
        return [event async for event in events]


async def seen_before(model: LlamaServer, error: type[ModelError]) -> list[str]:
    """Texts that came before the stream failed with exactly `error`."""
    texts: list[str] = []

    async def listen() -> None:
        async with aclosing(model.stream(MESSAGES)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    texts.append(event.text)

    with pytest.raises(error) as caught:
        await listen()
    assert type(caught.value) is error
    assert SECRET not in str(caught.value)
    return texts


async def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition came true within a minute, without holding up the event loop.

    The fake holds what it holds for ever, so nothing but the adapter can make it come true.
    """
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if condition():
            return True
        await asyncio.sleep(0.005)
    return condition()


async def test_answer_is_streamed_with_progress_and_the_servers_counts(
    fake: FakeLlama, model: LlamaServer
) -> None:
    fake.enqueue(
        Reply(
            text=("Hola", " mundo"), progress=((0, 40), (40, 40)), prompt_tokens=40,
            cached_tokens=30,
        )
    )  # fmt: skip
    assert await answer(model) == [
        PromptProgress(processed=0, total=40),
        PromptProgress(processed=40, total=40),
        TextDelta(text="Hola"),
        TextDelta(text=" mundo"),
        Finished(
            finish_reason="stop", input_tokens=40, output_tokens=2, cached_tokens=30,
            evaluated_tokens=10,
        ),
    ]  # fmt: skip


async def test_request_is_built_from_constants_and_settings_alone(
    fake: FakeLlama, model: LlamaServer
) -> None:
    """LLM-09 (max_tokens always), reliability fact 13 (no other field)."""
    await answer(model)
    assert fake.requests == [
        {
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "Rules."},
                {"role": "user", "content": "¿Qué tal?"},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 320,
            "temperature": 0.0,
            "top_k": 40,
            "top_p": 0.9,
            "repeat_penalty": 1.0,
            "cache_prompt": True,
            "return_progress": True,
            "chat_template_kwargs": {"enable_thinking": False},
        }
    ]


async def test_recorded_stream_gives_the_same_events_in_single_bytes(
    fake: FakeLlama, model: LlamaServer
) -> None:
    """F4: half UTF-8 and cut lines, over a real connection."""
    recorded = Path(__file__).parent.parent / "data" / "llama_stream.http"
    body = recorded.read_bytes().partition(b"\r\n\r\n")[2]
    stream = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        stream, body = stream + body[: int(size, 16)], body[int(size, 16) + 2 :]
    fake.enqueue(Reply(raw=stream), Reply(raw=stream, split_every=1))
    whole = await answer(model)
    assert whole[-1] == Finished(
        finish_reason="stop", input_tokens=415, output_tokens=6, evaluated_tokens=415
    )
    assert await answer(model) == whole


async def test_line_separators_inside_json_survive(fake: FakeLlama, model: LlamaServer) -> None:
    """SSE-01."""
    fake.enqueue(
        Reply(text=("a\u2028b", "c\u0085d\x0be")), Reply(raw=raw_delta("a\u2028b") + FINISH)
    )
    assert text_of(await answer(model)) == "a\u2028bc\u0085d\x0be"
    assert text_of(await answer(model)) == "a\u2028b"


async def test_length_is_reported(fake: FakeLlama, model: LlamaServer) -> None:
    fake.enqueue(Reply(finish_reason="length"))
    last = (await answer(model))[-1]
    assert isinstance(last, Finished)
    assert last.finish_reason == "length"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(reasoning=("private ", SECRET), text=("Hola",)),
        Reply(text=("<think>", SECRET, "</think>\n\n", "Hola")),
        Reply(text=("<th", "ink>" + SECRET + "</th", "ink>", "Ho", "la")),
    ],
    ids=["reasoning_content", "tags", "split tags"],
)
async def test_reasoning_is_never_shown(fake: FakeLlama, model: LlamaServer, reply: Reply) -> None:
    """LLM-05."""
    fake.enqueue(reply)
    assert text_of(await answer(model)) == "Hola"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text=(), reasoning=("a", "b")),
        Reply(text=("<think>", "never closed")),
        Reply(text=("<think>a</think>", "\n ")),
        Reply(text=()),
    ],
    ids=["only reasoning", "unclosed", "blank after thought", "nothing"],
)
async def test_answer_without_a_word_is_an_error(
    fake: FakeLlama, model: LlamaServer, reply: Reply
) -> None:
    """LLM-05: no empty bubble."""
    fake.enqueue(reply)
    assert await seen_before(model, ModelEmpty) == []


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=500, body=json.dumps(server_error(SECRET)).encode()), ModelUnavailable),
        (Reply(status=401, body=SECRET.encode()), ModelUnavailable),
        (Reply(status=404, body=b""), ModelUnavailable),
        (Reply(status=302, body=SECRET.encode()), ModelUnavailable),
        (Reply(status=503, body=b'{"error":{"message":"Loading model"}}'), ModelLoading),
        (Reply(status=200, body=SECRET.encode()), ModelUnavailable),
        (Reply(raw=b"data: {not json " + SECRET.encode() + b"\n\n"), ModelUnavailable),
        (Reply(raw=b'data: {"choices":"' + SECRET.encode() + b'"}\n\n'), ModelUnavailable),
        (Reply(raw=b'data: "a string"\n\n'), ModelUnavailable),
        (Reply(raw=b""), ModelUnavailable),
        (Reply(raw=b"x" * 1_100_000), ModelUnavailable),
        (Reply(text=(), error=server_error(SECRET)["error"]), ModelUnavailable),
        (Reply(drop=True), ModelUnavailable),
        (Reply(cut_after=150), ModelUnavailable),
    ],
)
async def test_failure_before_the_first_word(
    fake: FakeLlama, model: LlamaServer, reply: Reply, error: type[ModelError]
) -> None:
    """F4, LLM-01, F11: mapped, nothing of the upstream text, and never asked twice."""
    fake.enqueue(reply)
    assert await seen_before(model, error) == []
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text=("Ho", "la"), finish_reason=None),
        Reply(text=("Ho", "la"), progress=(), cut_after=600),
        Reply(text=("Ho", "la"), error=server_error(SECRET)["error"]),
        Reply(text=("Ho", "la"), error=server_error("Context size has been exceeded.")["error"]),
    ],
    ids=["end without [DONE]", "connection cut", "error event", "window full"],
)
async def test_failure_after_the_first_word_is_an_interruption(
    fake: FakeLlama, model: LlamaServer, reply: Reply
) -> None:
    """F1, SSE-04: a cut answer never looks complete."""
    fake.enqueue(reply)
    texts = await seen_before(model, ModelInterrupted)
    assert texts[0] == "Ho"
    assert "Hola".startswith("".join(texts))


async def test_garbage_after_the_first_word_is_an_interruption(
    fake: FakeLlama, model: LlamaServer
) -> None:
    fake.enqueue(Reply(raw=raw_delta("Ho") + b"data: {garbage\n\n"))
    assert await seen_before(model, ModelInterrupted) == ["Ho"]


async def test_only_token_counts_lost_is_still_an_answer(
    fake: FakeLlama, model: LlamaServer
) -> None:
    fake.enqueue(Reply(text=("Hola",), done=False))
    assert text_of(await answer(model)) == "Hola"
    stream = raw_delta("Hola") + FINISH
    fake.enqueue(Reply(raw=stream + b"data: {}", cut_after=len(stream)))
    assert text_of(await answer(model)) == "Hola"


@pytest.mark.parametrize(
    ("reply", "window"),
    [
        (Reply(status=400, body=overflow_body(6030, 2048)), 2048),
        (
            Reply(
                status=500,
                body=json.dumps(server_error("Context size has been exceeded.")).encode(),
            ),
            None,
        ),
        (Reply(text=(), error=server_error("Context size has been exceeded.")["error"]), None),
    ],
)
async def test_prompt_larger_than_the_window(
    fake: FakeLlama, model: LlamaServer, reply: Reply, window: int | None
) -> None:
    """LLM-02: the caller learns the window and can trim."""
    fake.enqueue(reply)
    with pytest.raises(ContextOverflow) as caught:
        await answer(model)
    assert caught.value.window_tokens == window


async def test_no_server_is_unavailable() -> None:
    with FakeLlama() as gone:
        endpoint = gone.url
    async with LlamaServer(ProviderSettings(endpoint=endpoint)) as model:
        assert await seen_before(model, ModelUnavailable) == []
        with pytest.raises(ModelUnavailable):
            await model.check()
        assert await model.count_tokens("hola") > 0


async def test_server_that_loads_then_serves(fake: FakeLlama, model: LlamaServer) -> None:
    """LLM-01: warming up is not an outage, and ends by itself."""
    fake.loading = True
    await seen_before(model, ModelLoading)
    with pytest.raises(ModelLoading):
        await model.check()
    fake.loading = False
    await model.check()
    assert text_of(await answer(model)) == "Hello world."


@pytest.mark.parametrize("hold", ["headers", "prompt"])
async def test_first_word_has_a_deadline(fake: FakeLlama, hold: str) -> None:
    """F2, F3: a server that hangs is given up, and the connection with it."""
    # A busy machine takes 0.2 s to connect at times: so the connection is open, the deadline 2 s, and what
    # is given up is a question the server has read.
    async with LlamaServer(provider(fake, first_token_seconds=2.0)) as model:
        assert text_of(await answer(model)) == "Hello world."
        fake.enqueue(Reply(hold=hold))  # type: ignore[arg-type]
        started = time.monotonic()
        assert await seen_before(model, ModelTimeout) == []
        assert 1.95 < time.monotonic() - started < ProviderSettings().first_token_seconds / 2
        assert len(fake.requests) == 2
        assert await eventually(lambda: fake.aborted == 1 and fake.open_streams == 0)
        assert text_of(await answer(model)) == "Hello world."


async def test_gap_between_words_has_a_deadline(fake: FakeLlama) -> None:
    """F2: frozen in mid-answer."""
    fake.enqueue(Reply(hold=2))
    async with LlamaServer(provider(fake), gap_seconds=0.3) as model:
        # A busy machine may need longer than the gap between these two already.
        assert await seen_before(model, ModelTimeout) in (["Hello"], ["Hello", " world"])
        assert await eventually(lambda: fake.open_streams == 0)


async def test_whole_answer_has_a_deadline(fake: FakeLlama) -> None:
    """LLM-09: a model that never stops. Words keep coming, so no other deadline can end it."""
    fake.enqueue(Reply(text=("more ",) * 100_000, pause_seconds=0.01))
    async with LlamaServer(provider(fake, total_seconds=0.5)) as model:
        assert await seen_before(model, ModelTimeout)
        assert await eventually(lambda: fake.open_streams == 0)


async def test_pings_do_not_count_as_words(fake: FakeLlama) -> None:
    """llama-server sends comments while it works; they must not keep a dead answer alive."""
    fake.enqueue(Reply(raw=b":\n\n" * 100_000, split_every=3))
    async with LlamaServer(provider(fake, first_token_seconds=0.2)) as model:
        assert await seen_before(model, ModelTimeout) == []


@pytest.mark.parametrize("hold", ["headers", "prompt", 0, 2])
@pytest.mark.parametrize("leave", ["cancel", "close", "cancel scope"])
async def test_leaving_frees_the_model_at_once(
    fake: FakeLlama, model: LlamaServer, hold: str | int, leave: str
) -> None:
    """LLM-08 (a) before the first token, (b) mid-stream; F1's slot; no task is left."""
    fake.enqueue(Reply(hold=hold))  # type: ignore[arg-type]
    before = asyncio.all_tasks()
    stream = model.stream(MESSAGES)
    if leave == "close" and hold != "headers":
        # Two events arrive before any of the holds: a generator at a yield is simply closed.
        await anext(stream)
        await anext(stream)
        await stream.aclose()
    elif leave == "cancel scope":
        # As Litestar does: every await in a `finally` is cancelled again (litestar#3772).
        async with anyio.create_task_group() as group:
            group.start_soon(drain, stream)
            assert await eventually(lambda: fake.open_streams == 1)
            await asyncio.sleep(0.05)
            group.cancel_scope.cancel()
    else:
        task = asyncio.create_task(drain(stream))
        assert await eventually(lambda: fake.open_streams == 1)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await eventually(lambda: fake.aborted == 1 and fake.open_streams == 0)
    assert asyncio.all_tasks() == before
    assert text_of(await answer(model)) == "Hello world."


async def test_server_killed_then_back_on_the_same_client(
    fake: FakeLlama, model: LlamaServer
) -> None:
    """F1: the next question works as soon as the server is there."""
    fake.enqueue(Reply(cut_after=900), Reply())
    with pytest.raises(ModelError):
        await answer(model)
    assert text_of(await answer(model)) == "Hello world."


async def test_stale_kept_connection_is_tried_once_more_on_a_fresh_one(
    fake: FakeLlama, model: LlamaServer
) -> None:
    """«Server disconnected»: only on a reused connection, only before the first byte (F11)."""
    await model.count_tokens("leaves a connection behind")
    fake.enqueue(Reply(drop=True), Reply(text=("again",)))
    assert text_of(await answer(model)) == "again"
    assert (len(fake.requests), fake.connections) == (2, 2)
    await model.count_tokens("leaves a connection behind")
    fake.enqueue(Reply(drop=True), Reply(drop=True), Reply())
    assert await seen_before(model, ModelUnavailable) == []
    assert (len(fake.requests), fake.connections) == (4, 4)


async def test_tokens_are_counted_by_the_model_or_overestimated(
    fake: FakeLlama, model: LlamaServer
) -> None:
    assert await model.count_tokens("uno dos tres") == 3
    fake.loading = True
    assert await model.count_tokens("a" * 300) >= 100
    assert await model.count_tokens("3.14159 2026") >= 10
    assert await model.count_tokens("日本語のブログ") >= 7


async def test_health_check_is_bounded(fake: FakeLlama) -> None:
    """LLM-01: /health that hangs; two seconds, not ten."""
    assert CHECK_SECONDS <= 2.0
    fake.health_gate = threading.Event()
    async with LlamaServer(provider(fake), check_seconds=0.2) as model:
        with pytest.raises(ModelUnavailable, match="timed out"):
            await model.check()
    fake.health_gate = None
    async with LlamaServer(provider(fake)) as model:
        await model.check()


async def test_proxy_variables_do_not_divert_questions(
    fake: FakeLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with LlamaServer(provider(fake)) as model:
        assert text_of(await answer(model)) == "Hello world."


async def test_closing_the_client_ends_a_running_answer(fake: FakeLlama) -> None:
    """F12: at shutdown nobody waits for a model that goes on."""
    fake.enqueue(Reply(hold=1))
    model = LlamaServer(provider(fake))
    await model.open()
    listening = asyncio.create_task(seen_before(model, ModelInterrupted))
    assert await eventually(lambda: fake.open_streams == 1)
    await asyncio.sleep(0.05)
    await model.aclose()
    async with asyncio.timeout(10):  # GAP_SECONDS would be 20
        assert await listening == ["Hello"]
    assert await eventually(lambda: fake.open_streams == 0)


async def test_use_before_open_is_a_model_error() -> None:
    model = LlamaServer(ProviderSettings())
    with pytest.raises(ModelUnavailable):
        await answer(model)
    await model.aclose()


async def drain(stream: AsyncGenerator[ModelEvent, None]) -> None:
    async with aclosing(stream) as events:
        async for _ in events:
            pass


def raw_delta(text: str) -> bytes:
    chunk = {"choices": [{"finish_reason": None, "index": 0, "delta": {"content": text}}]}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
