"""The words that questions about somebody's jobs are made of, folded, in both languages."""

from __future__ import annotations

BEFORE = frozenset("before antes prior previo".split())
AFTER = frozenset("after despues tras".split())
DURING = frozenset("while during mientras durante simultaneously".split())
SAME_TIME = frozenset(
    "overlap overlapped overlaps overlapping coincidio coincidieron coincide coinciden solapo "
    "solaparon solapa solapan".split()
)
FIRST = frozenset("first earliest primer primero primera".split())
LATEST = frozenset("last latest recent ultimo ultima reciente".split())
CURRENT = frozenset(
    "current currently now today present nowadays actual actualmente ahora hoy".split()
)
WHO = frozenset("who whom quien quienes".split())
MANY = frozenset("many cuantos cuantas".split())
JOBS = frozenset(
    "job jobs company companies firm firms employer employers organisation organisations organization "
    "organizations agency agencies business businesses workplace workplaces position positions role roles "
    "trabajo trabajos empleo empleos empresa empresas compania companias puesto puestos cargo cargos "
    "organizacion organizaciones agencia agencias".split()
)
LENGTHS = frozenset(
    "long years year months month tiempo anos ano meses mes duration duracion".split()
)
WHEN = frozenset("when since until till cuando desde hasta".split())
# Words around such a question that select nothing.
FILLER = frozenset(
    # English
    "a all and any appear appears are as at be been begin being career contract curriculum cv did do does "
    "employed employment engaged entry entries ever exist existed experience finish finished for from get "
    "had has have her his history hired he him how i in is join joined joining lasted last leave leaving "
    "left list listed lists many me mention mentioned mentions most much my name names of on or our over "
    "page please professional quit resume running s say says she show site so far spend spent start "
    "started stay stayed stint still stop stopped tell that the their them time there they this to two "
    "us ve re was we were what where which who whom will with work worked working works you your both "
    "background end ended stop by same half halves part parts person people "
    # Spanish
    "al algun alguna con coincidia cual cuales cuanta cuanto cuantos cuantas curriculo curriculum de del "
    "dejaste dejo dejaron dejar dime donde dos duro duraron el ella ellas ellos empezaste empezo empezar "
    "empezasteis empezaron en enumera entrar entro entraste era eran es esta estaba estaban estan estar "
    "estas este estuviste estuvisteis estuvo estuvieron existe experiencia fue fueron ha habeis haber habia "
    "han has he hemos historial hizo incorporo incorporaste incorporarse la laboral las le les lista "
    "listame llevas lleva llevais llevan funcionando los me mi misma mismo mitad mitades nombra o os otra "
    "otras otro otros parte pasaste paso pasaron persona personas profesional por que quien sabes salir "
    "salio saliste se sitio sois son soy su sus sus trabaja trabajaba trabajaban trabajabas trabajado "
    "trabajais trabajan trabajando trabajar trabajaron trabajas trabajaste trabajasteis trayectoria tu tus "
    "tuvo tuviste tuvisteis un una unir unirse unio unisteis vez vida vosotros vuestra vuestras vuestro "
    "vuestros y ya".split()
)
KNOWN = (
    BEFORE | AFTER | DURING | SAME_TIME | FIRST | LATEST | CURRENT | MANY | JOBS | LENGTHS | WHEN | FILLER
)  # fmt: skip
