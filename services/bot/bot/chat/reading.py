"""Choose what the model reads: which page, which excerpts, and how much of what was said before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from msgspec.structs import replace

from bot.chat.context import EXCERPT_MARGIN, page_first, passages_as_found
from bot.chat.found import Found
from bot.chat.generate import Answered, Task
from bot.chat.history import questions
from bot.chat.ports.model import Message
from bot.chat.search import Hit
from bot.chat.several import asks_several
from bot.chat.threads import Thread, Threads
from bot.chat.timing_notes import time_notes
from bot.chat.today import utc_today
from corpus.model import Language
from corpus.reader import Index, Page
from corpus.settings import RagSettings

MESSAGES_OF_A_LEANING_QUESTION = 2  # the turn before it
CITATION = re.compile(r"\s?\[\d{1,4}\]")


class Reading:
    """Makes the model's tasks of one bot."""

    def __init__(
        self,
        settings: RagSettings,
        threads: Threads,
        *,
        today: Callable[[], date] = utc_today,
    ) -> None:
        self._today = today
        self._settings = settings
        self._threads = threads

    def task(
        self,
        found: Found,
        question: str,
        past: Sequence[Message],
        conversation_id: str | None,
        language: Language,
    ) -> tuple[Task, Page | None]:
        """What to ask of the model, and the page it rests on (None without pages).

        A conversation that stays on its page goes on where its state left it. A question that needs the
        one before it brings that turn along, any other nothing: each token of it would be evaluated.
        """
        if self._settings.context == "passages":
            context = passages_as_found(found.hits)
            return Task(
                question=question, context=context, past=without_citations(past),
                said_before=tuple(questions(past)),
                notes=time_notes(found, context, language, self._today()), quote=found.sentence,
            ), None  # fmt: skip
        thread = self._threads.find(conversation_id, past) if conversation_id else None
        page = choose_page(found.index, found.hits, thread.page_key if thread else None)
        if thread is not None and thread.page_key != page.key:
            thread = None
        context = page_first(
            page.passages,
            found.hits,
            lambda hit, most_chars: found.sentences(hit.passage, most_chars),
            language=language,
            several=asks_several(question),
            earlier=thread.excerpts if thread else (),
        )
        said: tuple[Message, ...] = ()
        said_before: tuple[str, ...] = ()
        if thread is not None:
            said = thread.messages
            said_before = tuple(message.content for message in said)
        elif found.retrieved.leaning:
            said = without_citations(past[-MESSAGES_OF_A_LEANING_QUESTION:])
            said_before = tuple(questions(said))
        return Task(
            question=question, context=context, past=said, said_before=said_before,
            quote=found.sentence,
            notes=time_notes(found, context, language, self._today()), conversation_id=conversation_id,
        ), page  # fmt: skip

    def remember(self, task: Task, page: Page, answered: Answered) -> None:
        """After a whole answer: the next question of the conversation may go on from here."""
        if task.conversation_id is None:
            return
        self._threads.keep(
            task.conversation_id,
            Thread(
                page_key=page.key,
                messages=answered.messages[1:],
                excerpts=(*answered.context.earlier, *answered.context.excerpts),
                question=task.question,
                shown=answered.said,
            ),
        )


def choose_page(index: Index, hits: Sequence[Hit], current: str | None) -> Page:
    """The page of the best hit; the conversation's own page while it has one nearly as good."""
    best = index.page_of(hits[0].passage.chunk_id)
    for hit in hits:
        page = index.page_of(hit.passage.chunk_id)
        if page.key == current and hit.score > hits[0].score - EXCERPT_MARGIN:
            return page
    return best


def without_citations(past: Sequence[Message]) -> tuple[Message, ...]:
    """A client's history with the numbers of its answers taken out: they count other passages."""
    return tuple(
        replace(message, content=CITATION.sub("", message.content))
        if message.role == "assistant"
        else message
        for message in past
    )
