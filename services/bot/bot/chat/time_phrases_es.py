"""How Spanish asks about time and work: patterns on folded words joined by single blanks."""

from __future__ import annotations

_TRABAJ = r"trabaj(?:o|as|a|ais|amos|an|aste|asteis|aron|ado|ando|ar|aba|abas|abais|aban|abamos)\b"
_HACER = rf"(?:{_TRABAJ}|(?:program|desarroll|disen|ejerc|us|utiliz)(?:ando|iendo|ado|ido)\b)"
_HA = r"(?:he|has|ha|habeis|han|hemos)"
_CUANTO = r"(?<!cada )cuant(?:o tiempo|os anos|os meses|as semanas)"
_QUIEN = r"(?: (?!(?:el|la|los|las|un|una|hacer|de)\b)\w+){0,3}"
_EN_QUE = r"(?:cuando|en que (?:ano|mes|fecha))"
_EMPLEO = r"(?:trabajos?|empleos?|puestos?|contratos?|empleador(?:es)?)"
_EMPRESAS = r"(?:empresas?|companias?|organizaciones|organizacion|agencias?|consultoras?)"
_TENER = r"(?:tienes|tiene|teneis|tienen|llevas|lleva|llevais|llevan)"
# Without its accent, estudió is the noun too: then something stands before it that a verb has not.
_ESTUDIO = "".join(
    f"(?<!{word} )"
    for word in ("el", "al", "del", "un", "en", "de", "con", "para", "su", "tu", "este", "vuestro")
)
_ESTUDI = (
    rf"(?:{_ESTUDIO}estudio|estudi(?:as|a|ais|an|aste|asteis|aron|ado|ando)"
    r"|(?:te|se|os) (?:gradu|licenci|titul)\w+|(?:su|tu) (?:grado|master)"
    r"|(?:la|su|tu|vuestra) (?:carrera|licenciatura|titulacion))\b"
)
_NOT_YEARS = (  # years of these are nobody's experience
    r"(?!(?:garantia|soporte|mantenimiento|datos|historia|edad|soledad|vida|registros|antiguedad"
    r"|lecturas|carcel)\b)"
)

EDUCATION: dict[str, tuple[str, ...]] = {
    "how-long": (
        rf"\b{_CUANTO}(?: \w+){{0,4}} {_ESTUDI}",
        rf"\bcuanto duro {_ESTUDI}",
    ),
    "since-when": (rf"\b{_EN_QUE}(?: \w+){{0,3}} {_ESTUDI}",),
    "where": (
        r"\b(?:donde|en que (?:universidad|facultad|escuela|centro|instituto))"
        rf"(?: \w+){{0,3}} {_ESTUDI}",
    ),
}
EXPERIENCE: dict[str, tuple[str, ...]] = {
    "years-of": (
        r"\banos de experiencia\b",
        r"\bcuanta experiencia\b",
        rf"\bcuantos anos(?: {_TENER})?(?: \w+){{0,2}} (?:de|con|en) experiencia\b",
        rf"\bcuantos (?:anos|meses) de {_NOT_YEARS}\w+(?: \w+){{0,3}} {_TENER}\b",
        rf"\bcuantos (?:anos|meses) {_TENER} de {_NOT_YEARS}\w+",
        rf"\bcuantos anos de {_NOT_YEARS}\w+$",
    ),
    "until-when": (
        rf"\bhasta {_EN_QUE}\b.*\b(?:{_TRABAJ}|estuv\w+|sigu\w+ en)",
        rf"\b{_TRABAJ}.*\bhasta {_EN_QUE}\b",
        rf"\b{_EN_QUE} dej(?:aste|o|asteis|aron) "
        r"(?:de trabajar|el (?:trabajo|puesto|empleo)|(?:la|su|tu) empresa"
        r"|(?!(?:de|el|la|que)\b)\w+(?: \w+)?$)",
        rf"\b{_EN_QUE} sal(?:iste|io|isteis|ieron) del? (?:la )?(?:trabajo|empresa)\b",
        rf"\b{_EN_QUE} (?:te fuiste|se fue|os fuisteis|se fueron) de\b",
        rf"\b{_EN_QUE} (?:acab|termin)(?:aste|o|asteis|aron) "
        rf"(?:de trabajar|(?:su|tu|el|vuestro) {_EMPLEO})\b",
    ),
    "since-when": (
        rf"\bdesde (?:cuando|que (?:ano|mes|fecha))(?: \w+){{0,3}} (?:{_HACER}|te dedicas|se dedican?"
        r"|os dedicais|eres|sois|program(?:as|a|ais|an)|usas|usais|utilizas|desarrollas|llevas"
        r"|llevais|estas|estais|tienes? experiencia)\b",
        r"\bdesde cuando es \w*(?:desarroll|program|ingenier|disen|freelance|autonom|consult)\w*",
        r"\bdesde cuando esta(?: (?!(?:el|la|los|las|en|de)\b)\w+){1,2} (?:en|con)\b",
        rf"\b{_EN_QUE} (?:empez|comenz)(?:aste|o|asteis|aron)(?: \w+){{0,2}} "
        r"(?:a (?:trabajar|programar|desarrollar|disenar|usar)|como|en (?!(?:la|el) proyecto))\b",
        rf"\b{_EN_QUE} (?:entr(?:aste|o|asteis|aron) (?:a trabajar|en|a)"
        r"|(?:te|se|os) (?:uni|incorpor)\w+|(?:te|la|lo|os|les|le) contrat\w+|fichaste|ficho)\b",
    ),
    "which-companies": (
        rf"\b(?:en|para|con|por) (?:que|cuales|cuantas)(?: otras)? {_EMPRESAS}"
        rf"(?:$|(?: \w+){{0,6}} (?:{_TRABAJ}|estuv\w+|estado|emplead\w+|pasado|pas(?:aste|o|asteis)"
        r"|colabor\w+))",
        rf"\b(?:que|cuales|cuantas)(?: otras)? {_EMPRESAS}(?: \w+){{0,6}} {_TRABAJ}",
        rf"\b{_EMPRESAS} (?:donde|(?:en|para|por|con) (?:las? )?que)"
        rf"(?: \w+){{0,3}} (?:{_TRABAJ}|estado|estuv\w+|pasado)",
        rf"\b(?:nombres?|lista) de (?:las |sus |tus )?(?:{_EMPRESAS}|empleadores)\b",
    ),
    "where": (
        rf"(?<!desde )(?<!de )\bdonde(?: \w+){{0,3}}? {_TRABAJ}",
        r"\bdonde (?:curr(?:as|a|ais|an|aste)"
        rf"|{_HA} (?:estado (?:emplead|contratad)\w+|currado))\b",
        rf"\ben que (?:sitios?|lugar(?:es)?)(?: \w+){{0,3}} {_TRABAJ}",
        rf"\bpara quien(?:es)?(?: mas)?(?: \w+){{0,3}}? {_TRABAJ}",
        rf"\b{_EMPLEO} (?:anterior(?:es)?|previos?|actual(?:es)?|pasados?)\b",
        rf"\b(?:ultim[oa]s?|primer(?:os)?|anterior(?:es)?|actual(?:es)?|mas reciente) {_EMPLEO}\b",
        r"\b(?:historial|vida|trayectoria|experiencia|carrera) (?:laboral|profesional)\b",
    ),
    "how-long": (
        rf"\b{_CUANTO}(?: \w+){{0,4}}? (?<!de ){_HACER}",
        rf"\b{_CUANTO} (?:llevas|llevais|llevabas|llevabais)\b",
        rf"\b{_CUANTO} lleva(?:n|ba|ban)?{_QUIEN} (?:en|con|como|dedicad\w+|{_HACER})",
        rf"\b{_CUANTO} (?:estuv(?:iste|o|isteis|ieron)|{_HA} (?:estado|pasado|durado)"
        r"|pas(?:aste|o|asteis|aron)|dur(?:aste|asteis)|(?:te|se|os) qued\w+|permanec\w+)"
        rf"{_QUIEN} (?:en|con|como|de|trabajando)\b",
        r"\bcuanto (?:tiempo )?duro (?:su|tu|vuestro|el|la|vuestra) (?:etapa|paso|estancia"
        rf"|experiencia|colaboracion|relacion laboral|{_EMPLEO})\b",
    ),
}
