"""Search a follow-up with the question it follows: «y en Python?», «sí», «tell me more»."""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat.smalltalk import recognise
from corpus.text import content_words, words

# Words that point back. A message that holds one of them, or says next to nothing by itself, is
# searched together with the question before it.
POINTING = frozenset(
    "eso esa ese esos esas esto esta este aquello aquel aquella ello el ella ellos ellas lo le les su sus "
    "mismo misma otro otra otros otras ambos tambien mas ademas entonces ahi alli dicho dicha anterior "
    "it its that this these those they them their he she his her him one ones same other others both "
    "also more else then there former latter previous".split()
)
OPENERS = frozenset("y e pero and but or so o ni entonces then".split())
ASSENT = frozenset(
    "si claro vale venga dale sigue continua adelante yes yeah yep sure ok okay please go on continue "
    "no nope por favor why how porque explain explica explicame explicalo cuentame detalla amplia "
    "resume resumelo elaborate details detalles ejemplo example mejor better explicamelo repite repitelo "
    "repeat again vez aclara aclaralo clarify simple simpler sencillo resumen summary seguro".split()
)
STANDS_ALONE_WORDS = 4  # content words from which a message without pointing words is a question
MOST_STEPS_BACK = 3


def points_back(message: str) -> bool:
    """Whether the message can't be understood without what was said before."""
    spoken = words(message)
    if not spoken:
        return True
    content = [word for word in content_words(message) if word not in ASSENT | POINTING]
    if not content:
        return True
    if spoken[0] in OPENERS:
        return True
    return len(content) < STANDS_ALONE_WORDS and bool(POINTING & set(spoken))


def may_lean(message: str) -> bool:
    """Whether the message is so short that it might lean on what was said before."""
    return len(content_words(message)) < STANDS_ALONE_WORDS


def with_context(message: str, earlier: Sequence[str]) -> str | None:
    """`message` behind the question it follows, or None when there is none.

    Steps back over questions that point back themselves and over small talk, at most
    `MOST_STEPS_BACK`, so that «sí» after «y en Python?» still knows the subject.
    """
    context: list[str] = []
    for question in reversed(earlier[-MOST_STEPS_BACK:]):
        if recognise(question).kind is not None:
            continue
        context.insert(0, question)
        if not points_back(question):
            break
    return " ".join([*context, message]) if context else None
