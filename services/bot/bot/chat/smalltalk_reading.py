"""Read a message as small talk in other words than the listed ones, mistyped ones too.

Mistyped words are read as the lexicon's where the site does not hold them as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.chat.names import TECHNOLOGIES
from bot.chat.smalltalk_frames import POLITE, Frame, SmallTalk
from bot.chat.smalltalk_identity import IDENTITY

MOST_WORDS = 16
MISTYPED = range(4, 16)
"""Letters of a word that may be mistyped: shorter ones are one letter away from too many words."""
SPELLINGS = {
    "q": "que", "k": "que", "ke": "que", "qeu": "que", "kien": "quien", "xq": "porque", "tb": "tambien",
    "u": "you", "r": "are", "ur": "your", "yu": "you", "wat": "what", "wut": "what", "wich": "which",
    "pls": "please", "plz": "please", "thnx": "thanks", "tnx": "thanks", "tks": "thanks", "thanx": "thanks",
    "grax": "gracias", "grasias": "gracias", "salu2": "saludos", "wenas": "buenas",
    "im": "i", "whats": "what", "whos": "who", "dont": "do",
}  # fmt: skip
FRAMES = (*IDENTITY, *POLITE)
ASKING = frozenset("como how que what".split())
LEXICON: frozenset[str] = frozenset().union(*(frame.lexicon for frame in FRAMES))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def framed(spoken: Sequence[str], holds: Callable[[str], bool]) -> SmallTalk | None:
    """The kind of small talk that all of these folded words make; None where one of them does not fit.

    `holds` says whether the site's content has a word. One it does not have may stand beside a
    greeting: «hola guapo».
    """
    if not 0 < len(spoken) <= MOST_WORDS:
        return None
    spelt = [SPELLINGS.get(word, word) for word in spoken]
    slips = {word: _slips(word, holds) for word in spelt}
    for frame in FRAMES:
        read = [
            word if word in frame.lexicon else _meant(word, slips[word], frame) for word in spelt
        ]
        if frame.carried.search(" ".join(read)) is None or any(map(holds, frame.unless)):
            continue
        strange = [word for word in read if word not in frame.lexicon]
        if not strange or (frame.kind == "greeting" and _is_a_name(strange, read, holds)):
            return frame.kind
    return None


def _slips(word: str, holds: Callable[[str], bool]) -> frozenset[str]:
    """Words of small talk that this one may have been meant for; none for a word that is one itself."""
    if word in LEXICON or len(word) not in MISTYPED or word in TECHNOLOGIES or holds(word):
        return frozenset()
    return LEXICON & _one_slip_away(word)


def _meant(word: str, slips: frozenset[str], frame: Frame) -> str:
    """The slip's nearest word of this frame: two letters swapped go before one left out."""
    known = slips & frame.lexicon
    return min(known, key=lambda other: (abs(len(other) - len(word)), other), default=word)


def _is_a_name(strange: Sequence[str], read: Sequence[str], holds: Callable[[str], bool]) -> bool:
    """One last word that the site does not know, and nothing asked: whoever is greeted."""
    if len(strange) != 1 or strange[0] != read[-1] or not ASKING.isdisjoint(read):
        return False
    return len(strange[0]) > 2 and strange[0] not in TECHNOLOGIES and not holds(strange[0])


def _one_slip_away(word: str) -> set[str]:
    """All spellings with one letter left out, added, changed or swapped with the next."""
    cuts = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    slips = {a + b[1:] for a, b in cuts if b}
    slips |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    slips |= {a + letter + b[1:] for a, b in cuts if b for letter in LETTERS}
    return slips | {a + letter + b for a, b in cuts for letter in LETTERS}
