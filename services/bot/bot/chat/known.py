"""Answers known in advance: what the model said once is said again at once, word for word.

Only whole answers of the model's to a question that stands alone are kept: never an error's text, a
broken or shortened answer, a refusal, or an answer to a follow-up, which leans on what one visitor
said before.
"""

from __future__ import annotations

import hashlib

import msgspec

from bot import __version__
from bot.chat import prompt
from bot.chat.events import Chunk, Done, Event, Sources
from bot.chat.ports.known import KnownAnswer, KnownKey
from bot.chat.turn import Turn
from corpus.model import Language
from corpus.reader import Index
from corpus.settings import Settings
from corpus.text import clean, fold

# Taken off the ends of words. Signs that change a meaning stay: C++ and C#, $ and €, .NET and -5.
OPENING_MARKS = "¿¡\"'«“‘([{*_…"
CLOSING_MARKS = "?!.,;:\"'»”’)]}*_…"
DASHES = "-–—"  # between words they say nothing


def known_key(identity: str, language: Language, question: str) -> KnownKey | None:
    """Key of a question; None when nothing is left of it."""
    normal = normalised(question)
    return KnownKey(identity=identity, language=language, question=normal) if normal else None


def normalised(question: str) -> str:
    """The question without case, accents, punctuation and extra blanks."""
    tokens = (
        token.lstrip(OPENING_MARKS).rstrip(CLOSING_MARKS) for token in fold(clean(question)).split()
    )
    return " ".join(token for token in tokens if token.strip(DASHES))


def identity_of(index: Index, settings: Settings) -> str:
    """Hash of all an answer depends on besides its question and language.

    The same content indexed again under the same settings is the same identity.
    """
    persona = settings.persona
    parts = (
        __version__,
        msgspec.structs.replace(index.meta, built_at=""),
        msgspec.structs.replace(settings.provider, more_endpoints=()),  # the same model, more often
        settings.rag,
        (persona.name, persona.system_prompt, persona.system_prompt_es),
        # Every wording of the prompt, so that a changed one is not forgotten here.
        {name: repr(value) for name, value in vars(prompt).items() if name.isupper()},
    )
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


class Recording:
    """Take each event of an answer; at the end of one that may be kept, `take` returns it."""

    def __init__(self) -> None:
        self._sources: Sources | None = None
        self._pieces: list[str] = []

    def take(self, event: Event) -> KnownAnswer | None:
        """The answer when this event ends it well, None before and for any other end."""
        match event:
            case Sources():
                self._sources = event  # the last one counts: it may be sent again, as cited
            case Chunk():
                self._pieces.append(event.content)
            case Done(route="answer", finish_reason="stop"):
                text = "".join(self._pieces)
                if self._sources is not None and self._sources.passages and text.strip():
                    return KnownAnswer(sources=self._sources, text=text)
        return None


def replay(answer: KnownAnswer, turn: Turn) -> list[Event]:
    """The events of a known answer, from the sources to the last one."""
    turn.speaks()
    return [answer.sources, Chunk(content=answer.text), turn.done("known", None)]
