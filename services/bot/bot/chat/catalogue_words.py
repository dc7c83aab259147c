"""The words that questions for the list of pages are made of, folded, in both languages."""

from __future__ import annotations

from corpus.model import Kind, Language

KIND_WORDS: dict[str, Kind] = dict.fromkeys(
    "proyecto proyectos project projects".split(), "project"
)
KIND_WORDS |= dict.fromkeys(
    "post posts articulo articulos article articles entrada entradas publicacion publicaciones "
    "blogpost blogposts".split(),
    "post",
)
MADE_WORDS = frozenset(
    "hecho hechos hicisteis hiciste construido construidos construisteis construiste desarrollado "
    "desarrollados programado programados creado creados built build made make developed created".split()
)
"""Without a kind of page, what was made is projects: «¿qué tenéis hecho en Rust?»."""
COUNT_WORDS = frozenset("cuantos cuantas how many numero number count".split())
LATEST_WORDS = frozenset(
    "ultimo ultimos ultima ultimas reciente recientes nuevo nuevos latest newest last recent "
    "recently new".split()
)
LIST_WORDS = frozenset(
    "que cuales lista listame enumera what which list show see ver muestrame all every".split()
)
WITHOUT_NOUN = frozenset("which cual cuales many cuantos cuantas".split())
"""What opens the second of two questions where the first has named the kind: «and which use Go?»."""
# Words around such a question that select nothing.
FILLER = frozenset(
    "a about all and any are be can cual cuales de del dime do does el ella en every ense ensename es esta "
    "este estan existe existen favor for from give ha haber habeis habla hablan han has hasta hay have hecho "
    "hechos how i in is it la las list lista listame listar los made many mas me mencionan most muestrame "
    "mi my of on or os page pagina please por portfolio portafolio publicado publicados puedes que quiero "
    "realizado realizados saber se see show site sitio sobre sois son studio estudio tell that the their "
    "there these they this tienen teneis tienes to todos todo todas tratan un una uno us using usa usan used "
    "use ver vuestro vuestros web website what which with con was were you your yours tus tu su sus "
    "written escrito escritos escribi desarrollado desarrollados built build creado creados done is do "
    "s re ve ultimo ultimos ultima ultimas reciente recientes nuevo nuevos latest newest last recent "
    "recently cuantos cuantas numero number count blog entero completo tiene published publicaste "
    "enumera enumerame list cuentame y worked titulado titulados llama llaman called fecha dia did publish "
    "publicasteis publicais publicas escribisteis escribiste hicisteis hiciste write wrote make deal deals "
    "anything something algo alguna algun construido construidos construisteis construiste programado "
    "programados developed created ever".split()
)  # fmt: skip
LANGUAGE_WORDS: dict[str, Language] = {
    "espanol": "es", "castellano": "es", "spanish": "es", "ingles": "en", "english": "en",
}  # fmt: skip
NUMBERS = {
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "two": 2, "three": 3, "four": 4, "five": 5,
}  # fmt: skip
