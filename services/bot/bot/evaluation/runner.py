"""Ask all questions one after the other, as one polite visitor would."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, Protocol

from bot.evaluation.answers import Answer, gather
from bot.evaluation.questions import Question, Turn

Message = dict[str, str]
MOST_REFUSALS = 20
"""So often a question is asked again when the bot says `Retry-After`; then it counts as failed."""


class AskBot(Protocol):
    """Sends one question; the events of its answer."""

    def __call__(
        self, turn: Turn, history: Sequence[Message], conversation_id: str
    ) -> Generator[dict[str, Any], None, None]: ...


class Runner:
    """Asks, waits when it is told to, and gathers what came back."""

    def __init__(
        self,
        ask: AskBot,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        waiting: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Prepare.

        Args:
            clock: monotonic seconds.
            waiting: told the seconds before each wait that the bot asked for.
        """
        self._ask = ask
        self._clock = clock
        self._sleep = sleep
        self._waiting = waiting

    def answers(self, question: Question) -> Iterator[Answer]:
        """The answers of one conversation, turn by turn; a failed one does not end it."""
        history: list[Message] = []
        conversation_id = ""
        for turn in question.turns:
            forged = [{"role": said.role, "content": said.content} for said in turn.history]
            answer = self._patiently(turn, [*history, *forged], conversation_id)
            yield answer
            conversation_id = answer.conversation_id or conversation_id
            if not answer.error and answer.text.strip():
                history += forged
                history.append({"role": "user", "content": turn.question})
                history.append({"role": "assistant", "content": answer.text})

    def _patiently(self, turn: Turn, history: Sequence[Message], conversation_id: str) -> Answer:
        for refusals in range(MOST_REFUSALS + 1):
            with closing(self._ask(turn, history, conversation_id)) as events:
                answer = gather(events, self._clock)
            seconds = answer.retry_after_seconds
            if seconds is None or refusals == MOST_REFUSALS:
                break
            self._waiting(seconds)
            self._sleep(seconds)
        return answer
