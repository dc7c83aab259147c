"""Which of the two languages a text is in: word lists, deterministic, undecided when in doubt.

Statistical detectors are wrong on exactly the texts visitors write («Hola» is Sotho, «Hello world»
Dutch: pemistahl/lingua-py#222, Mimino666/langdetect#16), so only words that belong to one language
count, and a text without any is undecided: the caller then takes the conversation's language.
"""

from __future__ import annotations

import re

from corpus.model import Language
from corpus.text import fold

# Code, addresses and quotations say nothing about who is asking: what is «Mi portafolio»?
IGNORED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|«[^«»]*»|“[^“”]*”|\"[^\"\n]*\"|https?://\S+"
    r"|(?<!\S)[^\s@]+@\S+|<[^<>\n]*>"
    r"|(?<![\w-])[\w-]+(?:\.[\w-]+)+|(?<![\w/-])[\w/-]*[_/][\w/-]*",
    re.DOTALL,
)
TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SPANISH_MARKS = re.compile(r"[¿¡ñÑ]")
SPANISH_ACCENTS = re.compile(r"[áéíóúÁÉÍÓÚ]")

SPANISH = frozenset(
    "al algo alguien algun alguna algunos ambos antes aquel aqui asi aunque bien buenas buenos cada como "
    "con contadme cual cuales cualquier cuando cuanta cuantas cuanto cuantos cuentame da dame dan de deja "
    "del dias desde despues di dia dice dime donde dos durante el ella ellas ellos en entonces entre eran "
    "eres esa esas ese eso esos espanol esta estaba estado estan estar estas este esto estos estoy "
    "estuvo explica explicame favor fue fueron gracias ha haber habia hablame haces hacen hacer hacia "
    "hace hacia han hasta hay hecho hicieron hola holaa holaaa hizo hubo la las le les lo los llama llamas "
    "mas mejor mensaje mi mis mucha muchas mucho muchos muy nada nadie ni ningun ninguna noches nos "
    "nosotros nuestra nuestro nunca otra otras otro otros para pero poco podeis podria por porque pues puede "
    "pueden puedes puedo que quien quienes quiero saber sabes se sea segun ser si sin sirve sobre sois "
    "somos soy su sus tal tambien tampoco tan tanto tardes te teneis tenia tener tengo tiene tienen tienes "
    "toda todas todo todos trabaja trabajado trabajo tu tuvo tus un una unas uno unos usa usaron usan usted "
    "vale vez vuestra vuestro vuestros ya yo y o e adios hasta luego venga claro vosotros hicisteis "
    "hacéis haceis proyecto proyectos empresa empresas anos ano articulos articulo entradas escrito "
    "lenguaje lenguajes sitio web tienda cuesta pagina llamais publicado ultima ultimo ultimos".split()
)
ENGLISH = frozenset(
    "about after again all also although am an and another any anyone are aren't around as ask at be "
    "because been before being better both but by bye can can't cannot could did didn't do does "
    "doesn't doing don't each else every everything explain few for from get give goes good goodbye "
    "had has have having he hello hey hi her here him his how i i'm i've if in into is isn't it it's its "
    "just know last least like list long made make many may maybe might morning most much must my "
    "never nice of off on only or our out over own please pretty really say see she should show so "
    "some someone something still such tell than thank thanks that that's the their them then there "
    "there's these they they're thing things this those through to too under until up us use used uses "
    "using very want was wasn't way we we're were what what's when where where's which while who who's "
    "whose why will with without won't work worked works would write wrote yes yet you you're your yours "
    "evening afternoon night day latest project projects post posts company companies written year years "
    "languages language website world welcome cheers more between during ever".split()
)
# Words of both languages or of none: they decide nothing.
SHARED = SPANISH & ENGLISH
SPANISH_ENDINGS = ("cion", "ciones", "mente", "dad", "dades", "aje", "ando", "iendo", "aron", "ieron",
                   "amos", "emos", "imos", "ais", "eis", "illo", "illa", "ando", "ero", "eria")  # fmt: skip
ENGLISH_ENDINGS = ("tion", "tions", "ing", "ness", "ment", "ments", "ally", "ful", "ship", "ght",
                   "ould", "ity", "ies", "ed", "ly")  # fmt: skip


def detect_language(text: str) -> Language | None:
    """`es`, `en`, or None when the text gives no sign or as many of one as of the other."""
    prose = IGNORED.sub(" ", text)
    spanish = 2.0 * bool(SPANISH_MARKS.search(prose))
    english = 0.0
    for token in TOKEN.findall(prose):
        folded = fold(token.replace("’", "'"))
        if SPANISH_ACCENTS.search(token):
            spanish += 1.0
        if folded in SPANISH and folded not in SHARED:
            spanish += 1.0
        elif folded in ENGLISH and folded not in SHARED:
            english += 1.0
        elif len(folded) > 4:
            spanish += 0.4 * folded.endswith(SPANISH_ENDINGS)
            english += 0.4 * folded.endswith(ENGLISH_ENDINGS)
    if spanish == english:
        return None
    return "es" if spanish > english else "en"
