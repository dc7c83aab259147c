"""Whether an answer comes out in the wanted language, decided on its first words before they are shown.

Function words decide, and a few verbs and nouns that answers begin with. One word of the wanted language
is enough to let the answer go; two of the other turn it down at once, and at the end of the first words
one does where the wanted language has none. Names, titles, code and quotations do not count.

Models fall into the language of what they read. Where all of that is in the wanted one, the first whole
word lets the answer go unless it belongs to the other: each word held costs a tenth of a second and more.
But the rules of the prompt are English: a name with inner capitals at the beginning of a Spanish answer
waits for one word more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from bot.chat.guard.openers import FIRST_WORDS
from corpus.language import ENGLISH, IGNORED, SPANISH
from corpus.model import Language
from corpus.text import fold

Verdict = Literal["ok", "other", "unsure"]
MOST_WORDS = 8
MOST_CHARS = 60
ENOUGH_AGAINST = 2
MARKS = re.compile(r"\[\d{1,4}\]")
OPEN_SPAN = re.compile(r"(?:```|`|«|“|\"|<)[^`»”\">]{0,60}\Z")
TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
WORD_START = re.compile(r"(?<!\w)\w")
SPANISH_ONLY_LETTERS = re.compile(r"[ñáíóú¿¡]")
MORE: dict[Language, frozenset[str]] = {
    "es": frozenset(
        "de en es el la y son fueron utiliza utilizan usan ofrece incluye permite existen segun ambos ademas "
        "debido mediante hacia desarrollo desarrollaron construyo creo fundo estudia reside vive cobra lleva "
        "llevan dura duro tarda ocupa pesa respuesta sitio pagina paginas informacion contenido proyecto "
        "consulte consulta escribe puedes hemos somos tenemos trabajamos usamos tres cuatro "
        "cinco seis siete ocho nueve diez primero primera mes meses semana fichero ficheros "
        "linea lineas hoy".split()
    ),
    "en": frozenset(
        "of in is are the was were has and its their an by it uses used offers includes allows exist "
        "according both since runs lasts takes founded built created studied lives weighs charges "
        "answer page pages information content consult two three four five six seven eight nine "
        "ten one first year years month week day days file files line lines first second every "
        "reads becomes means says work write you we they our he she".split()
    ),
}
# Words of both languages, or of one and a frequent part of names in the other.
NEITHER = (SPANISH & ENGLISH) | frozenset(
    "a no me he has web sitio post posts web son pie sin come once use uses do te red ser sol sea van den "
    "as day night pan pages".split()
)
WORDS: dict[Language, frozenset[str]] = {
    "es": (SPANISH | MORE["es"]) - NEITHER - MORE["en"],
    "en": (ENGLISH | MORE["en"]) - NEITHER - MORE["es"],
}
IN_NAMES = frozenset("de del la las los el y e of the and".split())
OTHER: dict[Language, Language] = {"es": "en", "en": "es"}


class Tongue:
    """Holds an answer's first words until they show its language."""

    def __init__(
        self, wanted: Language, titles: Sequence[str] = (), *, native: bool = False
    ) -> None:
        """`titles`: names of several words, which say nothing of the language around them.

        `native`: all that the model reads is in the wanted language.
        """
        self._wanted: Language = wanted
        self._native = native
        self._titles = [title.lower() for title in titles if len(title.split()) > 1]
        self._held = ""
        self.verdict: Verdict | None = None
        """None while the words are held; `unsure` lets the answer go."""

    def feed(self, text: str) -> str:
        """Text that may go on; nothing once the verdict is `other`."""
        if self.verdict is not None:
            return "" if self.verdict == "other" else text
        ready = []
        for char in text:  # one by one, so that chunks change nothing
            begins = char.isalnum() and not self._held[-1:].isalnum()
            self._held += char
            if self.verdict is None and self._opens():
                self.verdict = "ok"
            if self.verdict is None and (begins or not char.isalnum()):
                self.verdict = self._judge()
            if self.verdict is None and len(self._held) >= MOST_CHARS:
                self.verdict = self._judge(last=True)
            if self.verdict is not None:
                ready.append(self._release())
        return "".join(ready)

    def close(self) -> str:
        """The rest of an answer that ended within its first words."""
        if self.verdict is None:
            self.verdict = self._judge(last=True)
        return self._release()

    def _opens(self) -> bool:
        """Whether all that is held is a first word of the wanted language; two letters may go on."""
        if self._held not in FIRST_WORDS[self._wanted] or self._untitled(last=False) != self._held:
            return False
        return self._native or len(self._held) > 2

    def _release(self) -> str:
        held, self._held = self._held, ""
        return "" if self.verdict == "other" else held

    def _judge(self, *, last: bool = False) -> Verdict | None:
        """The verdict on what is held so far; None where more words may help."""
        prose = OPEN_SPAN.sub(" ", IGNORED.sub(" ", MARKS.sub(" ", self._untitled(last=last))))
        tokens = TOKEN.findall(prose)
        # The last word may go on, and the first may begin a name.
        complete = len(tokens) - (not last and prose[-1:].isalnum())
        if not last and not self._native and len(tokens) == 1 and tokens[0][0].isupper():
            return None
        wanted, other = (
            _count(tokens, complete, language) for language in (self._wanted, OTHER[self._wanted])
        )
        if self._native and complete > 0 and not other:
            name = complete == 1 and not wanted and not tokens[0][1:].islower()
            return None if name and self._wanted == "es" and not last else "ok"
        if wanted and wanted >= other:
            return "ok"
        if other >= ENOUGH_AGAINST and other > 2 * wanted:
            return "other"
        if last or len(self._held.split()) > MOST_WORDS:
            return "other" if other > wanted else "unsure"
        return None

    def _untitled(self, *, last: bool) -> str:
        """What is held, without titles and without what may become one."""
        lower = self._held.lower()
        if not self._titles or len(lower) != len(self._held):
            return self._held
        text = self._held
        for title in self._titles:
            at = lower.find(title)
            if at >= 0:
                text = text[:at] + "*" * len(title) + text[at + len(title) :]
        starts = (match.start() for match in WORD_START.finditer(lower))
        begun = (n for n in starts if any(title.startswith(lower[n:]) for title in self._titles))
        return text if last else text[: next(begun, len(text))]


def _count(tokens: list[str], complete: int, language: Language) -> int:
    """Words that only this language has; with a capital only the first, and not before another."""
    found = 0
    for at, token in enumerate(tokens[:complete]):
        followed = len(tokens) == at + 1 or tokens[at + 1][0].islower()
        if token[0].isupper() and (at or not followed):
            continue  # «La Coruña» is a name
        around = tokens[at - 1 : at] + tokens[at + 1 : at + 2]
        if token in IN_NAMES and len(around) == 2 and all(word[0].isupper() for word in around):
            continue  # «Instituto Hidrográfico del Norte», too
        folded = fold(token.replace("’", "'"))
        accents = language == "es" and SPANISH_ONLY_LETTERS.search(token)
        found += folded in WORDS[language] or bool(accents)
    return found
