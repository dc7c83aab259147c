"""Suggested questions and exact repeats: answered once by the model, then at once.

The suggested ones are the owner's, or made from the pages' titles; they are answered while nobody waits.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.known import identity_of, known_key
from bot.chat.ports.known import KnownAnswer, KnownKey, KnownStores
from bot.chat.suggestions import MOST_SHOWN, generated_questions
from corpus.model import LANGUAGES, IndexMeta, Language
from corpus.reader import Index
from corpus.settings import Settings


class Prepared:
    """What is known in advance, for the index in service."""

    def __init__(self, settings: Settings, stores: KnownStores | None) -> None:
        self._settings = settings
        self._stores = stores
        self._identity: tuple[IndexMeta, str] | None = None
        self._followed: IndexMeta | None = None
        self._tried: set[tuple[str, Language]] = set()
        """Questions that no answer could be kept of; asked again only of another index."""

    async def follow(self, index: Index) -> None:
        """Forget what another index, prompt or model answered."""
        if self._stores is None or self._followed == index.meta:
            return
        self._followed = index.meta
        identity = self._identity_of(index)
        self._tried.clear()
        await self._stores.suggested.retain(identity)
        await self._stores.repeats.retain(identity)

    def find(self, index: Index, question: str, language: Language) -> KnownAnswer | None:
        """The answer given before to this very question."""
        key = self._key(index, question, language)
        if self._stores is None or key is None:
            return None
        return self._stores.suggested.find(key) or self._stores.repeats.find(key)

    async def keep(
        self,
        index: Index,
        question: str,
        language: Language,
        answer: KnownAnswer,
        *,
        suggested: bool,
    ) -> None:
        """Keep an answer for whoever asks the same next."""
        key = self._key(index, question, language)
        if self._stores is not None and key is not None:
            store = self._stores.suggested if suggested else self._stores.repeats
            await store.keep(key, answer)

    def next(self, index: Index) -> tuple[str, Language] | None:
        """A suggested question that no answer is kept of yet; None when all are done."""
        if self._stores is None:
            return None
        for language in LANGUAGES:
            for question in self._suggested(index, language):
                key = self._key(index, question, language)
                if key is None or (question, language) in self._tried:
                    continue
                if self._stores.suggested.find(key) is None:
                    return question, language
        return None

    def tried(self, question: str, language: Language) -> None:
        """Do not ask this of the same index again, answered or not."""
        self._tried.add((question, language))

    def shown(self, index: Index | None, language: Language) -> tuple[str, ...]:
        """What visitors are offered: the owner's questions, or generated ones that have an answer."""
        own = tuple(self._settings.persona.suggested_questions.get(language, ()))
        if own or index is None or self._stores is None:
            return own
        return tuple(
            question
            for question in self._suggested(index, language)
            if (key := self._key(index, question, language)) is not None
            and self._stores.suggested.find(key) is not None
        )

    def _suggested(self, index: Index, language: Language) -> Sequence[str]:
        own = self._settings.persona.suggested_questions.get(language, ())
        return own or generated_questions(index.documents.values(), language)[:MOST_SHOWN]

    def _key(self, index: Index, question: str, language: Language) -> KnownKey | None:
        return known_key(self._identity_of(index), language, question)

    def _identity_of(self, index: Index) -> str:
        if self._identity is None or self._identity[0] != index.meta:
            self._identity = (index.meta, identity_of(index, self._settings))
        return self._identity[1]
