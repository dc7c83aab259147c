"""What a search found, in the forms that an answer needs: sources, quotes, a refusal, plain passages."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bot.chat import phrases
from bot.chat.best_sentences import best_sentences
from bot.chat.catalogue import CatalogueAnswer
from bot.chat.context import Context
from bot.chat.events import Event, Sources
from bot.chat.extracts import MOST_QUOTES, QUOTE_CHARS, Reason, extracts
from bot.chat.guard.completion import quotation
from bot.chat.halves import in_plain_words
from bot.chat.ports.model import Finished
from bot.chat.retrieved import Retrieved
from bot.chat.search import Hit
from bot.chat.sources import listed, sources_of
from bot.chat.suggestions import question_about
from bot.chat.turn import Turn
from bot.chat.work_history import WorkAnswer
from corpus.model import Language
from corpus.reader import Index, Passage

NEAREST_PAGES = 3
SUGGESTIONS_IN_REFUSAL = 3


class Found(Struct, frozen=True, kw_only=True):
    """One question's evidence in one index."""

    index: Index
    retrieved: Retrieved

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The passages, best first."""
        return self.retrieved.evidence.hits

    def sources(self, context: Context, labels: Sequence[int]) -> Sources:
        """The passages of a context under these numbers of the visitor's."""
        places = {label: n for n, label in enumerate(context.labels)}
        return self._named([(label, context.passages[places[label]]) for label in sorted(labels)])

    def listed(self, listing: CatalogueAnswer | WorkAnswer) -> Sources:
        """The pages or passages of a list, numbered as in its text."""
        if isinstance(listing, CatalogueAnswer):
            return listed(listing.documents)
        return self._named(list(enumerate(listing.passages, start=1)))

    def sentences(self, passage: Passage, most_chars: int = QUOTE_CHARS) -> str:
        """What of a passage answers the question, as one plain line."""
        return best_sentences(passage, self.retrieved.query, most_chars, self._window(passage))

    def sentence(self, passage: Passage, said: str = "") -> str:
        """The one sentence of a passage that is nearest to the question, and to what an answer said of it.

        Its neighbours may be about something else, or written to be read out by a machine.
        """
        asked = f"{self.retrieved.query} {said}"
        return best_sentences(passage, asked, QUOTE_CHARS, self._window(passage), alone=True)

    def question(self, asked: str) -> str:
        """What the model is to answer of a visitor's question: the part that the site knows of."""
        return f"{self.retrieved.query}?" if self.retrieved.unanswered else asked

    def remarks(self, language: Language, left_open: Sequence[str] = ()) -> str:
        """What stands behind an answer: which part of the question the site, or the answer, leaves open."""
        said = phrases.remarks(
            language, self.retrieved.unmentioned, self.retrieved.unanswered, left_open
        )
        return "".join(f"\n\n{remark}" for remark in said)

    def refusal(
        self, suggested: Sequence[str], turn: Turn, finished: Finished | None = None
    ) -> list[Event]:
        """A kind no with the nearest pages: as sources, and by name in the text.

        Where the model declined what the search took for answerable, one of the two is wrong: then the best
        passage is quoted, and the visitor judges.

        Args:
            suggested: questions that have an answer; without any, one is asked about each nearest page.
            finished: the model's own account where it was asked.
        """
        nearest: dict[str, Passage] = {}
        for hit in self.hits:
            if not hit.passage.document.generated:
                nearest.setdefault(hit.passage.document.path, hit.passage)
        pages = list(nearest.values())[:NEAREST_PAGES]
        questions = suggested or [
            question_about(passage.document, turn.language) for passage in pages
        ]
        text = phrases.refusal(
            turn.language,
            [passage.document.title for passage in pages],
            questions[:SUGGESTIONS_IN_REFUSAL],
            self.retrieved.unmentioned,
            closest=quotation(1, self.sentence(pages[0]), turn.language)
            if finished and pages
            else "",
        )
        numbered = list(enumerate(pages, start=1))
        return [self._named(numbered), *turn.fixed(text, "refusal", finished)]

    def quoted_half(self, turn: Turn, finished: Finished) -> list[Event]:
        """Where the model declined the part that the search found: the best passage's own words on it.

        They and what the site says nothing about; no event where only generated pages were found.
        """
        own = (hit.passage for hit in self.hits if not hit.passage.document.generated)
        best = next(own, None)
        if best is None:
            return []
        said = quotation(1, self.sentences(best), turn.language)
        text = phrases.closest_to(turn.language, in_plain_words(self.retrieved.query), said)
        text += self.remarks(turn.language)
        return [self._named([(1, best)]), *turn.fixed(text, "passages", finished)]

    def extracts(self, turn: Turn, reason: Reason) -> list[Event]:
        """The passages in their own words where no model answers; labelled so."""
        numbered = [(n, hit.passage) for n, hit in enumerate(self.hits[:MOST_QUOTES], start=1)]
        text = extracts(numbered, self.retrieved.query, turn.language, reason, self._window)
        text += self.remarks(turn.language)
        return [self._named(numbered), *turn.fixed(text, "passages")]

    def _named(self, numbered: Sequence[tuple[int, Passage]]) -> Sources:
        return sources_of(self.index, numbered, self.retrieved.query, self.retrieved.vector)

    def _window(self, passage: Passage) -> int | None:
        vector = self.retrieved.vector
        return None if vector is None else self.index.best_window(passage.chunk_id, vector)
