"""Greetings, thanks, goodbyes and «who are you»: recognised only as a whole message, no model asked.

A greeting in front of a question is taken off and the rest is searched (shaunagm/WelcomeBot#5: «hi»
inside «think»; swapagarwal/JARVIS-on-Messenger#382: greeting plus question swallowed).
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from corpus.text import words

SmallTalk = Literal["greeting", "thanks", "goodbye", "identity"]

LENGTHENED = re.compile(r"([a-z])\1{2,}")  # holaaaa, heyyyy


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    found = {tuple(line.split()) for line in text.strip().splitlines()}
    return tuple(sorted(found, key=lambda phrase: (-len(phrase), phrase)))


# Folded, without punctuation. Longest first, so that «muy buenas tardes» wins over «muy buenas».
GREETINGS = _phrases("""
hola
holi
holaa
ola
buenas
muy buenas
buenos dias
buen dia
buenas tardes
buenas noches
saludos
que tal
que tal estas
como estas
como va
como te va
que hay
que pasa
hey
ey
hello
hello there
hi
hi there
hiya
howdy
good morning
good afternoon
good evening
good day
greetings
how are you
how is it going
how s it going
how are you doing
what s up
whats up
sup
""")
THANKS = _phrases("""
gracias
muchas gracias
mil gracias
muchisimas gracias
ok gracias
vale gracias
perfecto gracias
genial gracias
gracias por la ayuda
gracias por tu ayuda
gracias por todo
te lo agradezco
thanks
thank you
thanks a lot
thank you very much
thank you so much
many thanks
ok thanks
great thanks
perfect thanks
thanks for the help
thanks for your help
thx
ty
cheers
ok
okay
vale
perfecto
genial
great
perfect
cool
nice
de acuerdo
entendido
got it
""")
GOODBYES = _phrases("""
adios
hasta luego
hasta pronto
hasta manana
hasta la vista
nos vemos
chao
chau
bye
bye bye
goodbye
good bye
see you
see you later
see you soon
see ya
take care
""")
IDENTITIES = _phrases("""
quien eres
quien sos
quien eres tu
que eres
que eres tu
tu quien eres
con quien hablo
con quien estoy hablando
como te llamas
cual es tu nombre
eres un bot
eres un robot
eres una ia
eres ia
eres humano
eres humana
eres una persona
eres una persona real
eres real
eres chatgpt
que puedes hacer
que sabes hacer
para que sirves
en que me puedes ayudar
en que puedes ayudarme
como me puedes ayudar
como puedes ayudarme
como funcionas
que puedo preguntarte
que te puedo preguntar
que puedo preguntar
ayuda
who are you
who r u
what are you
who am i talking to
who is this
what is your name
what s your name
are you a bot
are you a robot
are you an ai
are you ai
are you human
are you a human
are you a person
are you a real person
are you real
are you chatgpt
what can you do
how can you help
how can you help me
what can i ask
what can i ask you
what should i ask
help
help me
""")


class Recognised(Struct, frozen=True, kw_only=True):
    """What kind of small talk a message is, and what is left of it to search."""

    kind: SmallTalk | None
    rest: str
    """The message without a leading greeting; the whole message where there is none."""


def recognise(message: str) -> Recognised:
    """`kind` is set only when the whole message is small talk."""
    spoken = [LENGTHENED.sub(r"\1", word) for word in words(message)]
    after = _skip(spoken, GREETINGS)
    rest = spoken[after:]
    for kind, phrases in (("thanks", THANKS), ("goodbye", GOODBYES), ("identity", IDENTITIES)):
        if rest and _skip(rest, (*phrases, *GREETINGS)) == len(rest):
            return Recognised(kind=kind, rest=message)  # type: ignore[arg-type]
    if not rest and after:
        return Recognised(kind="greeting", rest=message)
    return Recognised(kind=None, rest=_without_words(message, after) if after else message)


def _skip(spoken: list[str], phrases: tuple[tuple[str, ...], ...]) -> int:
    """How many leading words are made of whole phrases."""
    position = 0
    while position < len(spoken):
        for phrase in phrases:
            if tuple(spoken[position : position + len(phrase)]) == phrase:
                position += len(phrase)
                break
        else:
            break
    return position


def _without_words(message: str, count: int) -> str:
    """`message` behind its first `count` words; whole again where only a greeting-like word leads.

    `hola mundo en C` is a question about a program, not a greeting followed by one: a greeting that
    is taken off must be set off by punctuation.
    """
    matches = list(re.finditer(r"[^\W_]+", message))
    if count >= len(matches):
        return message
    gap = message[matches[count - 1].end() : matches[count].start()]
    if not re.search(r"[,.;:!?¡¿\n—-]", gap):
        return message
    return message[matches[count].start() :].strip() or message
