"""Requests to make something that no page can hold: «write a quicksort in Go», «dame una receta».

A model does such things gladly, from what it learnt and not from the passages, in small letters that no
guard can check. What is to be made of the site's own content («write a summary of the SQLite post») has
no word that the site does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from corpus.text import content_words, fold

POLITE = (
    r"(?:(?:please|hey|hello|hi|hola|por favor|can you|could you|would you|puedes|podrias|me)"
    r"[\s,!]{1,3}){0,4}"
)
MAKING = (
    r"(?:write|compose|draft|generate|translate|implement|program|code|solve|calculate|compute|invent|draw"
    r"|(?:give|tell|show|sing)(?: me)? (?:an? |the |some )?(recipe|joke|poem|story|song|riddle)"
    r"|(?:escrib|redact|compon|gener|traduc|implement|program|resuelv|calcul|invent|dibuj)"
    r"(?:e|a|ar|ir|er|eme|ame|enos|anos|arme|irme|erme)"
    r"|(?:dame|dime|cuentame|cantame)(?: una?| la| el| algun\w{0,2})? (receta|chiste|poema|cuento|cancion"
    r"|adivinanza))"
)
TASK = re.compile(rf"[^\w]{{0,9}}{POLITE}{MAKING}\b")
OF_THE_SITE = frozenset(
    "summary summarise summarize overview list resumen resume resumir lista paragraph parrafo sentence frase "
    "words palabras".split()
)
"""Forms that content of the site can be put in."""


def is_task(message: str, holds: Callable[[str], bool]) -> bool:
    """Whether a message asks for something to be made, and not of what the site has words for.

    Args:
        holds: whether a content word stands somewhere on the site.
    """
    match = TASK.match(fold(message))
    if match is None:
        return False
    wanted = [
        word for word in content_words(fold(message)[match.end() :]) if word not in OF_THE_SITE
    ]
    named = filter(None, match.groups())  # a recipe, a joke
    return any(not holds(word) for word in (*wanted, *named))
