"""Small talk by its lexicon: every word must belong to it, and some of them must carry it.

A frame is a compact lexicon and a pattern. A message fits when all of its words are in the lexicon, so
that a question about the site, which has a word of its own, never does, and the pattern is found in it.
Folded words, no punctuation; alternatives are divided by a stroke.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

SmallTalk = Literal["greeting", "thanks", "goodbye", "identity"]
# With every frame: greetings before a question, politeness, and what joins.
COURTESY = """
a ah and buenas dear e eh excuse favor hello hey hi hola me o ok okay or oye perdon perdona please por
pues bueno s so sorry then um un una vale well y
"""


class Frame(Struct, frozen=True, kw_only=True):
    """One way of small talk."""

    kind: SmallTalk
    carried: re.Pattern[str]
    lexicon: frozenset[str]
    unless: tuple[str, ...] = ()
    """Words that, held by the site, make it a question about the site."""


def frame(kind: SmallTalk, carried: str, lexicon: str, unless: str = "") -> Frame:
    """A frame from the texts of the tables below."""
    parts = "".join(line.strip() for line in carried.splitlines()).split("/")
    pattern = re.compile(rf"\b(?:{'|'.join(part.strip() for part in parts)})\b")
    spoken = frozenset((lexicon + COURTESY).split())
    return Frame(kind=kind, carried=pattern, lexicon=spoken, unless=tuple(unless.split()))


POLITE = (
    frame(
        "goodbye",
        r"""
        bye / goodbye / cya / ciao / adios / adeu / chao / chau / farewell / cheerio /
        hasta (?:luego|pronto|otra|manana|la vista|ahora|entonces|siempre|la proxima) /
        nos (?:vemos|leemos|hablamos) / me (?:voy|despido|marcho) /
        (?:gotta|got to|have to|must) (?:go|run|leave) / take care / see (?:you|ya) /
        (?:until|till) next time / (?:talk|speak|catch) (?:to )?(?:you )?(?:later|soon) / so long /
        (?:nice|good|great|lovely) (?:day|weekend|week|one|night|rest) /
        (?:un|mucho) (?:abrazo|saludo) / kind regards / all the best / que (?:vaya|te vaya) bien /
        cuidate / cuidaos / buen (?:fin|finde|dia|resto)
        """,
        """
        abrazo adeu adios afternoon ahora all amiga amigo anyway best bien buen buena bye care catch
        chao chau cheerio cheers ciao cuidaos cuidate cya day de del despido dia enjoy entonces evening
        everyone farewell fin finde for friend friends go good goodbye got gotta gracias great ha
        hablamos hasta have i igualmente it kind la later leave leemos long lovely luego manana marcho
        me mucho must muy next nice night nos now of one otra placer pleasure pronto proxima que regards
        rest resto ruego run s saludo saludos see semana sido siempre soon speak take talk tambien tarde
        te tengas thank thanks that the till time to todo todos tomorrow un until vaya vemos vista voy
        was week weekend ya you your
        """,
    ),
    frame(
        "thanks",
        r"""
        thank / thanks / thankyou / thx / ty / cheers / gracias / agradezco / agradecid[oa] /
        agradecemos / appreciate / appreciated / grateful / helpful / awesome / perfect / perfecto /
        genial / estupendo / fantastico / brilliant / excellent / excelente / wonderful / fenomenal /
        great (?:job|work|answer|help) / (?:good|nice) (?:job|work|answer|one|bot) / well done /
        (?:buen|gran) trabajo / buena respuesta / (?:eso )?es todo /
        that (?:s|is|was|will be|ll be) all / me (?:ha |has )?(?:servido|ayudado) / que amable /
        muy amable / lo tengo / makes sense
        """,
        """
        absolutely agradecemos agradecida agradecido agradezco all amable amiga amigo answer answering
        answers appreciate appreciated as atencion awesome ayuda ayudado be been bien bot brilliant
        buddy buen buena bunch cheers claro clear cool corazon day de deeply del done enough entendido
        es eso esto estupendo everything exactly excelente excellent explaining explanation explicacion
        explicaciones explicarmelo fantastico fenomenal for friend genial good gracias gran grateful
        great guay ha haberme has heaps help helped helpful helping helps i info informacion information
        is it its job just know la las ll lo los lot lots make makes mate mil million millon millones
        much muchas muchisimas muchisimo mucho muy my nada necesitaba needed nice now of one pal parece
        perfect perfectamente perfecto por que queria quick rapida rapido really reply responder
        response respuesta respuestas s saber sense servido sido so such super tan te tengo thank thanks
        thankyou that the this thx tiempo time tio todas todo todos trabajo truly tu tus ty u useful
        verdad very vuestra wanted was well what will wonderful work you your
        """,
    ),
    frame(
        "greeting",
        r"""
        hello / hi / hey / heya / hiya / hallo / howdy / yo / greetings / hola / holi / buenas /
        buenos / ey / saludos / aloha / good (?:morning|afternoon|evening|day) /
        (?:nice|good|great|pleased|glad|lovely) to (?:meet|see) you / how (?:are|r) (?:you|things|u) /
        how (?:s|is) (?:it|everything|life|your day) / how have you been / how do you do /
        what s (?:up|new) / (?:como|que) (?:te |le |os )?(?:va|estas?|andas?|lo llevas|te va|tal|onda|
        hubo|pasa|te cuentas|ha ido) / encantad[oa] / un placer / mucho gusto / todo bien / buen dia /
        anybody home / ^morning / ^evening
        """,
        """
        afternoon again al all aloha amiga amigo amigos anda andas are asistente assistant been bien
        bonito bot buddy buen buenas buenos chicas chicos como conoceros conocerte cuentas day de dia
        dias doing doubt en encantada encantado equipo esta estais estas este evening everybody everyone
        everything ey fine folks friend gente glad going good great greetings gusto guys ha hallo have
        heya hiya holi how howdy hoy hubo i ido is it la le les life llevas lo lovely mate meet morning
        mucho muy my new nice night noches nuevo onda os otra pal pasa people placer pleased pleasure
        que robot s saludo saludos see semana senor senores sir tal tardes te team tengan tengas there
        things to todas today todo todos tu up va vez vosotros welcome what yo you your
        """,
    ),
)  # fmt: skip
