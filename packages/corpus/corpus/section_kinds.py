"""What a heading announces, whatever its words and language: `Trayectoria profesional` is experience.

A question names the kind in its own words (¿en qué empresas…?, «where has she worked») that often
stand nowhere in the entries: a job says a company and dates. So the kind is stored with each passage
and its words in both languages are indexed beside the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from corpus.text import words

SectionKind = Literal[
    "experience", "education", "skills", "projects", "contact", "languages", "certifications",
    "publications", "about",
]  # fmt: skip

# The nouns that make a heading one of the kind, folded; the first noun of a heading decides
# (`Education and certifications`).
_HEADING_NOUNS: dict[SectionKind, str] = {
    "experience": "experience experiences experiencia experiencias employment employments empleo empleos job "
    "jobs career careers trabajo trabajos trayectoria carrera employers companies empresas "
    "positions puestos worked",
    "education": "education educacion studies estudios formacion degrees degree titulaciones academia "
    "schooling",
    "skills": "skill skills habilidades competencias aptitudes stack tecnologias technologies "
    "conocimientos herramientas tools expertise",
    "projects": "project projects proyecto proyectos portfolio portafolio portafolios",
    "contact": "contact contacto contactar contactame contactanos",
    "languages": "language languages idioma idiomas lenguas",
    "certifications": "certification certifications certificate certificates certificacion "
    "certificaciones certificados courses cursos",
    "publications": "publication publications publicacion publicaciones papers articulos talks charlas "
    "ponencias conferencias conferences",
    "about": "about bio biography biografia perfil profile summary resumen",
}
# Words that say nothing of the kind: a heading of these and nouns only is one, any other is a name.
_BESIDE = frozenset(
    "a and as at de del e el en for i in is la las lo los me mi mis my nuestra nuestras nuestro "
    "nuestros of on our s su sus the this to us y yo you your relevant relevante previous previos previas "
    "anterior anteriores past pasada recent reciente recientes other otra otras otro otros further main "
    "principal principales selected professional profesional laboral labour labor work working history "
    "historial historia vida timeline industry academic academica academico academicas academicos "
    "technical tecnica tecnicas tecnico tecnicos personal background where we ve i he hemos quien "
    "soy somos que hago hacemos additional adicional complementaria key clave information informacion "
    "details datos spoken programming programacion site sitio".split()
)
_PHRASES: dict[str, SectionKind] = {
    "work": "experience",
    "work history": "experience",
    "professional history": "experience",
    "professional background": "experience",
    "historial laboral": "experience",
    "historial profesional": "experience",
    "vida laboral": "experience",
    "donde he trabajado": "experience",
    "donde hemos trabajado": "experience",
    "academic background": "education",
    "academic history": "education",
    "historial academico": "education",
    "get in touch": "contact",
    "reach me": "contact",
    "reach us": "contact",
    "quien soy": "about",
    "quienes somos": "about",
    "sobre mi": "about",
    "sobre nosotros": "about",
    "sobre nosotras": "about",
    "acerca de": "about",
    "acerca de mi": "about",
    "who we are": "about",
    "who i am": "about",
    "programming languages": "skills",
    "lenguajes": "skills",
    "lenguajes de programacion": "skills",
}
_KIND_OF_NOUN = {noun: kind for kind, nouns in _HEADING_NOUNS.items() for noun in nouns.split()}

# What a question may call the kind, in both languages and in the forms it is asked in: the index
# knows no stems. Few words: each one lengthens the passage for BM25.
_INDEXED: dict[SectionKind, str] = {
    "experience": "experience work worked working job jobs employment employer employers company companies "
    "career experiencia trabajo trabajos trabajado trabajar trabajaste empleo empleos empresa empresas",
    "education": "education studies study studied degree university estudios estudiado estudiaste formacion "
    "educacion carrera universidad",
    "skills": "skills technologies stack habilidades tecnologias conocimientos competencias",
    "projects": "projects proyectos",
    "contact": "contact contacto contactar",
    "languages": "languages speak spoken idiomas hablas habla hablais",
    "certifications": "certifications certificates certificaciones certificados",
    "publications": "publications talks publicaciones charlas",
    "about": "about sobre",
}


def kind_of_heading(heading: str) -> SectionKind | None:
    """The kind a single heading or title announces; None for a name or anything else."""
    found = [word for word in words(heading) if not word.isdigit()]
    phrase = " ".join(found)
    if phrase in _PHRASES:
        return _PHRASES[phrase]
    kinds = [_KIND_OF_NOUN[word] for word in found if word in _KIND_OF_NOUN]
    if not kinds or any(word not in _KIND_OF_NOUN and word not in _BESIDE for word in found):
        return None
    return kinds[0]


def kind_of_section(path: Sequence[str], title: str) -> SectionKind | None:
    """The kind of the nearest heading upwards that announces one, else of the document's title."""
    for heading in (*reversed(path), title):
        if kind := kind_of_heading(heading):
            return kind
    return None


def kind_words(kind: SectionKind) -> list[str]:
    """Folded words of both languages that a question may use for this kind."""
    return _INDEXED[kind].split()
