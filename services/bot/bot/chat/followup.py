"""Search a follow-up with the question it follows: «y en Python?», «sí», «tell me more»."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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
AGREEING = frozenset("si claro vale venga dale yes yeah yep sure ok okay please por favor".split())
NEW_SUBJECT = re.compile(
    r"\s{0,9}(?:otra (?:cosa|pregunta|duda)|(?:cambiando|cambio) de tema|por cierto|something else"
    r"|(?:an)?other (?:question|thing|topic)|(?:on )?a different (?:topic|note|question)"
    r"|chang(?:e|ing) (?:of |the )?(?:subject|topic)|by the way)\s{0,9}[:,.;–—-]{1,3}\s{0,9}(?=[¿¡\w])",
    re.IGNORECASE,
)
"""What announces a question that has nothing to do with the one before."""
FOREIGN_WORDS = 2
FOREIGN_SHARE = 0.6
"""From so many words that stand nowhere on the site, and such a share of the question, it is about
something else: «y quién ganó el mundial?». One such word is often just a verb: «¿y quién lo reparte?»."""
STANDS_ALONE_WORDS = 4  # content words from which a message without pointing words is a question
MOST_STEPS_BACK = 3


def new_subject(message: str) -> str | None:
    """The question behind «Something else:»; None where nothing of the kind is said."""
    announced = NEW_SUBJECT.match(message)
    return message[announced.end() :] if announced else None


def agrees(message: str) -> bool:
    """Whether a message is nothing but a yes."""
    spoken = words(message)
    return bool(spoken) and AGREEING.issuperset(spoken)


def is_foreign(message: str, holds: Callable[[str], bool]) -> bool:
    """Whether a message that begins like a follow-up is about nothing that the site has words for.

    Args:
        holds: whether a content word stands somewhere on the site.
    """
    content = [word for word in content_words(message) if word not in ASSENT | POINTING | OPENERS]
    foreign = sum(not holds(word) for word in content)
    return foreign >= FOREIGN_WORDS and foreign >= FOREIGN_SHARE * len(content)


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
