"""The dated entries of a site's work experience, newest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from corpus.model import Language
from corpus.reader import Index, Passage
from corpus.spans import Span
from corpus.text import WORD, content_words, fold, words
from corpus.time_notes import entries_of

JOINT = re.compile(r"\s[—–|·-]\s|,\s")  # between a company and a role
GOES_ON = "9999"  # sorts behind every year


class Entry(Struct, frozen=True, kw_only=True):
    """One job: what it is called, its dates, and where it stands."""

    span: Span
    passage: Passage
    words: frozenset[str]
    """Folded words of its name and its text."""

    @property
    def name(self) -> str:
        """As its heading or list item calls it."""
        return self.span.entry


def entries(index: Index, language: Language) -> tuple[Entry, ...]:
    """Jobs of all pages in `language`; of the other where that has none. Newest first, each once."""
    passages = [
        passage
        for page in index.pages
        if not page.document.generated
        for passage in page.passages
        if passage.chunk.section == "experience"
    ]
    native = [passage for passage in passages if passage.document.lang == language]
    found: dict[Span, Entry] = {}
    for _, group in groupby(native or passages, key=lambda passage: passage.document.path):
        for entry in _of_document(list(group)):
            found.setdefault(entry.span, entry)
    return newest_first(found.values())


def newest_first(jobs: Iterable[Entry]) -> tuple[Entry, ...]:
    """By their ends, then by their beginnings; what goes on stands first."""
    return tuple(
        sorted(jobs, key=lambda job: (job.span.end or GOES_ON, job.span.start), reverse=True)
    )


def named(question: str, names: Collection[str]) -> set[str]:
    """Those that a question names by a word of `naming`."""
    telling = naming(question, names)
    return {name for name in names if telling & set(words(name))}


def naming(question: str, names: Collection[str]) -> set[str]:
    """The folded words of a question that only one of the names has, as a name and in no role."""
    having = Counter(word for name in names for word in set(words(name)))
    roles = {word for name in names for word in _words_of_roles(name)}
    return {word for word in content_words(question) if having[word] == 1} - roles


def _words_of_roles(name: str) -> Iterator[str]:
    """Words that are written small, and the capital that only begins them: «Frontend developer»."""
    for part in JOINT.split(name):
        said = WORD.findall(part)
        small = [fold(word) for word in said if word.islower()]
        yield from small
        if said and len(small) == len(said) - 1 > 0:
            yield fold(said[0])


def _of_document(passages: Sequence[Passage]) -> list[Entry]:
    texts: dict[str, str] = {}
    for passage in passages:
        heading = passage.chunk.heading
        texts[heading] = f"{texts.get(heading, '')} {passage.chunk.text}"
    found = []
    for span in entries_of([passage.chunk for passage in passages], "experience"):
        passage = next(each for each in passages if span in each.chunk.spans)
        # Of a list of jobs in one section the text is that of all of them.
        own = sum(bool(each.entry) for each in passage.chunk.spans) == 1
        text = texts[passage.chunk.heading] if own else ""
        found.append(
            Entry(span=span, passage=passage, words=frozenset(words(f"{span.entry} {text}")))
        )
    return found
