"""From a message and its history to evidence and a verdict: the whole way before any model is called."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date

from msgspec.structs import replace

from bot.chat import catalogue, catalogue_questions, work_history
from bot.chat.attributes import without_missing
from bot.chat.calibrations import calibration_for
from bot.chat.catalogue import CatalogueAnswer
from bot.chat.followup import (
    FOREIGN_SHARE,
    is_foreign,
    may_lean,
    new_subject,
    points_back,
    with_context,
)
from bot.chat.gate import Calibration, Decision, decide
from bot.chat.halves import in_plain_words, one_half, without_unmentioned
from bot.chat.history import questions
from bot.chat.ports.index import IndexState, QueryEmbedder
from bot.chat.ports.model import Message
from bot.chat.retrieved import Retrieved
from bot.chat.search import Evidence, search
from bot.chat.several import MARKS, parts
from bot.chat.tasks import is_task
from bot.chat.time_questions import time_question
from bot.chat.today import utc_today
from bot.chat.work_history import WorkAnswer
from corpus.errors import EmbeddingError
from corpus.model import Language
from corpus.reader import Index
from corpus.section_kinds import SectionKind
from corpus.settings import Settings
from corpus.vectors import Vector

log = logging.getLogger("bot.chat")


class Retriever:
    """Searches the index in service and asks the gate."""

    def __init__(
        self,
        settings: Settings,
        embedder: QueryEmbedder,
        *,
        today: Callable[[], date] = utc_today,
    ) -> None:
        self._today = today
        self._settings = settings
        self._embedder = embedder

    async def retrieve(
        self,
        index: Index,
        state: IndexState,
        message: str,
        history: Sequence[Message],
        language: Language,
    ) -> Retrieved:
        """Search the message alone, with its context, or both, and keep what the evidence favours.

        A message that points back is searched with the question it follows; a short one both ways,
        alone first, so that a new subject is not dragged back to the old one.
        """
        if (other := new_subject(message)) is not None:
            return await self._alone(index, state, other, language)
        combined = with_context(message, questions(history))
        foreign = combined is not None and is_foreign(message, index.holds)
        if combined is not None and points_back(message) and not foreign:
            return replace(await self._search(index, state, combined, language), leaning=True)
        alone = await self._alone(index, state, message, language)
        # Of a site in the other language alone, all words of the question may be foreign.
        foreign = foreign and alone.evidence.unknown_share >= FOREIGN_SHARE
        settled = alone.decision.answerable or alone.unmentioned or foreign
        if combined is None or settled or not may_lean(message):
            return alone
        leaning = await self._search(index, state, combined, language)
        return replace(leaning, leaning=True) if leaning.decision.answerable else alone

    async def _alone(
        self, index: Index, state: IndexState, message: str, language: Language
    ) -> Retrieved:
        """A question that needs no other; of one in two parts the part that is answered."""
        whole = await self._search(index, state, message, language)
        asked = parts(message)
        if len(asked) > 1:
            lists = self._lists(index, asked, language)
            found = [
                replace(await self._search(index, state, part, language), listing=listing)
                for part, listing in zip(asked, lists, strict=True)
            ]
            half = one_half(whole, found, index.holds, self._cut(state, whole))
            if half is not None:
                return half
        elif (half := await self._without_missing(index, state, whole, language)) is not None:
            return half
        one = without_unmentioned(whole, index.holds)
        if is_task(message, index.holds):
            one = replace(one, decision=Decision(answerable=False, logit=one.decision.logit))
        return one

    def _lists(
        self, index: Index, asked: Sequence[str], language: Language
    ) -> list[CatalogueAnswer | WorkAnswer | None]:
        """What the catalogue or the dates of jobs answer to each part."""
        jobs = work_history.entries(index, language)
        found: list[CatalogueAnswer | WorkAnswer | None] = []
        for part, pages in zip(asked, catalogue_questions.read_parts(asked, index), strict=True):
            about = work_history.read(part, jobs)
            if pages is not None:
                found.append(catalogue.answer(pages, index, language))
            elif about is not None:
                found.append(work_history.answer(about, jobs, language, self._today()))
            else:
                found.append(None)
        return found

    async def _without_missing(
        self, index: Index, state: IndexState, whole: Retrieved, language: Language
    ) -> Retrieved | None:
        """Of «the stack and the budget of Lonja» the stack, where no passage gives a budget."""
        if not whole.evidence.missing_attributes:
            return None
        texts = [hit.passage.chunk.text for hit in whole.evidence.hits]
        if (cut := without_missing(whole.query, texts)) is None:
            return None
        known, unknown = cut
        found = await self._search(index, state, known.strip(MARKS), language)
        if not found.decision.answerable:
            return None
        return replace(found, unanswered=in_plain_words(unknown))

    def _calibration(self, state: IndexState, *, dense: bool) -> Calibration:
        return calibration_for(self._settings.embeddings.model, dense=dense, own=state.calibration)

    def _cut(self, state: IndexState, found: Retrieved) -> float:
        """The probability from which the gate lets a question through."""
        fitted = self._calibration(state, dense=found.evidence.dense).threshold
        return fitted if self._settings.rag.threshold is None else self._settings.rag.threshold

    async def _search(
        self, index: Index, state: IndexState, query: str, language: Language
    ) -> Retrieved:
        vector = await self._embed(query) if state.dense else None
        asked = time_question(query)
        kind = asked.kind if asked else None
        evidence = search(index, query, vector, self._settings.rag, language, kind)
        calibration = self._calibration(state, dense=vector is not None)
        decision = decide(evidence, calibration, self._settings.rag.threshold)
        if kind is not None and not evidence.unknown_names and _holds(evidence, kind):
            # The words of such a question stand nowhere: «ha trabajado» over a company and two dates.
            decision = replace(decision, answerable=True)
        return Retrieved(
            query=query, vector=vector, evidence=evidence, decision=decision, time=asked
        )

    async def _embed(self, query: str) -> Vector | None:
        try:
            return await self._embedder.embed_query(query)
        except EmbeddingError as error:
            log.warning("searching by keywords only: %s", error, extra={"code": error.code})
            return None


def _holds(evidence: Evidence, kind: SectionKind) -> bool:
    return bool(evidence.hits) and evidence.hits[0].passage.chunk.section == kind
