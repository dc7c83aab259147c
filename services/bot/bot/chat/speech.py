"""From the model's pieces to what a visitor may read: one chain of filters, fed as the words come."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from bot.chat.attribution import Attribution
from bot.chat.citations import CitationFilter
from bot.chat.context import Context, Note
from bot.chat.echo import Echo
from bot.chat.guard.completion import completion
from bot.chat.guard.counted import counted
from bot.chat.guard.guard import Guard
from bot.chat.guard.secrets import Secrets
from bot.chat.guard.tongue import Tongue
from bot.chat.opening import Opening
from bot.chat.repetition import Repetition
from bot.chat.sanitize import visible
from bot.chat.sources import full_text, supporting
from corpus.model import Language
from corpus.reader import Passage
from corpus.text import fold, words

MARK = re.compile(r"\[(\d{1,4})\]")
LEADING_MARKS = re.compile(r"^(?:\s*\[\d{1,4}\])+\s*")
WORD = re.compile(r"\w")
WORDS = re.compile(r"\S*\w\S*")
LIST_NUMBER = re.compile(r"(?<!\S)\d{1,4}[.)]?(?!\S)")
FACT = re.compile(r"\b\w*[A-ZÁÉÍÓÚÑ\d]\w*")
SENTENCE = re.compile(r"[.!?]\s")
MOST_BARE_WORDS = 3
"""«2019», «12 EUR a month»: an answer that short is no sentence that a visitor could check."""


class Stage(Protocol):
    """Lets text through, now or later."""

    def feed(self, text: str) -> str: ...

    def close(self) -> str: ...


class Speech:
    """One answer. The order matters: what is dropped must not count as a fact or as a citation."""

    def __init__(
        self,
        context: Context,
        language: Language,
        *,
        question: str = "",
        said_before: Sequence[str] = (),
        notes: Sequence[Note] = (),
        allowed: Sequence[str] = (),
        secret: Sequence[str] = (),
        echoes: Sequence[str] = (),
    ) -> None:
        """Without passages there is nothing to compare with, and everything visible is shown.

        Args:
            said_before: questions and answers of the conversation.
            notes: what was worked out from the passages.
            allowed: what may be named though no passage does, such as the bot.
            secret: texts of the prompt that must not be recited.
            echoes: lines of the prompt that are dropped where the answer repeats them.
        """
        passages = context.passages
        texts = [full_text(passage) for passage in passages]
        self._passages = passages
        self._labels = context.labels
        self._asked = set(words(question))
        self._best = context.found[0] if context.found else 1
        self._language: Language = language
        self._opening = Opening(active=bool(passages))
        citations = CitationFilter(len(passages), "\n".join(p.chunk.text for p in passages))
        titles = dict.fromkeys(passage.document.title for passage in passages)
        self._tongue = Tongue(language, list(titles), native=context.is_native(language))
        self._secrets = Secrets(secret, texts)
        worked_out = [note.text for note in notes]
        self._guard = Guard(
            texts, question, said_before, [*allowed, *worked_out], documents=len(titles),
            counted=None if notes else counted(question, passages, language),
        )  # fmt: skip
        self._attribution = Attribution(texts, [question, *allowed], notes)
        self._repetition = Repetition()
        self._stages: tuple[Stage, ...] = (
            self._opening,
            Echo(echoes),
            self._repetition,
            citations,
        )
        if passages:
            self._stages += (self._tongue, self._secrets, self._guard)
        self._lead = ""  # what came before the first word; a citation there stands at no sentence
        self.said = ""
        """What was shown so far."""

    @property
    def wordless(self) -> bool:
        """Nothing but citations has come so far; nothing was shown."""
        return not self.said

    @property
    def bare(self) -> bool:
        """Only a number, a name or a word or two were shown: right or wrong, nobody can tell."""
        shown = WORDS.findall(MARK.sub("", self.said))
        return bool(self._passages) and 0 < len(shown) <= MOST_BARE_WORDS

    @property
    def declined(self) -> bool:
        """The model found no answer in the passages; nothing was shown."""
        return self._opening.declined

    @property
    def foreign(self) -> bool:
        """The answer began in another language than the visitor's; nothing was shown."""
        return self._tongue.verdict == "other"

    @property
    def stopped(self) -> str | None:
        """Why nothing more of this answer may be shown: the kind of the first unsupported fact."""
        if self._secrets.cut:
            return "secret"
        return self._guard.stopped.kind if self._guard.stopped else None

    @property
    def looping(self) -> bool:
        """The model says the same again and again: nothing more is worth waiting for."""
        return self._repetition.looping

    @property
    def cited(self) -> tuple[int, ...]:
        """The visitor's numbers that stand in what was shown, in order of appearance."""
        return tuple(dict.fromkeys(int(n) for n in MARK.findall(self.said)))

    def feed(self, text: str) -> str:
        """What may be shown now."""
        return self._show(self._through(visible(text), self._stages))

    def close(self) -> str:
        """The rest when the model is done, with a citation where the answer has none."""
        if self.declined or self.foreign:
            return ""
        rest = ""
        for n, stage in enumerate(self._stages, start=1):
            rest += self._through(stage.close(), self._stages[n:])
        shown = self._show(rest, last=True)
        if self._passages and self.said.strip() and not self.cited:
            best = self._attribution.unmarked() or [supporting(self._passages, self.said)]
            shown += self._add(" " + "".join(f"[{self._labels[n - 1]}]" for n in best))
        return shown

    def completed(self, quote: Callable[[Passage], str]) -> str:
        """The end of a stopped, foreign or bare answer: the sentence of a source, marked as such.

        Args:
            quote: the best sentence of a passage; asked for one only.
        """
        sentence = self._guard.stopped.sentence if self._guard.stopped else ""
        if sentence.strip():
            best = supporting(self._passages, sentence)
        elif self.cited and self.cited[0] in self._labels:
            best = self._labels.index(self.cited[0]) + 1
        else:
            best = self._best
        quoted = [(self._labels[best - 1], quote(self._passages[best - 1]))]
        unanswered = bool(sentence.strip()) and not self._says_something()
        end = completion(self.said, sentence, quoted, self._language, unanswered=unanswered)
        return self._add(end)

    def _says_something(self) -> bool:
        """Whether a number or a name that is not the question's was shown, or a whole sentence."""
        text = MARK.sub("", self.said).strip()
        told = {fold(match[0]) for match in FACT.finditer(text, 1)}
        return bool(SENTENCE.search(text)) or not told <= self._asked

    def _through(self, text: str, stages: Sequence[Stage]) -> str:
        for stage in stages:
            if not text:
                return ""
            text = stage.feed(text)
        return text

    def _show(self, text: str, *, last: bool = False) -> str:
        if not self._passages:
            return self._add(text)
        if not self.said:
            self._lead += text
            said = MARK.sub("", self._lead)
            # «1. [1] 2. [1] 3.»: numbers of a list that has no items. One alone may be the answer.
            numbered = not last or bool(self.stopped) or len(LIST_NUMBER.findall(said)) > 1
            if not WORD.search(LIST_NUMBER.sub("", said) if numbered else said):
                return ""
            text, self._lead = LEADING_MARKS.sub("", self._lead), ""
        return self._add(MARK.sub(self._label, self._attribution.settle(text)))

    def _add(self, text: str) -> str:
        self.said += text
        return text

    def _label(self, mark: re.Match[str]) -> str:
        number = int(mark[1])
        known = 1 <= number <= len(self._labels)
        return f"[{self._labels[number - 1]}]" if known else mark[0]
