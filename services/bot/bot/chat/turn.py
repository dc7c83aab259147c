"""Clock and language of one answer while it runs."""

from __future__ import annotations

from time import perf_counter

from bot.chat.events import Chunk, Done, Event, Route, Timings, Usage
from bot.chat.ports.model import Finished
from corpus.model import Language


class Turn:
    """Started when the question is in; gathers the milliseconds `done.timings` reports."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._started = perf_counter()
        self._retrieval_ms = 0.0
        self._queue_ms = 0.0
        self._first_token_ms = 0.0
        self._restore_ms = 0.0
        self._asked_at = 0.0
        self._prefill_ms = 0.0

    def elapsed_ms(self) -> float:
        """Milliseconds since the question came in."""
        return round((perf_counter() - self._started) * 1000, 1)

    def retrieved(self) -> float:
        """Note that the search is over; its milliseconds."""
        self._retrieval_ms = self.elapsed_ms()
        return self._retrieval_ms

    def queued(self, milliseconds: float) -> None:
        """Note how long the model was waited for."""
        self._queue_ms = round(milliseconds, 1)

    def restored(self, milliseconds: float) -> None:
        """Note how long the prompt's state took to restore; from now on the prompt is evaluated."""
        self._restore_ms = round(milliseconds, 1)
        self._asked_at = perf_counter()

    def prefilled(self) -> None:
        """Note the model's first token, shown or not; later calls change nothing."""
        if not self._prefill_ms:
            self._prefill_ms = round((perf_counter() - self._asked_at) * 1000, 1)

    def speaks(self) -> None:
        """Note the first word; later calls change nothing."""
        if not self._first_token_ms:
            self._first_token_ms = self.elapsed_ms()

    def fixed(self, text: str, route: Route, finished: Finished | None = None) -> list[Event]:
        """The last events of an answer in prepared words."""
        self.speaks()
        return [Chunk(content=text), self.done(route, finished, fixed=True)]

    def done(self, route: Route, finished: Finished | None, *, fixed: bool = False) -> Done:
        """The last event; `finished` is the model's own account where one was asked."""
        return Done(
            usage=Usage(
                input_tokens=finished.input_tokens if finished else 0,
                output_tokens=finished.output_tokens if finished else 0,
            ),
            finish_reason="fixed" if fixed else finished.finish_reason if finished else "stop",
            route=route,
            timings=Timings(
                retrieval_ms=self._retrieval_ms,
                queue_ms=self._queue_ms,
                restore_ms=self._restore_ms,
                prefill_ms=self._prefill_ms,
                first_token_ms=self._first_token_ms,
                total_ms=self.elapsed_ms(),
                cached_tokens=finished.cached_tokens if finished else 0,
                evaluated_tokens=finished.evaluated_tokens if finished else 0,
            ),
        )
