"""What the model reads for one question: a page as the prompt's prefix, short excerpts behind it.

A prefix costs nothing when its state is restored, while every token behind it costs 25–35 ms with a
1.5B model on two CPUs. So the best passage brings its whole page, and of other pages only the best
sentences come along, and only where the search could hardly tell them from the page's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.chat.search import Hit
from corpus.model import Language
from corpus.reader import Passage

EXCERPT_MARGIN = 0.015
"""An excerpt's passage scores at most so much less than the page's best; in cosine units."""
EXCERPT_CHARS = 140
"""About 40 tokens: 0.8 s with a 1.5B model on two CPUs. 200 characters held no more of the labelled facts
of the sample site, and 120 no less."""
MOST_EXCERPTS = 1
MOST_EXCERPTS_OF_SEVERAL = 2
"""For a question that asks for several things."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """The best sentences of a passage that is not on the page."""

    passage: Passage
    text: str


class Note(Struct, frozen=True, kw_only=True):
    """A fact worked out for this question, in the visitor's language: how long something lasted."""

    text: str
    numbers: tuple[int, ...] = ()
    """Of the passages it was worked out from, as the model counts them."""


class Context(Struct, frozen=True, kw_only=True):
    """Passages numbered as the model sees them: the prefix's from 1, then earlier and new excerpts."""

    prefix: tuple[Passage, ...] = ()
    earlier: tuple[Excerpt, ...] = ()
    """Excerpts that stand in earlier turns of the conversation."""
    excerpts: tuple[Excerpt, ...] = ()
    found: tuple[int, ...] = ()
    """Numbers of the passages the search found, best first: the visitor sees them in this order."""
    shared: bool = False
    """The prefix is a whole page, the same for many questions: its evaluated state is worth keeping."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All of them in the order of their numbers."""
        behind = (*self.earlier, *self.excerpts)
        return (*self.prefix, *(excerpt.passage for excerpt in behind))

    @property
    def labels(self) -> tuple[int, ...]:
        """The visitor's number of each passage: those found count from 1, the page's others follow."""
        rest = (n for n in range(1, len(self.passages) + 1) if n not in self.found)
        order = [*self.found, *rest]
        return tuple(order.index(n) + 1 for n in range(1, len(order) + 1))

    @property
    def found_labels(self) -> tuple[int, ...]:
        """The visitor's numbers of what the search found."""
        return tuple(range(1, len(self.found) + 1))

    def is_native(self, language: Language) -> bool:
        """Whether all that the model reads is in this language."""
        return all(passage.document.lang == language for passage in self.passages)

    def without_last(self) -> Context | None:
        """One passage less, for a prompt that is too long; None when only the best is left.

        Excerpts go first, then the end of the page, but never the best passage.
        """
        if self.excerpts:
            gone = len(self.passages)
            return replace(
                self,
                excerpts=self.excerpts[:-1],
                found=tuple(n for n in self.found if n != gone),
            )
        if len(self.prefix) < 2:
            return None
        best = self.found[0] if self.found else 1
        gone = len(self.prefix) if best != len(self.prefix) else 1
        return Context(
            prefix=tuple(p for n, p in enumerate(self.prefix, start=1) if n != gone),
            found=tuple(n - (n > gone) for n in self.found if n != gone),
        )


def passages_as_found(hits: Sequence[Hit]) -> Context:
    """The found passages themselves as prefix: another question has another prefix."""
    return Context(prefix=tuple(hit.passage for hit in hits), found=tuple(range(1, len(hits) + 1)))


def page_first(
    page: Sequence[Passage],
    hits: Sequence[Hit],
    best_sentences: Callable[[Hit, int], str],
    *,
    language: Language,
    several: bool = False,
    earlier: tuple[Excerpt, ...] = (),
) -> Context:
    """The page as prefix, and excerpts of hits elsewhere that score nearly as well.

    Of those in the visitor's own language only where several things are asked for: they are among the
    surest of the search, and of 154 such labelled questions none found a fact in an excerpt that its page
    did not have. Across languages 6 of 100 did.

    Args:
        page: passages of the page of the best hit, in the order of their document.
        hits: what the search found, best first, at least one of them on the page.
        best_sentences: what of a hit answers the question, in at most so many characters.
        language: the visitor's.
        several: the question asks for several things.
        earlier: excerpts that the conversation has seen already.
    """
    places = {passage.chunk_id: n for n, passage in enumerate(page, start=1)}
    best = max(hit.score for hit in hits if hit.passage.chunk_id in places)
    first = len(page) + len(earlier) + 1
    most = MOST_EXCERPTS_OF_SEVERAL if several else MOST_EXCERPTS
    excerpts: list[Excerpt] = []
    found: list[int] = []
    for hit in hits:
        if (n := places.get(hit.passage.chunk_id)) is not None:
            found.append(n)
        elif len(excerpts) < most and (
            several or (hit.passage.document.lang != language and hit.score > best - EXCERPT_MARGIN)
        ):
            found.append(first + len(excerpts))
            excerpts.append(Excerpt(passage=hit.passage, text=best_sentences(hit, EXCERPT_CHARS)))
    return Context(
        prefix=tuple(page),
        earlier=earlier,
        excerpts=tuple(excerpts),
        found=tuple(found),
        shared=True,
    )
