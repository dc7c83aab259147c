"""Which jobs a visitor asks about: «Where did she work in 2019?», «¿qué hizo antes de Banco Orballo?».

As with the catalogue, a question is taken here only when every word of it is understood: the asking, a
year, the name of a job, or a word of a job's own text («frontend»). Anything else is for retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.chat.mentions import technologies
from bot.chat.several import parts
from bot.chat.time_questions import TimeQuestion, time_question
from bot.chat.work_history import vocabulary as known
from bot.chat.work_history.entries import Entry, named, naming
from corpus.text import WORD, fold, words

Form = Literal[
    "list", "count", "at", "first", "latest", "current", "before", "after", "during", "named", "overlap",
    "total",
]  # fmt: skip
YEAR = re.compile(r"(?:19|20)\d\d")
CLAUSE_END = re.compile(r"[,;:?¿!.]")
OPENING_MARKS = " ¿¡\"'«“("
MOST_WORDS = 22
LENGTHS = frozenset({"years-of", "how-long"})
PLACES = frozenset({"where", "which-companies"})
COMPARED = frozenset({"before", "after", "during"})
MEASURED = frozenset({"named", "overlap", "total"})


class WorkQuestion(Struct, frozen=True, kw_only=True):
    """A question about jobs, fully understood."""

    form: Form
    names: frozenset[str] = frozenset()
    """Names of the entries that are asked about, or that the others are compared with."""
    topics: frozenset[str] = frozenset()
    """Folded words that an entry must have to be meant."""
    year: str | None = None


def read(question: str, jobs: Sequence[Entry]) -> WorkQuestion | None:
    """The question about `jobs`, or None when any word of it is left over."""
    spoken = words(question)
    if not jobs or not 1 < len(spoken) <= MOST_WORDS:
        return None
    if len(parts(question)) > 1 or technologies(question):
        return None
    asked = time_question(question)
    about = frozenset(named(question, {job.name for job in jobs}))
    if asked is not None and asked.kind != "experience":
        if not about:
            return None
        asked = None  # «Estudio Marea» is no study
    years = {word for word in spoken if YEAR.fullmatch(word)}
    in_names = {word for name in about for word in words(name)}
    topics = frozenset(word for word in spoken if word not in known.KNOWN | years | in_names)
    if not topics <= {word for job in jobs for word in job.words} or topics & _capitals(question):
        # A technology («Go») stands in projects and skills as well: the jobs alone are half of the answer.
        return None
    form = _form(set(spoken), asked, about, years)
    if form is None:
        return None
    if form in COMPARED:
        topics = _beside(question, naming(question, {job.name for job in jobs}))
    elif topics and form in MEASURED and not _is_title_of(topics, about, jobs):
        return None
    year = next(iter(years)) if form == "at" else None
    return WorkQuestion(form=form, names=about, topics=topics, year=year)


def _capitals(question: str) -> set[str]:
    """Folded words that are written with a capital and begin no sentence."""
    return {
        fold(match[0])
        for match in WORD.finditer(question)
        if match[0][0].isupper() and question[: match.start()].strip(OPENING_MARKS)
    }


def _is_title_of(topics: frozenset[str], about: frozenset[str], jobs: Sequence[Entry]) -> bool:
    """Whether the words say of the jobs asked about what they were: «the backend half at Banco Orballo».

    «How long was the old service at Banco Orballo down?» is about something else, and «how many years of
    backend work?» counts jobs that do not say the word.
    """
    titles = {word for job in jobs for word in words(job.name)}
    meant = [job for job in jobs if job.name in about]
    return bool(meant) and topics <= titles and all(topics <= job.words for job in meant)


def _form(
    spoken: set[str], asked: TimeQuestion | None, about: frozenset[str], years: set[str]
) -> Form | None:
    """What is wanted of the jobs; None where nothing says so."""
    intent = asked.intent if asked else None
    jobs = bool(spoken & known.JOBS)
    if years:
        return "at" if len(years) == 1 and not about and (intent in PLACES or jobs) else None
    if about:
        # Who it was stands in the text, if anywhere.
        if spoken & known.WHO:
            return None
        return _compared(spoken, about)
    if spoken & (known.BEFORE | known.AFTER | known.DURING | known.SAME_TIME):
        return None
    if jobs and spoken & known.MANY and not spoken & known.LENGTHS:
        return "count"
    if (intent in PLACES or jobs) and not spoken & known.LENGTHS:
        if spoken & known.FIRST:
            return "first"
        if spoken & known.CURRENT:
            return "current"
        if spoken & known.LATEST:
            return "latest"
    if intent in PLACES:
        return "list"
    if intent == "since-when":
        return "first"
    return "total" if intent in LENGTHS else None


def _compared(spoken: set[str], about: frozenset[str]) -> Form | None:
    """The same where entries are named."""
    if len(about) == 2 and spoken & (known.SAME_TIME | known.DURING | {"same", "vez"}):
        return "overlap"
    if len(about) == 1:
        if spoken & (known.DURING | known.SAME_TIME):
            return "during"
        if spoken & known.BEFORE:
            return "before"
        if spoken & known.AFTER:
            return "after"
    if spoken & (known.LENGTHS | known.WHEN) and not spoken & (known.FIRST | known.LATEST):
        return "named"
    return None


def _beside(question: str, telling: set[str]) -> frozenset[str]:
    """Words of the clause that asks, without that of the clause that names the other job."""
    clauses: list[list[str]] = []
    for part in CLAUSE_END.split(question):
        clauses.append([])
        for word in words(part):
            if word in known.BEFORE | known.AFTER | known.DURING:
                clauses.append([])
            clauses[-1].append(word)
    asking = [clause for clause in clauses if telling.isdisjoint(clause)]
    return frozenset(word for clause in asking for word in clause if word not in known.KNOWN)
