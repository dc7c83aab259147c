"""Ordinary words that begin sentences: their capital letter says nothing.

A word that begins a sentence is taken for a name unless it stands here, has an ending that ordinary
words have, or occurs in the evidence.
"""

from __future__ import annotations

from bot.chat.guard import ordinary_english, ordinary_spanish
from bot.chat.guard.twins import singular
from corpus.model import Language
from corpus.text import STOP_WORDS, fold

AR_ENDINGS = "ar a an aba aban o aron amos emos e en as ando arse arlo ara aran".split()
ER_IR_ENDINGS = "er ir e en ia ian io ieron emos imos a an es iendo erse irse ira iran".split()

FIRST_WORDS: dict[Language, frozenset[str]] = {
    "es": frozenset("El La En Un Se Los Las Una Según Para Sí Hay Puedes Son Esta Este".split()),
    "en": frozenset("It In To The You They There This Yes According".split()),
}
"""What answers most often begin with: shown before the word is known to be whole, which is one token
sooner. At worst a visitor reads «The» of an invented «Theodora»."""


def _forms(stems: str, endings: list[str]) -> set[str]:
    return {stem + ending for stem in stems.split() for ending in endings}


ORDINARY = (
    frozenset([*ordinary_spanish.WORDS.split(), *ordinary_english.WORDS.split()])
    | _forms(ordinary_spanish.STEMS_AR, AR_ENDINGS)
    | _forms(ordinary_spanish.STEMS_ER_IR, ER_IR_ENDINGS)
    | STOP_WORDS
)
ALWAYS = frozenset(
    "i i'm i've i'd i'll ok okay cv faq nº url api html css http https pdf tv pc web".split()
)
SPANISH_ENDINGS = (
    "cion", "ciones", "sion", "siones", "mente", "ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas",
    "ando", "iendo", "aron", "ieron", "aban", "ian", "amos", "emos", "imos", "aba", "aria", "arian", "dades",
    "dad", "miento", "mientos", "aje", "ajes", "adores", "adoras", "encia", "encias", "ancia", "ancias",
    "erias", "arse", "erse", "irse", "arlo", "arla", "able", "ables", "ible", "ibles", "icos", "icas",
    "ias", "enos", "anos", "eros", "eras", "ura", "uras", "orios",
)  # fmt: skip
ENGLISH_ENDINGS = (
    "ing", "ings", "ed", "ly", "tion", "tions", "sion", "sions", "ment", "ments", "ness", "ity", "ities",
    "ies", "ers", "ors", "able", "ible", "ful", "less", "ive", "ance", "ances", "ence", "ences", "ages",
    "ural", "ical", "ures", "ships", "ways", "ables", "ists",
)  # fmt: skip
ENDINGS = tuple(dict.fromkeys([*SPANISH_ENDINGS, *ENGLISH_ENDINGS]))
SHORTEST_WITH_ENDING = 6
PRETERITE = "ó"  # «Creó», «Lideró»: hardly a name ends so
# Given names and places with an ending of ordinary words.
NOT_ORDINARY = frozenset(
    "alfred armando fernando hernando orlando rolando wilfredo alfredo conrado amado abelardo natividad "
    "soledad trinidad caridad piedad felicidad sterling fleming irving kipling browning beijing harding "
    "manning hastings emily beverly kimberly waverly italy sicily trinity charity felicity winfred mildred "
    "manfred siegfried winifred mohamed muhammed ahmed hamed florence lawrence terrence clarence provence "
    "constance valencia palencia plasencia florencia santiago granada canada ensenada asturias zacarias "
    "matias elias jeremias tobias mercedes flanders anders meyers sanders walters myers peters rogers "
    "siemens salvador ventura extremadura segura singapura cartagena jamaica costarica veracruz "
    "clement vincent harvard harriman adrian sebastian damian julian fabian cristian vivian kyrgyz "
    "andorra camboya toledo lesotho davies charlies menendez".split()
)


def is_ordinary(folded: str) -> bool:
    """Whether the folded word, or its singular, is in the lists."""
    return not ORDINARY.isdisjoint((folded, singular(folded), folded.removesuffix("s")))


def looks_ordinary(token: str) -> bool:
    """Whether a capitalised first word is more likely a word of the language than a name."""
    folded = fold(token)
    if folded in NOT_ORDINARY:
        return False
    return (len(folded) >= SHORTEST_WITH_ENDING and folded.endswith(ENDINGS)) or (
        len(token) > 3 and token.endswith(PRETERITE)
    )
