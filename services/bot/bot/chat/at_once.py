"""What is answered from the index or from memory, before any search: lists of pages, jobs, known answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from bot.chat import catalogue, catalogue_questions, phrases, work_history
from bot.chat.asked import Asked
from bot.chat.catalogue_questions import CatalogueQuestion
from bot.chat.events import Event
from bot.chat.history import questions
from bot.chat.known import replay
from bot.chat.prepared import Prepared
from bot.chat.sources import listed, sources_of
from bot.chat.turn import Turn
from corpus.reader import Index


class AtOnce:
    """Takes a question only if it understands every word of it, or has answered it before."""

    def __init__(self, prepared: Prepared, today: Callable[[], date]) -> None:
        self._prepared = prepared
        self._today = today

    def answer(self, index: Index | None, asked: Asked, turn: Turn) -> list[Event] | None:
        """The events of an answer that needs neither search nor model; None for all others."""
        if index is None:
            return turn.fixed(phrases.NO_INDEX[turn.language], "refusal")
        if wanted := _listed(index, asked):
            answer = catalogue.answer_all(wanted, index, turn.language)
            turn.retrieved()
            return [listed(answer.documents), *turn.fixed(answer.text, "catalogue")]
        jobs = work_history.entries(index, turn.language)
        if (about := work_history.read(asked.question, jobs)) is not None:
            told = work_history.answer(about, jobs, turn.language, self._today())
            turn.retrieved()
            numbered = list(enumerate(told.passages, start=1))
            sources = sources_of(index, numbered, asked.question, None)
            return [sources, *turn.fixed(told.text, "catalogue")]
        if asked.first and not asked.suggested:
            known = self._prepared.find(index, asked.question, turn.language)
            if known is not None:
                return replay(known, turn)
        return None


def _listed(index: Index, asked: Asked) -> tuple[CatalogueQuestion, ...]:
    """The questions for the catalogue that the message is made of; nothing where it is any other."""
    if several := catalogue_questions.read_several(asked.question, index):
        return several
    wanted = catalogue_questions.read_question(asked.question, index)
    if wanted is None and asked.past:
        earlier = questions(asked.past)
        wanted = catalogue_questions.read_next_question(asked.question, earlier, index)
    return () if wanted is None else (wanted,)
