"""The sentences of a passage that answer a question best, as plain text of one line.

Words shared with the question decide, in any of their forms and across languages by their translations
(corpus.word_forms), and the window nearest in meaning where there is one. A word of the page's title decides
less: each sentence of the page is about it. The room that is left goes to the sentences beside the best
one. Of 114 labelled questions of the sample site the fact asked for stands in 100 such texts of 200
characters; the nearest window cut at that length holds 95.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat.sources import MARKUP
from corpus.model import Language
from corpus.reader import Passage
from corpus.text import WORD, content_words, fold, words
from corpus.windows import BLOCK_END, windows
from corpus.word_forms import stem, stems_in

WINDOW_WORDS = (
    1.5  # the nearest window outweighs one shared word, which may be an accident, not two
)
TITLE_WORD = 0.3
LEAST_WORDS = 3  # «Backend half.» says nothing that could be quoted
SHORTEST_PART = 40  # characters of a sentence that is cut; less says nothing
ENDS = 30  # characters by which a sentence is known in its window, which may cut it
LINK = re.compile(
    r"!?\[([^\[\]\n]{0,200})\]"
    r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,500}(?:\s[^()\n]{0,200})?\)"
)
CLOSING_MARK = re.compile(r"(?<![*`_])[*`_]+(?=[,.;:!?)])")
# A line that does not go on the sentence above it: of a list, a table, a heading, a quote, a fence.
NEW_LINE = re.compile(r"\n(?=\s{0,8}(?:[-*+|#>]|\d{1,3}[.)]\s|```|~~~))")
TABLE_RULE = re.compile(r"\s{0,8}\|?[\s:|-]{3,2000}")
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
SPACE = re.compile(r"\s+")


def best_sentences(
    passage: Passage,
    question: str,
    limit_chars: int,
    window: int | None = None,
    *,
    alone: bool = False,
) -> str:
    """The best sentence and as many beside it as fit, cut at ends of sentences or words.

    Args:
        limit_chars: greatest length of the text, the `…` where a sentence is cut included.
        window: number of the passage's window nearest to the question (`Index.best_window`).
        alone: nothing but the best sentence.
    """
    sentences = sentences_of(passage.chunk.text)
    if not sentences:
        return ""
    parts = windows(passage.chunk.text)
    nearest = plain_text(parts[window]) if window is not None and window < len(parts) else ""
    asked = _asked(question, passage)
    scores = [
        _shared(asked, sentence, passage.document.lang)
        + WINDOW_WORDS * (sentence[:ENDS] in nearest or sentence[-ENDS:] in nearest)
        - sentence.endswith(":")  # of a table
        - (len(words(sentence)) < LEAST_WORDS)
        for sentence in sentences
    ]
    first = last = max(range(len(sentences)), key=lambda i: (scores[i], -i))
    if len(sentences[first]) > limit_chars:
        stems = frozenset().union(*(stems for stems, _ in asked))
        return _around(sentences[first], stems, passage.document.lang, limit_chars)
    if alone:
        return sentences[first]
    room = limit_chars - len(sentences[first])
    while True:
        beside = [i for i in (first - 1, last + 1) if 0 <= i < len(sentences)]
        fitting = [i for i in beside if len(sentences[i]) < room]
        if not fitting:
            break
        best = max(fitting, key=lambda i: (scores[i], i))
        first, last = min(first, best), max(last, best)
        room -= len(sentences[best]) + 1
    text = " ".join(sentences[first : last + 1])
    if last + 1 < len(sentences) and room > SHORTEST_PART:
        text += " " + _cut(sentences[last + 1], room - 1)
    return text


def plain_text(markdown: str) -> str:
    """Text without its marks, on one line; of a link or picture the label stays."""
    text = CLOSING_MARK.sub("", LINK.sub(r"\1", markdown).replace("|", " "))
    return SPACE.sub(" ", MARKUP.sub(" ", text)).strip()


def sentences_of(text: str) -> list[str]:
    """Sentences, items and rows in order, as plain text; those without a letter or digit left out.

    The head of a table says nothing and is left out, too; what ends with a colon goes on in the next one.
    """
    lines = (line for block in BLOCK_END.split(text) for line in NEW_LINE.split(block))
    found: list[str] = []
    head = ""  # a row that turns out to be the head of a table where a rule follows
    for line in lines:
        if TABLE_RULE.fullmatch(line) and head and found[-1:] == [head]:
            found.pop()
            continue
        parts = [part for part in SENTENCE_END.split(plain_text(line)) if WORD.search(part)]
        head = parts[0] if line.lstrip().startswith("|") and len(parts) == 1 else ""
        if parts and not head and found and found[-1].endswith(":"):
            parts[0] = f"{found.pop()} {parts[0]}"
        found += parts
    return found


def _asked(question: str, passage: Passage) -> list[tuple[frozenset[str], float]]:
    """For each content word of the question the stems the passage may have for it, and what it counts."""
    title = set(words(passage.document.title))
    return [
        (stems_in(word, passage.document.lang), TITLE_WORD if word in title else 1.0)
        for word in content_words(question)
    ]


def _shared(
    asked: Sequence[tuple[frozenset[str], float]], sentence: str, language: Language
) -> float:
    held = {stem(word, language) for word in words(sentence)}
    return sum(weight for stems, weight in asked if not stems.isdisjoint(held))


def _around(sentence: str, asked: frozenset[str], language: Language, limit_chars: int) -> str:
    """The part of a long sentence that begins with it, or a little before its first word asked for."""
    spans = [(m.start(), m.end()) for m in WORD.finditer(sentence)]
    at = next(
        (i for i, (a, b) in enumerate(spans) if stem(fold(sentence[a:b]), language) in asked), 0
    )
    start = 0
    if at and spans[at][1] > limit_chars - 1:
        before = spans[at][0] - limit_chars // 3
        start = next(a for a, _ in spans if a >= before)
    return _cut(("…" if start else "") + sentence[start:], limit_chars)


def _cut(text: str, limit_chars: int) -> str:
    """The text, or what of it fits up to the end of a word, and `…`."""
    if len(text) <= limit_chars:
        return text
    head = text[: limit_chars - 1]
    return (head[: head.rfind(" ")] if " " in head else head).rstrip(" ,;:") + "…"
