"""Attributes visitors ask for that a text either gives or does not: a price, a phone number, a surname.

Retrieval can't tell «how much does the shop cost?» from «how fast is the shop?»: the right page is found
for both. But a price needs a currency or a tariff, a phone number digits, so their absence is evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from corpus.text import fold


class Attribute(Struct, frozen=True, kw_only=True):
    """How an attribute is asked for, and how a text that gives it looks; both on folded text."""

    name: str
    asked: re.Pattern[str]
    given: re.Pattern[str]


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


PERSON = r"(?:personas?|soci[oa]s?|fundador\w*|duen[oa]s?|programador\w*|desarrollador\w*|mitad\w*|clientes?)"
ATTRIBUTES = (
    Attribute(
        name="price",
        asked=_any(
            r"(?<!cada )\bcuanto (?:cuestan?|valen?|costo|cobra(?:s|is|n)?|pagaron|sale)\b",
            r"\b(?:precios?|tarifas?|presupuesto de|coste|honorarios)\b",
            r"\bhow much (?:is|are|money)\b",
            r"\bhow much (?:does|do|did|would|will) [^.?!]{0,60}\b(?:costs?|charge|pay|be|earn|spend)\b",
            r"\b(?:prices?|priced|pricing|rates?|fees?|budget|costs?)\b",
        ),
        given=_any(
            r"[€$£]\s?\d|\d\s?[€$£]",
            r"\b(?:euros?|eur|usd|dolar(?:es)?|dollars?|pounds|gratis|gratuit[oa]s?)\b",
            r"\b(?:free of charge|for free|price[sd]?|precios?|tarifas?|fees?|quotes?)\b",
            r"\b(?:presupuestos?|cuestan?|costs?)\b",
        ),
    ),
    # «quote» or «budget» on the page answers «what are your rates?», but not «how much is it?».
    Attribute(
        name="price",
        asked=_any(
            r"(?<!cada )\bcuanto (?:cuestan?|valen?|costo|costaron|cobra(?:s|is|n)?|pagaron|pago)\b",
            r"\bhow much [^.?!]{0,60}\b(?:costs?|charged?|paid|pay)\b",
            r"\bwhat (?:does|do|did) [^.?!]{0,60}\bcosts?\b",
        ),
        given=_any(
            r"[€$£]\s?\d|\d\s?[€$£]",
            r"\b(?:euros?|eur|usd|dolar(?:es)?|dollars?|pounds|centimos?|cents?)\b",
            r"\b(?:gratis|gratuit[oa]s?|free|sin coste|no charge|costs? nothing|no cuestan? nada)\b",
        ),
    ),
    Attribute(
        name="phone",
        asked=_any(
            r"\b(?:numeros?|movil) de (?:telefono|contacto)\b",
            r"\b(?:vuestro|tu|su|que|el) telefono\?",
            r"\b(?:whatsapp|phone numbers?|telephone)\b",
            r"\b(?:call you|llamaros|llamarte)\b",
        ),
        # Nine digits or more: «2016-2019» and a date are none.
        given=_any(
            r"\d(?:[ ().-]{0,2}\d){8,}",
            r"\b(?:whatsapp|phone numbers?|numeros? de telefono)\b",
            r"\b(?:no|sin|without|have|by|por) (?:a |an |the |el )?(?:tele)?(?:phone|fono)\b",
            r"\b(?:call us|llamanos|llamadnos|calls?|llamadas?)\b",
        ),
    ),
    Attribute(
        name="address",
        asked=_any(
            r"\bdireccion(?! de correo| de email)\b",
            r"\b(?:street|postal|office) address\b",
            r"\baddress of (?:your|the)\b",
            r"\b(?:domicilio|codigo postal|zip code)\b",
        ),
        given=_any(r"\b(?:calle|avenida|plaza|street|avenue|road|postcode)\b"),
    ),
    Attribute(
        name="age",
        asked=_any(
            r"\bque edad\b",
            r"\bcuantos anos (?:tienes|teneis|tiene)\b",
            r"\b(?:cumpleanos|cumple anos|birthday|date of birth|nacimiento|nacisteis|naciste)\b",
            r"\b(?:how old|were you born)\b",
        ),
        given=_any(
            r"\b\d+ (?:anos de edad|years? old)\b",
            r"\b(?:nacid[oa]|nacio|born|cumpleanos|birthday)\b",
        ),
    ),
    Attribute(
        name="pay",
        asked=_any(
            r"\b(?:sueldos?|salarios?|salary|salaries|wages?|earn(?:ed|s)?|nomina)\b",
            r"\bcuanto (?:ganais|ganas|ganan?|ganaba)\b",
            r"\b(?:income|turnover|revenue|facturacion|ingresos)\b",
        ),
        given=_any(
            r"\b(?:sueldos?|salarios?|salary|salaries|wages?|income|turnover|revenue)\b",
            r"\b(?:facturacion|facturamos|ingresos)\b",
        ),
    ),
    Attribute(
        name="surname",
        asked=_any(r"\bapellidos?\b", r"\b(?:surnames?|last names?|family names?)\b"),
        given=_any(
            r"\bapellidos?\b", r"\b(?:surnames?|last names?|my name is|me llamo|nos llamamos)\b"
        ),
    ),
    Attribute(
        name="director",
        asked=_any(
            r"\bquien (?:dirige|preside|gestiona)\b",
            r"\bquien es (?:el|la) (?:director|gerente|president|jef)\w*",
            r"\bwho (?:runs|directs|heads|leads|chairs)\b",
            r"\bwho is [^,.?!]{0,40}\b(?:director|ceo|boss|head|manager|president|chair)\b",
        ),
        given=_any(
            r"\b(?:dirig|presid|director|gerente|jef[ea]\b|directed|headed|chair(?:ed|s|man|woman)\b"
            r"|ceo\b|boss\b|manager\b|runs\b|run by\b|led by\b)"
        ),
    ),
    Attribute(
        name="brand",
        asked=_any(
            r"\bque marca\b", r"\b(?:what|which) (?:brand|make of)\b", r"\bwho manufactures\b"
        ),
        given=_any(r"\b(?:marcas?|brands?|branded|fabricantes?|manufactur\w*|modelo|model)\b"),
    ),
    Attribute(
        name="area",
        asked=_any(
            r"\b(?:metros cuadrados|m2|m²|superficie)",
            r"\b(?:square (?:met\w+|feet)|floor space)\b",
        ),
        given=_any(r"(?:\bm2|m²|\bmetros cuadrados|\bsquare (?:met\w+|feet)|\bhectar\w+)"),
    ),
    Attribute(
        name="password",
        asked=_any(r"\b(?:contrasenas?|password|passphrase|clave de (?:la )?wi-?fi)\b"),
        given=_any(r"\b(?:contrasenas?|passwords?|passphrases?|passkeys?)\b"),
    ),
    Attribute(
        name="colour",
        asked=_any(r"\b(?:(?:what|which) colou?rs?|(?:de )?que color(?:es)?)\b"),
        given=_any(
            r"\b(?:red|blue|green|yellow|black|white|grey|gray|orange|purple"
            r"|roj[oa]|azul|verde|amarill[oa]|negr[oa]|blanc[oa]|gris|naranja|morad[oa])\b"
        ),
    ),
    Attribute(
        name="founding",
        asked=_any(
            r"\bse (?:fundo|fundaron|constituyo)\b",
            r"\bwhen (?:was|were) [^.?!]{0,60}\b(?:founded|established|incorporated)\b",
        ),
        given=_any(
            r"\b(?:fund(?:o|a|ad[oa]s?|amos|ada|aron)|founded|founding|established|incorporated)\b",
            r"\b(?:since|desde|started in|empez\w+ en) (?:\w+ (?:de )?)?(?:19|20)\d\d\b",
        ),
    ),
    Attribute(
        name="popularity",
        asked=_any(
            r"\b(?:how many|cuant[oa]s) (?:github )?(?:stars?|estrellas|followers|seguidores|likes|forks)\b"
        ),
        given=_any(r"\b(?:stars?|estrellas?|followers|seguidores|likes|forks)\b"),
    ),
    Attribute(
        name="attendance",
        asked=_any(
            r"\bhow many (?:people|visitors|persons) (?!can\b|may\b|could\b)[^.?!]{0,20}\battend",
            r"\bcuant[oa]s? (?:personas|gente|publico) (?!pued)[^.?!]{0,20}\basisti",
        ),
        given=_any(r"\b(?:attend\w*|asisti\w*|asistent\w*|audience|publico|aforo)\b"),
    ),
    Attribute(
        name="marks",
        asked=_any(
            r"\b(?:average|final) (?:mark|grade)s?\b", r"\bnota (?:media|final)\b", r"\bgpa\b"
        ),
        given=_any(r"\b(?:marks?|grades?|gpa|nota media|calificaci\w+|honou?rs|cum laude)\b"),
    ),
    Attribute(
        name="opening hours",
        asked=_any(
            r"\b(?:que dias?|a que hora) [^.?!]{0,30}\b(?:abre|cierra)n?\b",
            r"\b(?:opening|closing) (?:hours|times?|days?)\b",
            r"\b(?:what|which) (?:days?|time) [^.?!]{0,40}\b(?:opens?|closes?|closed)\b",
            r"\bhorario de (?:apertura|visitas?)\b",
        ),
        given=_any(
            r"\b(?:hasta las \d+|until \d+|horarios?|abierto de|abre a|abre de|abre los|cierra a|cierra los"
            r"|open from|opens at|closed on|closes at|opening hours)\b"
        ),
    ),
    # What is written down was so when it was written; nothing on a page is the value of this minute.
    Attribute(
        name="this moment",
        asked=_any(
            r"\b(?:right now|at this (?:very )?moment|ahora mismo|en este (?:mismo )?momento)\b"
        ),
        given=_any(
            r"\b(?:right now|at this (?:very )?moment|ahora mismo|en este (?:mismo )?momento)\b"
        ),
    ),
    Attribute(
        name="person",
        asked=_any(
            r"\bcomo os llamais\b",
            rf"\bcomo se llaman? (?:las?|los|el|vuestr[oa]s?|tus?|sus?) {PERSON}\b",
            rf"\bnombres? de (?:las?|los|el|vuestr[oa]s?|tus?) {PERSON}\b",
            r"\b(?:vuestros nombres|your names?)\b",
            r"\bnames? of the (?:people|persons?|founders?|owners?|developers?|partners?|clients?|two)\b",
        ),
        given=_any(r"\b(?:my name is|me llamo|nos llamamos|our names)\b"),
    ),
)


DETERMINER = r"(?:(?:the|an?|its|their|his|her|your|el|la|los|las|su|sus|tu|vuestr[oa]s?|una?)\s)?"
JOINT_BEFORE = re.compile(rf"\s(?:and|y|e)\s{DETERMINER}$")
LEAD = re.compile(rf"\b{DETERMINER}$")
JOINT_BEHIND = re.compile(rf"\s(?:and|y|e)\s(?={DETERMINER}\w)")


def missing_attributes(question: str, passages: Iterable[str]) -> int:
    """How many attributes the question asks for that none of the passages gives."""
    return len({attribute.name for attribute in _missing(fold(question), passages)})


def without_missing(question: str, passages: Iterable[str]) -> tuple[str, str] | None:
    """A question for two things of one without the thing that no passage gives, and that thing.

    «The stack and the budget of Lonja» is asked as «the stack of Lonja»; None where the missing attribute is
    not joined to another noun.
    """
    folded = fold(question)
    if len(folded) != len(question):
        return None
    for attribute in _missing(folded, passages):
        for match in attribute.asked.finditer(folded):
            start, end = match.span()
            if before := JOINT_BEFORE.search(folded, 0, start):
                return question[: before.start()] + question[end:], question[start:end]
            if behind := JOINT_BEHIND.match(folded, end):
                lead = LEAD.search(folded, 0, start)
                first = lead.start() if lead else start
                return question[:first] + question[behind.end() :], question[start:end]
    return None


def _missing(folded: str, passages: Iterable[str]) -> list[Attribute]:
    wanted = [attribute for attribute in ATTRIBUTES if attribute.asked.search(folded)]
    held = [fold(passage) for passage in passages] if wanted else []
    return [a for a in wanted if not any(a.given.search(text) for text in held)]
