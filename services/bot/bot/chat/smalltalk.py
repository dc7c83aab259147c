"""Greetings, thanks, goodbyes and «who are you»: recognised only as a whole message, no model asked.

The usual phrases are listed here; in other words they are recognised by bot.chat.smalltalk_frames.

A greeting in front of a question is taken off and the rest is searched (shaunagm/WelcomeBot#5: «hi»
inside «think»; swapagarwal/JARVIS-on-Messenger#382: greeting plus question swallowed).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from bot.chat.smalltalk_frames import SmallTalk
from bot.chat.smalltalk_reading import framed
from corpus.text import fold, words

WORD = re.compile(r"[^\W_]+")
# Not the hyphen of «hi-res», nor the dot of hello.js.
MARKS = re.compile(r"[,;!?¡¿\n—]|[.:-]\s|\s[-–]")
LENGTHENED = re.compile(r"([a-z])\1{2,}")  # holaaaa, heyyyy


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    found = {tuple(phrase.split()) for phrase in text.split("/")}
    return tuple(sorted(found, key=lambda phrase: (-len(phrase), phrase)))


# Folded, without punctuation. Longest first, so that «muy buenas tardes» wins over «muy buenas».
GREETINGS = _phrases("""
hola / holi / holaa / ola / buenas / muy buenas / buenos dias / buen dia / buenas tardes /
buenas noches / saludos / que tal / que tal estas / como estas / como va / como te va / que hay /
que pasa / hey / ey / hello / hello there / hi / hi there / hiya / howdy / good morning /
good afternoon / good evening / good day / good night / greetings / hola a todos /
buenos dias a todos / hello everyone / hi all / wassup / how r u / how are you / how is it going /
how s it going / how are you doing / what s up / whats up / sup
""")
THANKS = _phrases("""
gracias / muchas gracias / mil gracias / muchisimas gracias / ok gracias / vale gracias /
perfecto gracias / genial gracias / gracias por la ayuda / gracias por tu ayuda / gracias por todo /
gracias por la informacion / gracias por tu tiempo / muchas gracias por todo /
muchas gracias por la ayuda / muchas gracias por tu ayuda / super gracias / te lo agradezco / thanks
/ thank you / thanks a lot / thank you very much / thank you so much / thank u / thanks so much /
thanks a million / thanks for everything / thank you for your help / thank you for the help /
many thanks / ok thanks / great thanks / perfect thanks / thanks for the help / thanks for your help
/ thx / ty / cheers / ok / okay / vale / perfecto / genial / great / perfect / cool / nice /
de acuerdo / entendido / got it
""")
GOODBYES = _phrases("""
adios / hasta luego / hasta pronto / hasta manana / hasta la vista / hasta otra /
que tengas un buen dia / que tengas buen dia / feliz dia / nos vemos / chao / chau / ciao / bye /
bye bye / goodbye / good bye / see you / see you later / see you soon / see you tomorrow /
have a nice day / have a good day / have a great day / see ya / take care
""")
IDENTITIES = _phrases("""
quien eres / quien sos / quien eres tu / que eres / que eres tu / tu quien eres / con quien hablo /
con quien estoy hablando / como te llamas / cual es tu nombre / eres un bot / eres un robot /
eres una ia / eres ia / eres humano / eres humana / eres una persona / eres una persona real /
eres una persona o un robot / eres una persona o un bot / eres una persona o una maquina /
eres un robot o una persona / eres un bot o una persona / eres real / eres chatgpt /
que puedes hacer / que puedes hacer por mi / que sabes hacer / para que sirves /
en que me puedes ayudar / en que puedes ayudarme / como me puedes ayudar / como puedes ayudarme /
como funcionas / que puedo preguntarte / que te puedo preguntar / que puedo preguntar / ayuda /
who are you / who r u / what are you / who am i talking to / who is this / what is your name /
what s your name / are you a bot / are you a robot / are you an ai / are you ai / are you human /
are you a human / are you a person / are you a real person / are you a person or a robot /
are you a person or a bot / are you a bot or a person / are you a bot or a human /
are you a human or a bot / are you a robot or a human / are you real / are you chatgpt /
what can you do / what can you do for me / how can you help / how can you help me / what can i ask /
what can i ask you / what should i ask / help / help me
""")
KINDS: tuple[tuple[SmallTalk, tuple[tuple[str, ...], ...]], ...] = (
    ("greeting", GREETINGS),
    ("thanks", THANKS),
    ("goodbye", GOODBYES),
    ("identity", IDENTITIES),
)
"""In a message of several kinds the last of these is answered."""
JOINERS = frozenset("y e and pero but".split())
# Words that open a question: the greeting before one is taken off without a comma too.
ASKING = frozenset(
    "que cual cuales quien quienes como cuando donde cuanto cuanta cuantos cuantas what which who how when "
    "where why do does did is are can could have has tell".split()
)


class Recognised(Struct, frozen=True, kw_only=True):
    """What kind of small talk a message is, and what is left of it to search."""

    kind: SmallTalk | None
    rest: str
    """The message without a leading greeting; the whole message where there is none."""


def recognise(
    message: str, name: str = "", holds: Callable[[str], bool] = lambda word: True
) -> Recognised:
    """`kind` is set only when the whole message is small talk.

    Args:
        name: whom it may be spoken to.
        holds: whether the site's content has this word; such a word is no mistyped greeting.
    """
    spoken = [LENGTHENED.sub(r"\1", word) for word in words(message)]
    called = tuple(words(name))
    position = greeted = plain = 0
    kinds: set[SmallTalk] = set()
    while position < len(spoken):
        found, length = _phrase_at(spoken, position)
        if found is not None:
            kinds.add(found)
        elif position and called and tuple(spoken[position : position + len(called)]) == called:
            length = len(called)
        elif position and position + 1 < len(spoken) and spoken[position] in JOINERS:
            length = 1
        else:
            break
        if kinds == {"greeting"}:
            greeted = position + length
            if plain == position and spoken[position] not in ASKING:  # «qué hay que hacer» asks
                plain = greeted
        position += length
    if kinds and position == len(spoken):
        return Recognised(kind=[kind for kind, _ in KINDS if kind in kinds][-1], rest=message)
    others = [word for word in spoken if word not in called]
    if (other := framed(others, holds)) is not None:
        return Recognised(kind=other, rest=message)
    return Recognised(kind=None, rest=_without_greeting(message, greeted, plain))


def _phrase_at(spoken: list[str], position: int) -> tuple[SmallTalk | None, int]:
    """The kind and length of the longest phrase that begins there."""
    longest: tuple[SmallTalk | None, int] = (None, 0)
    for kind, phrases in KINDS:
        for phrase in phrases:
            if len(phrase) <= longest[1]:
                break
            if tuple(spoken[position : position + len(phrase)]) == phrase:
                longest = (kind, len(phrase))
                break
    return longest


def _without_greeting(message: str, greeted: int, plain: int) -> str:
    """`message` behind its greeting; whole again where only a greeting-like word leads.

    `hola mundo en C` is a question about a program, not a greeting followed by one: what is taken off
    must be set off by punctuation, or be a plain greeting with a question word right behind it.
    """
    found = list(WORD.finditer(message))
    for count, marked in ((greeted, True), (plain, False)):
        if not 0 < count < len(found):
            continue
        gap = message[found[count - 1].end() : found[count].start()]
        if MARKS.search(gap) if marked else fold(found[count][0]) in ASKING:
            return message[found[count].start() :].strip()
    return message
