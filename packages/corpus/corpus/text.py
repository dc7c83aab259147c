"""Normalisation of text that indexer and bot must do alike: cleaning, folding, content words."""

from __future__ import annotations

import re
import unicodedata

# Characters nobody sees but a model reads: zero width and bidi controls, soft hyphen, variation
# selectors, the tag block (OWASP LLM01:2026 names these ranges). Emoji joiners go with them: an emoji
# sequence falls apart into its parts, which harms nobody here.
HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
ANSI = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
WORD = re.compile(r"[^\W_]+")
ACCENTED = re.compile("([a-z\u0131])[\u0300-\u0345\u0347-\u036f]+")

# Function words of both languages. Left in, they match by accident across languages and make rank
# fusion believe it: es→en hit@1 falls from 83.9 to 59.2 % (docs/performance.md).
STOP_WORDS = frozenset(
    # English
    "a about above after again against all am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from further "
    "get got had has have having he her here hers herself him himself his how i if in into is it "
    "its itself just like let many me might more most much must my myself no nor not now of off on "
    "once only or other our ours ourselves out over own please same shall she should so some such "
    "than that the their theirs them themselves then there these they this those through to too "
    "under until up us use used very was we were what when where which while who whom whose why "
    "will with would you your yours yourself yourselves tell know there's what's don doesn isn s t "
    # Spanish
    "a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aqui asi aun "
    "aunque cada como con contra cual cuales cualquier cuando cuanta cuantas cuanto cuantos cuya cuyo de "
    "del desde donde dos durante e el ella ellas ello ellos en entre era eran eres es esa esas ese "
    "eso esos esta estaba estaban estado estais estamos estan estar estas este esto estos estoy fue "
    "fueron ha haber habia han has hasta hay haya he hemos la las le les lo los mas me mi mis mucha "
    "muchas mucho muchos muy nada ni ningun ninguna ninguno no nos nosotras nosotros nuestra nuestras "
    "nuestro nuestros o os otra "
    "otras otro otros para pero poca poco por porque pues que quien quienes se sea sean segun ser si "
    "sido siendo sin sobre sois somos son soy su sus suya suyo tal tambien tampoco tan tanta tanto te "
    "tenia tener tengo tiene tienen ti toda todas todo todos tu tus un una unas uno unos usted ustedes "
    "vosotras vosotros vuestra vuestro y ya yo dime puedes puede podeis cuentame saber "
    "tenemos teneis habeis hace haceis hacemos hacen hacer".split()
)

# Names the FTS tokenizer destroys (`C++`, `C#` and `vitamina C` share the token `c`), spelt out.
ALIASES = (
    (re.compile(r"(?<!\w)c\+\+", re.I), "cplusplus"),
    (re.compile(r"(?<!\w)c#", re.I), "csharp"),
    (re.compile(r"(?<!\w)f#", re.I), "fsharp"),
    (re.compile(r"(?<!\w)\.net\b", re.I), "dotnet"),
    (re.compile(r"\basp\.net\b", re.I), "aspnet dotnet"),
    (re.compile(r"\bnode\.?js\b", re.I), "nodejs"),
    (re.compile(r"\bnext\.?js\b", re.I), "nextjs"),
    (re.compile(r"\bvue\.?js\b", re.I), "vuejs"),
)


def clean(text: str) -> str:
    """Text without hidden, control and ANSI characters and lone surrogates, in Unicode form C."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return unicodedata.normalize("NFC", HIDDEN.sub("", CONTROL.sub("", text)))


def fold(text: str) -> str:
    """Lower case without accents, as FTS5's `remove_diacritics 2` sees it (ñ becomes n too).

    FTS5 takes marks off Latin letters only and leaves `1º`, `m²` and `ß` as they are; a fold that
    does more would look for words the index does not hold.
    """
    decomposed = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", ACCENTED.sub(r"\1", decomposed))


def words(text: str) -> list[str]:
    """Folded words in order, the same tokens FTS5's unicode61 makes."""
    return WORD.findall(fold(text))


def aliases(text: str) -> list[str]:
    """Spoken forms of the names in `text` that the tokenizer would destroy; sorted, each once."""
    found = {word for pattern, spoken in ALIASES if pattern.search(text) for word in spoken.split()}
    return sorted(found)


def content_words(text: str) -> list[str]:
    """Folded words of `text` that carry meaning, each once, in order, with their aliases."""
    found = [word for word in words(text) if word not in STOP_WORDS and not _is_letter(word)]
    return list(dict.fromkeys([*found, *aliases(text)]))


def _is_letter(word: str) -> bool:
    """Single letters are left to the aliases: `c` would match every mention of the letter."""
    return len(word) == 1 and not word.isdigit()
