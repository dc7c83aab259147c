"""Whether the content holds what an answer says. Written without a look at bot.chat.guard.

Two questions, each answered by comparing claims (bot.evaluation.claims) with texts: does the cited
passage support its sentence, and is there a claim that nothing the answer may rest on holds?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.evaluation.claims import Claim, claims
from bot.evaluation.evidence import Evidence, enumerated
from bot.evaluation.sentences import Sentence
from corpus.text import content_words

LEAST_SHARE = 0.5
"""Of a sentence's content words, where it states nothing that can be looked up."""
STEM = 5
FEW_WORDS = 2


class Unsupported(Struct, frozen=True, kw_only=True):
    """A claim that no evidence holds."""

    kind: str
    said: str
    sentence: str


class Citation(Struct, frozen=True, kw_only=True):
    """One `[n]` of one sentence. `undecided`: other languages, and nothing to look up."""

    n: int
    sentence: str
    verdict: Literal["supported", "wrong", "undecided"]
    reason: str = ""


def unsupported(
    said: Sequence[Sentence], lang: str, evidence: Evidence, asked: Evidence
) -> list[Unsupported]:
    """The claims of an answer that neither evidence nor questions hold.

    Args:
        asked: the visitor's own words, and what may always be named: the bot, the site.
    """
    items = sum(sentence.item for sentence in said)
    return [
        Unsupported(kind=claim.kind, said=claim.said, sentence=sentence.text)
        for sentence in said
        for claim in claims(sentence.text, lang)
        if not evidence.holds(claim)
        and not asked.holds(claim)
        and not _counts(claim, items, enumerated(sentence.text))
    ]


def citations(
    said: Sequence[Sentence],
    lang: str,
    passages: dict[int, tuple[Evidence, str]],
    asked: Evidence,
) -> list[Citation]:
    """A verdict for every citation.

    Args:
        passages: evidence and language of each passage, by the number the visitor sees.
    """
    items = sum(sentence.item for sentence in said)
    return [
        citation
        for sentence in said
        if sentence.cited
        for citation in _of_sentence(sentence, lang, passages, asked, items)
    ]


def _of_sentence(
    sentence: Sentence,
    lang: str,
    passages: dict[int, tuple[Evidence, str]],
    asked: Evidence,
    items: int,
) -> list[Citation]:
    stated = [
        claim
        for claim in claims(sentence.text, lang)
        if not asked.holds(claim) and not _counts(claim, items, enumerated(sentence.text))
    ]
    cited = {n: passages[n] for n in sentence.cited if n in passages}
    missing = [c for c in stated if not any(held.holds(c) for held, _ in cited.values())]
    worked_out = _worked_out(missing, [held for held, _ in cited.values()])
    missing = [claim for claim in missing if claim not in worked_out]
    found = []
    for n in sentence.cited:
        verdict: Literal["supported", "wrong", "undecided"] = "wrong"
        reason = ""
        if n not in cited:
            reason = f"there is no passage {n}"
        elif missing:
            reason = f"not in the cited passage: {', '.join(claim.said for claim in missing)}"
        elif stated:
            if any(cited[n][0].holds(c) for c in stated) or (worked_out and cited[n][0].dated):
                verdict = "supported"
            else:
                reason = "holds none of the sentence's facts"
        else:
            verdict, reason = _by_words(sentence, lang, *cited[n])
        found.append(Citation(n=n, sentence=sentence.text, verdict=verdict, reason=reason))
    return found


def _worked_out(claims: Sequence[Claim], cited: Sequence[Evidence]) -> list[Claim]:
    """Lengths that follow from ranges of dates in several passages: together, or at the same time."""
    lengths = [claim for claim in claims if claim.kind == "length"]
    if not lengths or len(cited) < 2:
        return []
    whole = cited[0].joined(cited[1:])
    return [claim for claim in lengths if whole.holds(claim)]


def _by_words(
    sentence: Sentence, lang: str, passage: Evidence, passage_lang: str
) -> tuple[Literal["supported", "wrong", "undecided"], str]:
    if lang != passage_lang:
        return "undecided", "nothing to look up across languages"
    said = {word[:STEM] for word in content_words(sentence.text)}
    if len(said) < FEW_WORDS:
        return "undecided", "too short to compare"
    share = len(said & {word[:STEM] for word in passage.words}) / len(said)
    if share >= LEAST_SHARE:
        return "supported", ""
    return "wrong", f"{100 * share:.0f} % of its words"


def _counts(claim: Claim, *listed: int) -> bool:
    """Whether a number only says how many things the answer itself lists."""
    return claim.kind == "number" and any(
        number > 1 and str(number) in claim.value for number in listed
    )
