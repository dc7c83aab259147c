"""Find the passages of a question: keywords and meaning, joined by score.

Candidates are the best of BM25 and the best of the dense cosine. Their score is

    cosine + lexical_weight · (idf mass of the question's content words in the chunk ÷ total idf mass)

with idf = ln(1 + (N − df + ½) / (df + ½)), the Robertson–Spärck Jones weight FTS5's BM25 uses too.
Plain rank fusion stays selectable; across languages it believes words that match by accident
(docs/performance.md has both side by side).

In an index of both languages, embedding models rank every passage in the question's language above
the right one in the other. So cosines are levelled: each language's passages are compared with the
mean of their own language for this question, and ordinary words count less (bot.chat.question_words).
`python -m bench.site` shows what each of these gains.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from bot.chat.attributes import missing_attributes
from bot.chat.question_words import Lexicon, read_words
from bot.chat.sources import full_text
from bot.chat.versions import lacks_version, lacks_year
from corpus.model import Language
from corpus.reader import Index, Passage
from corpus.section_kinds import SectionKind
from corpus.settings import RagSettings
from corpus.text import words
from corpus.vectors import Vector

CANDIDATES_PER_HIT = 3  # candidates taken from each side for every passage wanted
RRF_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009
TRANSLATION_WEIGHT = 0.5  # in a ranking by keywords alone: a word may have many
LEVELLING_PRIOR = 2  # a language of one or two passages has no mean to speak of
GENERATED_PENALTY = 0.05  # a summary names every page; it must not outrank the page itself
KIND_BONUS = 0.05  # cosines of e5 lie within 0.2: an entry of the kind goes before a mention of it
BACKGROUND_RANKS = slice(5, 30)  # ranks 6–30: what an unrelated passage scores in this index

FloatArray = npt.NDArray[np.float64]


class Hit(Struct, frozen=True, kw_only=True):
    """A passage found, with the raw evidence for it."""

    passage: Passage
    score: float
    cosine: float | None
    """None when the search was by keywords only."""
    coverage: float
    """Share of the question's idf mass that stands in the passage, 0–1."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What a question found: passages in order, and the figures the gate decides on."""

    hits: tuple[Hit, ...]
    dense: bool
    top_cosine: float = 0.0
    """Of the best hit, not levelled."""
    margin: float = 0.0
    """Top levelled cosine minus the mean of ranks 6–30."""
    contrast: float = 0.0
    """Top levelled cosine minus the mean of all."""
    coverage: float = 0.0
    """Best coverage among the first three hits."""
    unknown_share: float = 0.0
    """Share of the question's idf mass in words that no passage holds; 0 in an index without
    passages in the question's language, where such words are the rule."""
    unknown_names: int = 0
    """Names in the question that no passage of the index holds."""
    missing_attributes: int = 0
    """Attributes asked for (a price, a phone number) that none of the hits gives; where the question names
    something that hits hold, none of those. And a version or year that the best hits do not name."""
    foreign: bool = False
    """The best passage is in another language than the question."""


def search(
    index: Index,
    question: str,
    vector: Vector | None,
    settings: RagSettings,
    language: Language | None = None,
    kind: SectionKind | None = None,
) -> Evidence:
    """The `top_k` best passages for `question`.

    Args:
        vector: unit vector of the question, or None to search by keywords only.
        language: of the question, where it is known.
        kind: of section the question asks for: such passages are candidates, and count for more.
    """
    if not len(index):
        return Evidence(hits=(), dense=vector is not None)
    lexicon = read_words(index, question, language)
    wanted = settings.top_k * CANDIDATES_PER_HIT
    ranked_words = _by_words(index, lexicon, wanted)
    if vector is None:
        plain = cosines = None
        ranked_meaning: list[int] = []
    else:
        plain = index.cosines(vector).astype(np.float64)
        cosines = _level(index, plain, language)
        ranked_meaning = [int(row) for row in np.argsort(-cosines, kind="stable")[:wanted]]
    wanted_kind = _of_kind(index, kind)
    scores = _fuse(
        [*ranked_meaning, *(row for row in wanted_kind if cosines is not None)],
        ranked_words, cosines, lexicon.coverage, settings,
    )  # fmt: skip
    for row in wanted_kind:
        if row in scores:
            scores[row] += KIND_BONUS
    for row in scores:
        if index.passage(int(index.chunk_ids[row])).document.generated:
            scores[row] -= GENERATED_PENALTY
    rows = sorted(scores, key=lambda row: (-scores[row], row))
    rows = _one_of_each_pair(index, rows, language)[: settings.top_k]
    hits = tuple(
        Hit(
            passage=index.passage(int(index.chunk_ids[row])),
            score=scores[row],
            cosine=None if plain is None else float(plain[row]),
            coverage=float(lexicon.coverage[row]),
        )
        for row in rows
    )
    return _weigh(question, hits, cosines, lexicon, language)


def _by_words(index: Index, lexicon: Lexicon, wanted: int) -> list[int]:
    """Rows by BM25, the best first: of the question's words, and of their translations for a part of it."""
    scores: dict[int, float] = {}
    for asked, weight in ((lexicon.words, 1.0), (lexicon.translations, TRANSLATION_WEIGHT)):
        for chunk, score in index.bm25(asked, wanted):
            row = index.position(chunk)
            scores[row] = max(scores.get(row, 0.0), weight * score)
    return sorted(scores, key=lambda row: (-scores[row], row))[:wanted]


def _of_kind(index: Index, kind: SectionKind | None) -> list[int]:
    if kind is None:
        return []
    chunks = map(int, index.chunk_ids)
    return [row for row, chunk in enumerate(chunks) if index.passage(chunk).chunk.section == kind]


def _level(index: Index, cosines: FloatArray, language: Language | None) -> FloatArray:
    """Cosines as if every passage were in the question's language; unchanged in a one-language index."""
    if language is None:
        return cosines
    embedded, spoken = cosines > -1, index.in_language(language)
    native, foreign = embedded & spoken, embedded & ~spoken
    least = min(int(native.sum()), int(foreign.sum()))
    if not least:
        return cosines
    gap = float(cosines[native].mean() - cosines[foreign].mean())
    levelled = cosines.copy()
    levelled[foreign] += gap * least / (least + LEVELLING_PRIOR)
    return levelled


def _fuse(
    meaning: Sequence[int],
    keywords: Sequence[int],
    cosines: FloatArray | None,
    coverage: FloatArray,
    settings: RagSettings,
) -> dict[int, float]:
    """Score of each candidate row, higher is better."""
    candidates = dict.fromkeys([*meaning, *keywords])
    if settings.fusion == "rrf" or cosines is None:
        scores = dict.fromkeys(candidates, 0.0)
        for ranking in (meaning, keywords):
            for rank, row in enumerate(ranking, start=1):
                scores[row] += 1 / (RRF_K + rank)
        return scores
    return {
        row: float(cosines[row] + settings.lexical_weight * coverage[row]) for row in candidates
    }


def _one_of_each_pair(index: Index, rows: list[int], language: Language | None) -> list[int]:
    """Drop passages of a page whose translation, in the visitor's language, was found as well."""
    if language is None:
        return rows
    documents = [index.passage(int(index.chunk_ids[row])).document for row in rows]
    native = {document.slug for document in documents if document.lang == language}
    native |= {d.translation for d in documents if d.lang == language and d.translation}
    return [
        row
        for row, document in zip(rows, documents, strict=True)
        if document.lang == language
        or not ({document.slug, document.translation} - {None}) & native
    ]


def _weigh(
    question: str,
    hits: tuple[Hit, ...],
    cosines: FloatArray | None,
    lexicon: Lexicon,
    language: Language | None,
) -> Evidence:
    # The founding of the studio is no answer to «when was Banco Orballo founded?».
    about = [
        hit.passage for hit in hits if not lexicon.names.isdisjoint(words(full_text(hit.passage)))
    ]
    asked_of = about or [hit.passage for hit in hits]
    best = Evidence(
        hits=hits,
        dense=cosines is not None,
        coverage=max((hit.coverage for hit in hits[:3]), default=0.0),
        unknown_share=lexicon.unknown_share,
        unknown_names=lexicon.unknown_names,
        missing_attributes=missing_attributes(question, (each.chunk.text for each in asked_of))
        + lacks_version(question, [full_text(hit.passage) for hit in hits[:2]])
        + lacks_year(question, [full_text(hit.passage) for hit in hits[:1]]),
        foreign=bool(hits) and language is not None and hits[0].passage.document.lang != language,
    )
    if cosines is None or not hits:
        return best
    ordered = np.sort(cosines)[::-1]
    # With a handful of chunks there is no background to compare with: then the margin says nothing.
    background = ordered[BACKGROUND_RANKS]
    return msgspec.structs.replace(
        best,
        top_cosine=hits[0].cosine or 0.0,
        margin=float(ordered[0] - background.mean()) if background.size else 0.0,
        contrast=float(ordered[0] - ordered.mean()),
    )
