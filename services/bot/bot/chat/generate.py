"""Let the model speak: wait for its turn, fit the prompt, stream what may be shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from time import perf_counter

from msgspec import Struct

from bot.chat import prompt
from bot.chat.admission import Ticket
from bot.chat.attribution import Attribution
from bot.chat.citations import CitationFilter
from bot.chat.errors import ContextOverflow, ModelEmpty
from bot.chat.events import Chunk, Event, Progress, Queued
from bot.chat.ports import Finished, LanguageModel, Message, PromptProgress, TextDelta
from bot.chat.search import Hit
from bot.chat.sources import full_text, supporting
from bot.chat.turn import Turn
from corpus.settings import Settings

OVERFLOW_MARGIN = (
    0.75  # of the configured window, when the server does not say how large its own is
)

OPENING_MARKS = " \n\"'`*([«“‘"  # what a model may put around NO_ANSWER


class Declined(Struct, frozen=True, kw_only=True):
    """The model found no answer in the passages; nothing was shown."""

    finished: Finished | None


class Generator:
    """Turns a question and its passages into the events of a model's answer."""

    def __init__(
        self, settings: Settings, model: LanguageModel, check_open: Callable[[], None]
    ) -> None:
        """`check_open` raises when the server is going down; called between events."""
        self._settings = settings
        self._model = model
        self._check_open = check_open

    async def answer(
        self,
        hits: Sequence[Hit],
        past: Sequence[Message],
        question: str,
        turn: Turn,
        ticket: Ticket,
    ) -> AsyncGenerator[Event | Declined, None]:
        """Queued, Progress and Chunk events, then Done; or `Declined` as the last item.

        Raises:
            ModelError, Restarting: see bot.chat.errors.
        """
        queued_at = perf_counter()
        async with aclosing(ticket.wait_turn()) as places:
            async for position, eta in places:
                yield Queued(position=position, eta_seconds=eta)
        turn.queued((perf_counter() - queued_at) * 1000)
        self._check_open()
        window: int | None = None
        for attempt in (1, 2):
            messages, kept = await prompt.fit(
                self._settings.persona, hits, past, question, turn.language,
                provider=self._settings.provider, model=self._model, window_tokens=window,
            )  # fmt: skip
            try:
                async with aclosing(self._stream(messages, kept, turn)) as events:
                    async for event in events:
                        yield event
                return
            except ContextOverflow as error:
                # Raised before the first word only: our count was too low, or the server's window is
                # smaller than configured.
                if attempt == 2:
                    raise
                window = error.window_tokens or int(
                    self._settings.provider.context_size * OVERFLOW_MARGIN
                )

    async def _stream(
        self, messages: tuple[Message, ...], hits: Sequence[Hit], turn: Turn
    ) -> AsyncGenerator[Event | Declined, None]:
        shown = CitationFilter(len(hits), "\n".join(hit.passage.chunk.text for hit in hits))
        attribution = Attribution([full_text(hit) for hit in hits])
        opening = Opening(active=bool(hits))
        said = ""
        finished: Finished | None = None
        async with aclosing(self._model.stream(messages)) as deltas:
            async for delta in deltas:
                self._check_open()
                if isinstance(delta, PromptProgress):
                    yield Progress(processed=delta.processed, total=delta.total)
                elif isinstance(delta, Finished):
                    finished = delta
                elif isinstance(delta, TextDelta) and (
                    text := attribution.settle(shown.feed(opening.feed(delta.text)))
                ):
                    turn.speaks()
                    said += text
                    yield Chunk(content=text)
        if opening.declined:
            yield Declined(finished=finished)
            return
        if text := attribution.settle(shown.feed(opening.close()) + shown.close()):
            turn.speaks()
            said += text
            yield Chunk(content=text)
        if not said.strip():
            raise ModelEmpty("the model finished without a word")
        if hits and not shown.cited:
            yield Chunk(content=f" [{supporting(hits, said)}]")
        yield turn.done("answer", finished)


class Opening:
    """Takes the model's NO_ANSWER out of the text: at the start it means that the model declined.

    Held back are the first characters while they may still become the word, and later any tail that
    begins it; after the word nothing more is shown.
    """

    def __init__(self, *, active: bool) -> None:
        self._held = ""
        self._active = active
        self._shown = False
        self._over = False
        self.declined = False

    def feed(self, text: str) -> str:
        """Text that may go on."""
        if not self._active:
            return text
        if self._over:
            return ""
        self._held += text
        at = self._held.find(prompt.NO_ANSWER)
        if at >= 0:
            self._over = True
            self.declined = not self._shown and not self._held[:at].strip(OPENING_MARKS)
            return self._release(0 if self.declined else at)
        ready = len(self._held) - _begun(self._held)
        if not self._shown and not self._held[:ready].strip(OPENING_MARKS):
            return ""
        return self._release(ready)

    def close(self) -> str:
        """What was still held when the stream ended: a very short answer."""
        return "" if self._over else self._release(len(self._held))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        self._shown = self._shown or bool(ready)
        return ready


def _begun(text: str) -> int:
    """Length of the longest tail of `text` that begins NO_ANSWER."""
    longest = min(len(prompt.NO_ANSWER) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(prompt.NO_ANSWER[:n])), 0)
