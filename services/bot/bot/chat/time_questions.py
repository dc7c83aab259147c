"""Questions about time and work: how long, since when, where has … worked, ¿en qué empresas…?

The words of such a question often stand nowhere in the entry that answers it: a job says a company and
dates, not «worked» or «empresa». So the kind of section is named here, and retrieval looks there.
Conservative: how long a thing takes, lasts or is kept is no question about anybody's work.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from msgspec import Struct

from bot.chat import time_phrases_en as english
from bot.chat import time_phrases_es as spanish
from corpus.section_kinds import SectionKind
from corpus.text import words

Intent = Literal["years-of", "until-when", "since-when", "which-companies", "where", "how-long"]
"""In the order they are looked for: «how many years of Go» is not asked about one job."""


class TimeQuestion(Struct, frozen=True, kw_only=True):
    """What is asked and the kind of section that holds it."""

    intent: Intent
    kind: SectionKind


_TABLES: tuple[tuple[SectionKind, tuple[dict[str, tuple[str, ...]], ...]], ...] = (
    ("education", (english.EDUCATION, spanish.EDUCATION)),
    ("experience", (english.EXPERIENCE, spanish.EXPERIENCE)),
)
_INTENTS: tuple[Intent, ...] = get_args(Intent)
_PATTERNS = tuple(
    (TimeQuestion(intent=intent, kind=kind), re.compile("|".join(patterns)))
    for kind, tables in _TABLES
    for intent in _INTENTS
    if (patterns := [pattern for table in tables for pattern in table.get(intent, ())])
)


def time_question(text: str) -> TimeQuestion | None:
    """What a question asks about time and work; None when it asks about anything else.

    The patterns see folded words with single blanks between them: no capitals, no punctuation, no
    accents (año is ano).
    """
    plain = " ".join(words(text))
    return next((asked for asked, pattern in _PATTERNS if pattern.search(plain)), None)
