"""The answer to a question about jobs: a line for each, with its dates, its length and its source."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec import Struct

from bot.chat.best_sentences import plain_text
from bot.chat.extracts import escape
from bot.chat.work_history import phrases
from bot.chat.work_history.entries import Entry
from bot.chat.work_history.questions import WorkQuestion
from corpus.model import Language
from corpus.passage import Passage
from corpus.spans import Span, overlap
from corpus.time_notes import SectionNote, section_notes, told


class WorkAnswer(Struct, frozen=True, kw_only=True):
    """The text and the passages it names, numbered as `[n]` in the text."""

    text: str
    passages: tuple[Passage, ...]


def answer(
    question: WorkQuestion, jobs: Sequence[Entry], language: Language, today: date
) -> WorkAnswer:
    """The jobs that are asked about, newest first.

    Args:
        jobs: all of the site, newest first.
        today: the day of the question, to which open ranges count.
    """
    meant = [job for job in jobs if question.topics <= job.words]
    others = [job for job in jobs if job.name in question.names]
    shown = _selected(question, meant, others, today)
    numbered = _Numbered()
    notes = [
        f"{_shown(note.text)} {numbered.marks(note.spans, jobs)}"
        for note in _together(question, jobs, language, today)
    ]

    def line(job: Entry) -> str:
        dates = told(job.span, language, today) or job.span.text
        return f"- **{_shown(job.name)}**: {_shown(dates)} {numbered.marks([job.span], jobs)}"

    lines = [line(job) for job in shown]
    about = ""
    if question.topics:
        about = phrases.MENTIONING[language].format(topics=" ".join(sorted(question.topics)))
    values = {
        "about": about,
        "year": question.year,
        "names": _shown(", ".join(job.name for job in others)),
        "n": len(shown),
        "entries": phrases.ENTRIES[language][len(shown) != 1],
    }
    if not lines and not notes:
        when = phrases.WHEN_NONE.get(question.form, {}).get(language, "").format(**values)
        text = phrases.NONE[language].format(about=f"{about}{when}")
        # The jobs that were compared with, or all of them, show why.
        lines = [line(job) for job in others or jobs]
    else:
        text = phrases.HEADS[question.form][language].format(**values)
    return WorkAnswer(
        text="\n".join([text, "", *(f"- {note}" for note in notes), *lines]),
        passages=tuple(numbered.passages),
    )


class _Numbered:
    """Gives each passage a number when it is first named."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []

    def marks(self, spans: Sequence[Span], jobs: Sequence[Entry]) -> str:
        """`[1][3]`: the passages of the jobs with these ranges."""
        numbers: dict[int, None] = {}
        for passage in (job.passage for job in jobs if job.span in spans):
            if passage not in self.passages:
                self.passages.append(passage)
            numbers[self.passages.index(passage) + 1] = None
        return "".join(f"[{number}]" for number in numbers)


def _selected(
    question: WorkQuestion, meant: Sequence[Entry], others: Sequence[Entry], today: date
) -> list[Entry]:
    match question.form:
        case "at":
            return [job for job in meant if _covers(job.span, str(question.year), today)]
        case "current":
            return [job for job in meant if job.span.end is None]
        case "latest":
            return list(meant[:1])
        case "first":
            return sorted(meant, key=lambda job: job.span.start)[:1]
        case "before":
            return [job for job in meant if job.span.start < others[0].span.start]
        case "after":
            return [job for job in meant if job.span.start > others[0].span.start]
        case "during":
            apart = [job for job in meant if job not in others]
            return [job for job in apart if overlap(job.span, others[0].span, today).least > 0]
        case "named" | "overlap":
            return list(others)
    return list(meant)


def _together(
    question: WorkQuestion, jobs: Sequence[Entry], language: Language, today: date
) -> list[SectionNote]:
    """What several jobs say together, where that is asked."""
    chunks = list(dict.fromkeys(job.passage.chunk for job in jobs))
    if question.form == "total":
        return section_notes(chunks, "experience", language, today)[:1]
    if question.form == "overlap":
        return section_notes(chunks, "experience", language, today, named=question.names)
    return []


def _covers(span: Span, year: str, today: date) -> bool:
    """Whether a range goes on in some month of a year; one that is open goes on to this year."""
    return span.start[:4] <= year <= (span.end or today.isoformat())[:4]


def _shown(text: str) -> str:
    """A name as the page writes it, so that no mark or link of it goes live in the answer."""
    return escape(plain_text(text))
