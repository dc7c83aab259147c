"""Whether a question asks for several things, so that one page may not hold them all; and which."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus.text import content_words, fold

TOKEN = re.compile(r"\w+|[,;?]")
ASKING = frozenset(
    "what which who where when why how que cual cuales quien quienes donde cuando como cuanto cuanta "
    "cuantos cuantas".split()
)
JOINTS = frozenset("and or y e o u , ;".split())
# Asking words of Spanish as they are written when they do not ask.
RELATIVE = frozenset("que cual cuales quien quienes donde cuando como cuanto cuanta".split())
MARKS = " ,;.:¿?¡!\n\t"
SENTENCE = re.compile(r"[^?]+\??")
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


def parts(question: str) -> tuple[str, ...]:
    """The two questions in one message, in the visitor's words; the message itself where it is one.

    Cut only at question marks and at a joint with a question word at most one word behind it («and since
    when», «y a qué número»), and only where both sides ask: «who is the author and owner» stays whole.
    """
    found: list[str] = []
    accented = fold(question) != question.lower()
    for sentence in SENTENCE.findall(question):
        tokens = list(TOKEN.finditer(sentence))
        asking = [n for n, token in enumerate(tokens) if _asks(token[0], accented)]
        start = 0
        for place in asking[1:]:
            before = range(place - 1, max(place - 3, -1), -1)
            joint = next((n for n in before if fold(tokens[n][0]) in JOINTS), None)
            if joint is not None:
                found.append(sentence[start : tokens[joint].start()])
                start = tokens[joint].end()
        found.append(sentence[start:])
    cut = tuple(part for part in (part.strip(MARKS) for part in found) if part)
    both = len(cut) == 2 and all(
        any(_asks(word, accented) for word in TOKEN.findall(part)) and content_words(part)
        for part in cut
    )
    return cut if both else (question,)


def _asks(word: str, accented: bool) -> bool:
    """Where accents are written, «que» and «como» without one join sentences and ask nothing."""
    return fold(word) in ASKING and not (accented and word.lower() in RELATIVE)


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
