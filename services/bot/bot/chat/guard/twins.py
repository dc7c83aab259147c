"""Names that change their spelling between Spanish and English: languages, places, institutions, trades.

A pair is a line `spanish english…`; all its words share one key. What differs by an ending only
(`comunicación`, `communication`) is left to `cognate`.
"""

from __future__ import annotations

import re
from functools import lru_cache

PAIRS = """
espanol espanola espanoles espanolas castellano spanish spaniard spaniards
ingles inglesa ingleses inglesas english
gallego gallega gallegos gallegas galician galicians
portugues portuguesa portuguese
frances francesa franceses french
aleman alemana alemanes german germans
italiano italiana italianos italian italians
catalan catalana catalanes
vasco vasca vascos euskera basque
chino china chinese
japones japonesa japanese
ruso rusa russian
neerlandes holandes holandesa dutch
europeo europea europeos europeas european europeans
americano americana estadounidense american americans
britanico britanica british
espana spain
francia france
alemania germany
italia italy
inglaterra england
escocia scotland
irlanda ireland
suiza switzerland
suecia sweden
noruega norway
dinamarca denmark
finlandia finland
paises netherlands holanda holland
belgica belgium
polonia poland
grecia greece
turquia turkey
rusia russia
marruecos morocco
brasil brazil
mexico mejico
japon japan
europa europe
africa
asia
londres london
paris
lisboa lisbon
oporto porto
sevilla seville
coruna corunna
roma rome
ginebra geneva
bruselas brussels
berlin
nueva nuevo new
york
atlantico atlantic
mediterraneo mediterranean
norte north northern
sur south southern
este east eastern
oeste west western
universidad university
instituto institute
colegio school escuela
facultad faculty
museo museum museums museos
biblioteca library
ayuntamiento council
banco bank
agencia agency
estudio studio
empresa company
asociacion association
cooperativa cooperative
hospital hospitals hospitales
clinica clinic
puerto harbour harbor port
mercado market
ministerio ministry
fundacion foundation
sociedad society
gobierno government
fisica physics
quimica chemistry
matematicas maths mathematics
biologia biology
informatica computing
ingenieria engineering
ingeniero ingeniera ingenieros ingenieras engineer engineers
desarrollador desarrolladora desarrolladores desarrolladoras developer developers
disenador disenadora disenadores designer designers
diseno design
fundador fundadora fundadores fundadoras founder founders
investigador investigadora researcher researchers
programador programadora programmer programmers
accesibilidad accessibility
comunicacion communication
audiovisual
grado degree titulo licenciatura licenciado licenciada licenciados licenciadas
graduado graduada graduados graduadas graduate graduates
master masters maestria
tesis thesis
curso course cursos courses
articulo article articulos articles entrada post posts entradas
proyecto project proyectos projects
servicio servicios service services
contacto contact
experiencia experience
educacion formacion education
idiomas lenguas languages
interfaz frontend
servidor servidores backend server servers
web
internet
jefe jefa lead
navidad christmas
pascua easter
primavera spring
verano summer
otono autumn fall
invierno winter
ia ai
ue eu
rgpd gdpr
"""
TWINS = {
    word: f"t{n}" for n, line in enumerate(PAIRS.strip().splitlines()) for word in line.split()
}
# Spellings of one technology; the first is its key.
SPELLINGS = {
    word: names.split()[0]
    for names in (
        "postgresql postgres psql", "javascript js ecmascript", "typescript ts", "kubernetes k8s",
        "go golang", "node nodejs", "next nextjs", "vue vuejs", "react reactjs", "mongodb mongo",
        "csharp", "cplusplus", "llamacpp",
    )
    for word in names.split()
}  # fmt: skip
SHORTEST_COGNATE = 6
SKELETON = (
    (re.compile("ph"), "f"), (re.compile("th"), "t"), (re.compile("(?:qu|ck|k)"), "c"),
    (re.compile("y"), "i"), (re.compile("^es(?=[cpt])"), "s"), (re.compile(r"(.)\1+"), r"\1"),
    (re.compile("v"), "b"),
)  # fmt: skip


@lru_cache(maxsize=20_000)  # words of the same pages come again with every question
def skeleton(folded: str) -> str:
    """A word as both languages would spell its stem: `physical` and `fisica` begin alike."""
    for pattern, plain in SKELETON:
        folded = pattern.sub(plain, folded)
    return folded


def cognate_key(folded: str) -> str | None:
    """The first letters two related words share; None for a short word, which shares them by chance."""
    bones = skeleton(folded)
    return bones[:SHORTEST_COGNATE] if len(bones) >= SHORTEST_COGNATE else None


def singular(folded: str) -> str:
    """A word without the plural's ending: `meters`, `panaderias`, `companies`."""
    if len(folded) > 4 and folded.endswith("ies"):
        return folded[:-3] + "y"
    if len(folded) > 4 and folded.endswith("es") and folded[-3] not in "aeiou":
        return folded[:-2]
    return folded[:-1] if len(folded) > 3 and folded[-1] == "s" and folded[-2] != "s" else folded


def stem(folded: str) -> str:
    """A word without plural and gender: `tienda`, `tiendas`; `publicado`, `publicadas`."""
    base = singular(folded)
    return base[:-1] if len(base) > 4 and base[-1] in "aeo" else base
