"""A question of two parts of which the site answers one: the other is named, not guessed.

Asked as one, such a question finds the page of the part that is known; the model then makes the rest up,
or the gate refuses both. So each part is searched on its own as well. Where both are taken for known, the
answer shows whether one was left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bot.chat.attributes import missing_attributes
from bot.chat.catalogue import CatalogueAnswer
from bot.chat.gate import Decision
from bot.chat.guard.completion import CITATIONS
from bot.chat.guard.numbers import NUMBER, NUMBER_WORDS
from bot.chat.mentions import technologies, unmentioned
from bot.chat.retrieved import Retrieved
from bot.chat.several import parts as parts_of
from corpus.text import clean, content_words, fold, words

SURE_SHARE = 0.7
"""A part is unanswered when its probability is below this share of the gate's cut: on the sample site's
dev half the answerable parts have 0.34 and more, of the unanswered ones seven of ten less than 0.27."""
NEAREST = 2
"""Passages of the part's own search whose attributes count; further ones are about something else."""
MOST_WORDS_CHARS = 80
COUNTED = re.compile(r"\b(?:how many|cuant[oa]s)\s{1,9}(\w+(?:\s{1,9}\w+)?)")
NO_NUMBER = frozenset("none nobody zero ninguno ninguna nadie cero".split())
"""They answer «how many?» too."""
PLAIN = re.compile(r"[^\W_]+(?:['’-][^\W_]+|\.\d+)*[+#]*")


def without_unmentioned(found: Retrieved, holds: Callable[[str], bool]) -> Retrieved:
    """A refusal where all technologies a question names are foreign to the site.

    Where it names one of the site's as well («Go or Java?») the gate's word stands, and what is not
    mentioned is said behind the answer.
    """
    missing = unmentioned(found.query, holds)
    if not missing:
        return found
    decision = found.decision
    if len(missing) == len(technologies(found.query)):
        decision = Decision(answerable=False, logit=decision.logit)
    return replace(found, decision=decision, unmentioned=missing)


def one_half(
    whole: Retrieved, parts: Sequence[Retrieved], holds: Callable[[str], bool], cut: float
) -> Retrieved | None:
    """What to answer of a question of two parts when exactly one is answered; None for all others.

    Args:
        parts: what each part found on its own.
        cut: the probability from which the gate lets a question through.
    """
    gone = [_is_unanswered(part, whole, holds, cut) for part in parts]
    if gone not in ([True, False], [False, True]):
        return None
    unknown, known = parts if gone[0] else reversed(parts)
    if known.listing is None and not known.decision.answerable:
        return None
    decision = Decision(answerable=True, logit=known.decision.logit)
    return replace(known, decision=decision, unanswered=in_plain_words(unknown.query))


def left_open(question: str, answer: str) -> tuple[str, ...]:
    """Parts of a question of two that an answer does not speak of, as far as it shows.

    «How much is it?» where it gives no price, nor any other attribute that is asked for; «how many books?»
    where it has neither books nor a number.

    Compared with the answer, which is in the visitor's language, and not with the passages: for 7 of the 20
    answerable questions of this form of the sample site's dev half no passage of the question's language
    has the noun. An answer with a number for each part is believed: one may stand before a synonym.
    """
    asked = parts_of(question)
    counted = {part: match[1] for part in asked if (match := COUNTED.search(fold(part)))}
    if len(asked) < 2:
        return ()
    text = CITATIONS.sub("", answer)
    said = words(text)
    numbers = len(NUMBER.findall(text)) + sum(w in NUMBER_WORDS or w in NO_NUMBER for w in said)
    lacking = [part for part in asked if missing_attributes(part, [text])]
    if numbers >= len(counted):
        return tuple(map(in_plain_words, lacking))
    held = {form for word in said for form in _forms(word)}
    lacking += [
        part
        for part, noun in counted.items()
        if (wanted := content_words(noun))
        and held.isdisjoint(form for word in wanted for form in _forms(word))
    ]
    return tuple(map(in_plain_words, dict.fromkeys(lacking)))


def _forms(word: str) -> tuple[str, ...]:
    """A folded word, and what it may be in the singular: «meses» is «mes», «stones» is «stone»."""
    if len(word) < 4 or not word.endswith("s"):
        return (word,)
    if word.endswith("ies"):
        return (word, f"{word[:-3]}y")
    return (word, word[:-1], word[:-2]) if word.endswith("es") else (word, word[:-1])


def in_plain_words(part: str) -> str:
    """The visitor's words without marks that a page could read as more than words."""
    text = " ".join(PLAIN.findall(clean(part)))
    return (
        text if len(text) <= MOST_WORDS_CHARS else text[:MOST_WORDS_CHARS].rsplit(" ", 1)[0] + "…"
    )


def _is_unanswered(
    part: Retrieved, whole: Retrieved, holds: Callable[[str], bool], cut: float
) -> bool:
    if isinstance(part.listing, CatalogueAnswer):
        return not part.listing.documents
    if part.listing is not None:
        return not part.listing.passages
    if unmentioned(part.query, holds):
        return True
    hits = (*part.evidence.hits[:NEAREST], *whole.evidence.hits)
    if missing_attributes(part.query, (hit.passage.chunk.text for hit in hits)):
        return True
    # Without vectors a part of three words has too little to be judged by.
    return part.evidence.dense and part.decision.probability < SURE_SHARE * cut
