"""Let one chat server speak: restore the page's state, stream what may be shown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from bot.chat import prompt
from bot.chat.context import Context, Note
from bot.chat.errors import ContextOverflow, ModelEmpty
from bot.chat.events import Chunk, Event, Progress
from bot.chat.ports.model import (
    Finished,
    LanguageModel,
    Message,
    ModelEvent,
    PromptProgress,
    TextDelta,
)
from bot.chat.ports.states import Prefix, PromptStates, Restored, Warmed
from bot.chat.speech import Speech
from bot.chat.turn import Turn
from corpus.reader import Passage
from corpus.settings import Settings

log = logging.getLogger("bot.chat")

OVERFLOW_MARGIN = (
    0.75  # of the configured window, when the server does not say how large its own is
)


class Quote(Protocol):
    """Finds the sentence of a passage that answers best, given what was said so far."""

    def __call__(self, passage: Passage, said: str) -> str: ...


class Task(Struct, frozen=True, kw_only=True):
    """What the model is to answer, and from what."""

    question: str
    context: Context
    past: tuple[Message, ...] = ()
    said_before: tuple[str, ...] = ()
    """What of it may be said again though no passage holds it: a client's word for an answer does not
    count."""
    notes: tuple[Note, ...] = ()
    quote: Quote = lambda passage, said: ""
    """For an answer that can't stand alone."""
    conversation_id: str | None = None
    """Where the prompt continues what the model said before: that state is tried first."""


class Heard:
    """What one generation gave, shown or not."""

    def __init__(self) -> None:
        self.text = ""
        self.whole = False
        """The model came to its own end, and the server said what it counted."""
        self._finished: Finished | None = None
        self._input_tokens = self._pieces = 0

    def hear(self, event: ModelEvent) -> None:
        """Take one event of the model."""
        if isinstance(event, TextDelta):
            self.text += event.text
            self._pieces += 1
        elif isinstance(event, PromptProgress):
            self._input_tokens = event.total
        else:
            self._finished, self.whole = event, True

    @property
    def finished(self) -> Finished:
        """The server's counts; of a generation that was left, our own."""
        return self._finished or Finished(
            finish_reason="stop", input_tokens=self._input_tokens, output_tokens=self._pieces
        )


class Declined(Struct, frozen=True, kw_only=True):
    """The model found no answer in the passages; nothing was shown."""

    finished: Finished


class Answered(Struct, frozen=True, kw_only=True):
    """The answer is complete."""

    finished: Finished
    context: Context
    """What the model read."""
    messages: tuple[Message, ...]
    """The prompt and the answer as generated; one that was stopped, as shown."""
    said: str
    """The answer as shown."""
    cited: tuple[int, ...]
    """The visitor's numbers of the passages the answer names."""


Item = Event | Declined | Answered


class Generator:
    """Turns a question and its passages into the events of an answer by one chat server."""

    def __init__(
        self,
        settings: Settings,
        model: LanguageModel,
        states: PromptStates,
        check_open: Callable[[], None],
    ) -> None:
        """`check_open` raises when the server is going down; called between events."""
        self._settings = settings
        self._model = model
        self._states = states
        self._check_open = check_open

    def held_tokens(self, task: Task, turn: Turn) -> int:
        """Tokens of the task's prompt that the server need not evaluate, as far as its slot is known."""
        if not (task.context.shared and self._states.enabled):
            return 0
        text = prompt.system_text(self._settings.persona, task.context, turn.language)
        return self._states.held_tokens(Prefix(text=text), task.conversation_id)

    async def answer(self, task: Task, turn: Turn) -> AsyncGenerator[Item, None]:
        """Progress and Chunk events, and as the last item `Answered` or `Declined`.

        Call it in the server's turn only.

        Raises:
            ModelError, Restarting: see bot.chat.errors.
        """
        self._check_open()
        window: int | None = None
        for attempt in (1, 2):
            messages, context = await prompt.fit(
                self._settings.persona, task.context, task.past, task.question, turn.language,
                notes=task.notes, provider=self._settings.provider, model=self._model,
                window_tokens=window,
            )  # fmt: skip
            try:
                async with aclosing(
                    self._speak(replace(task, context=context), messages, turn)
                ) as items:
                    async for item in items:
                        yield item
                return
            except ContextOverflow as error:
                # Raised before the first word only: our count was too low, or the server's window is
                # smaller than configured.
                if attempt == 2:
                    raise
                window = error.window_tokens or int(
                    self._settings.provider.context_size * OVERFLOW_MARGIN
                )

    async def _speak(
        self, task: Task, messages: tuple[Message, ...], turn: Turn
    ) -> AsyncGenerator[Item, None]:
        prefix = Prefix(text=messages[0].content)
        shared = task.context.shared and self._states.enabled
        # Reading the evidence takes the guard 20 ms and more: as long as the restore, and beside it.
        speech, restored = await asyncio.gather(
            asyncio.to_thread(self._speech, task, turn),
            self._restore(prefix, task),
        )
        turn.restored(restored.ms)
        evaluated = 0
        if shared and restored.kind == "miss":
            # The page alone first, so that the next visitor finds it: together as much work.
            async with aclosing(self._states.warm(prefix)) as warming:
                async for item in warming:
                    self._check_open()
                    if isinstance(item, Warmed):
                        evaluated = item.tokens
                    else:
                        yield Progress(processed=item.processed, total=item.total)
        heard = Heard()
        async with aclosing(self._listen(messages, speech, heard, turn)) as events:
            async for event in events:
                # A bar that was full must not go back to the beginning of its end.
                if not (evaluated and isinstance(event, Progress)):
                    yield event
        if speech.foreign:
            log.info("answer in another language", extra={"language": turn.language})
            speech = self._speech(task, turn)
            messages, heard = prompt.insist(messages, turn.language), Heard()
            async with aclosing(self._listen(messages, speech, heard, turn)) as events:
                async for event in events:
                    if not isinstance(event, Progress):
                        yield event
        finished = heard.finished
        if shared and heard.whole:
            finished = self._counted(restored, finished, prefix, task, evaluated)
        if speech.declined or (speech.stopped and speech.wordless):
            # What the model would have said begins with something that no passage holds.
            log.info("no answer by the model", extra={"kind": speech.stopped or "declined"})
            yield Declined(finished=finished)
            return
        generated = speech.said if speech.looping else heard.text
        if kind := _to_complete(heard, speech):
            log.info("answer completed by quotation", extra={"kind": kind})
            turn.speaks()
            yield Chunk(content=speech.completed(partial(task.quote, said=speech.said)))
            if kind != "bare":  # what was stopped must not come back as something said before
                generated = speech.said
        if not speech.said.strip():
            raise ModelEmpty("the model finished without a word")
        yield Answered(
            finished=finished,
            context=task.context,
            messages=(*messages, Message(role="assistant", content=generated)),
            said=speech.said,
            cited=speech.cited,
        )

    async def _listen(
        self, messages: tuple[Message, ...], speech: Speech, heard: Heard, turn: Turn
    ) -> AsyncGenerator[Chunk | Progress, None]:
        """Stream one generation through `speech`; left as soon as nothing more of it may be shown."""
        async with aclosing(self._model.stream(messages)) as deltas:
            async for delta in deltas:
                self._check_open()
                heard.hear(delta)
                if isinstance(delta, PromptProgress):
                    yield Progress(processed=delta.processed, total=delta.total)
                elif isinstance(delta, TextDelta):
                    turn.prefilled()
                    if text := speech.feed(delta.text):
                        turn.speaks()
                        yield Chunk(content=text)
                    if speech.stopped or speech.foreign:
                        return
                    if speech.looping:
                        log.info("answer that went round in circles ended")
                        break
        if text := speech.close():
            turn.speaks()
            yield Chunk(content=text)

    def _speech(self, task: Task, turn: Turn) -> Speech:
        persona = self._settings.persona
        return Speech(
            task.context,
            turn.language,
            question=task.question,
            said_before=task.said_before,
            notes=task.notes,
            allowed=[persona.name],
            secret=[prompt.RULES],
            echoes=[
                *(prompt.tail(task.context, turn.language, opens=each) for each in (True, False)),
                prompt.INSIST[turn.language],
            ],
        )

    async def _restore(self, prefix: Prefix, task: Task) -> Restored:
        if not (task.context.shared and self._states.enabled):
            return Restored(kind="miss")
        return await self._states.restore(prefix, task.conversation_id)

    def _counted(
        self,
        restored: Restored,
        finished: Finished,
        prefix: Prefix,
        task: Task,
        evaluated: int,
    ) -> Finished:
        """Let the states know what was reused; a page evaluated just now counts as evaluated."""
        self._states.answered(restored, finished, prefix, task.conversation_id)
        return replace(
            finished,
            cached_tokens=max(finished.cached_tokens - evaluated, 0),
            evaluated_tokens=finished.evaluated_tokens + evaluated,
        )


def _to_complete(heard: Heard, speech: Speech) -> str:
    """Why a sentence of the source has to stand behind what was shown; empty where it need not."""
    if speech.stopped or speech.foreign:
        return speech.stopped or "language"
    # Small models now and then answer "[1]": they mean the passage.
    if speech.wordless:
        return "words" if heard.text.strip() else ""
    return "bare" if speech.bare else ""
