"""Whether a question asks for several things, so that one page may not hold them all."""

from __future__ import annotations

import re

from corpus.text import fold

ASKING = (
    r"(?:what|which|who|where|when|why|how|que|cual|cuales|quien|quienes|donde|cuando|como"
    r"|cuanto|cuanta|cuantos|cuantas)"
)
JOINT = r"(?:\b(?:and|or|y|e|o|u)\b|[,;])"
# «What is X, and how does Y…», «¿cuándo … y dónde …?»: a second question word behind a joint.
TWO_QUESTIONS = re.compile(rf"\?.*\w.*\?|\b{ASKING}\b.*{JOINT}\s*(?:\w+\s){{0,2}}{ASKING}\b", re.S)
COMPARING = re.compile(
    r"\b(?:compare|comparison|compared|difference|differences|differ|versus|vs|both|each"
    r"|all (?:the|your)|compara|comparar|comparacion|diferencia|diferencias|diferencian|ambos|ambas"
    r"|cada|todos (?:los|tus)|todas (?:las|tus)|which (?:projects|posts|articles|pages)"
    r"|(?:que|cuales) (?:\w+ )?(?:proyectos|articulos|paginas|entradas))\b"
)


def asks_several(question: str) -> bool:
    """True for two questions in one, a comparison, or a question about all of a kind."""
    folded = fold(question)
    return bool(TWO_QUESTIONS.search(folded) or COMPARING.search(folded))
