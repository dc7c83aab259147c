"""Whether an answer holds the facts a labelled question asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence


def folded(text: str) -> str:
    """Lower case without accents, white space collapsed."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).split())


def holds(text: str, term: str) -> bool:
    """Whether the folded text holds the term as whole words: 15 is not in 150, 15.3 or 1,150."""
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(folded(term))}(?!\w)(?![.,]\d)"
    return re.search(pattern, text) is not None


def share(answer: str, facts: Sequence[str]) -> float:
    """Share of the facts present, 0-1; alternatives of one fact are separated by `|`."""
    text = folded(answer)
    found = [any(holds(text, term) for term in fact.split("|")) for fact in facts]
    return sum(found) / len(found) if found else 1.0
