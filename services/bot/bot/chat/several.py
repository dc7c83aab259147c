"""Whether a question asks for several things, so that one page may not hold them all."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus.text import fold

TOKEN = re.compile(r"\w+|[,;?]")
ASKING = frozenset(
    "what which who where when why how que cual cuales quien quienes donde cuando como cuanto cuanta "
    "cuantos cuantas".split()
)
JOINTS = frozenset("and or y e o u , ;".split())
MOST_BETWEEN = 3  # tokens from the joint to the second question word: «and since when»
COMPARING = re.compile(
    r"\b(?:compare|comparison|compared|difference|differences|differ|versus|vs|both|each"
    r"|all (?:the|your)|compara|comparar|comparacion|diferencia|diferencias|diferencian|ambos|ambas"
    r"|cada|todos (?:los|tus)|todas (?:las|tus)|which (?:projects|posts|articles|pages)"
    r"|(?:que|cuales) (?:\w{1,20} )?(?:proyectos|articulos|paginas|entradas))\b"
)


def asks_several(question: str) -> bool:
    """True for two questions in one, a comparison, or a question about all of a kind."""
    folded = fold(question)
    return bool(COMPARING.search(folded)) or _has_two_questions(TOKEN.findall(folded))


def _has_two_questions(tokens: list[str]) -> bool:
    """A second question mark behind words, or a second question word soon behind a joint."""
    questions = sum(one != "?" and other == "?" for one, other in pairwise(tokens))
    asked = False
    since_joint = MOST_BETWEEN + 1
    for word in tokens:
        since_joint = 0 if word in JOINTS else since_joint + 1
        if word in ASKING:
            if asked and since_joint <= MOST_BETWEEN:
                return True
            asked = True
    return questions > 1
