"""Every fixed text a visitor can read, in both languages. Nothing here comes from a model."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.model import Kind, Language

GREETING = {
    "es": "¡Hola! Soy {name}, el asistente de este sitio. Respondo con lo que aquí está publicado: "
    "proyectos, artículos y trayectoria. ¿Qué te gustaría saber?",
    "en": "Hello! I'm {name}, this site's assistant. I answer from what is published here: projects, "
    "posts and background. What would you like to know?",
}
THANKS = {
    "es": "¡De nada! Si quieres saber algo más del sitio, pregunta.",
    "en": "You're welcome! If there is anything else about this site, just ask.",
}
GOODBYE = {
    "es": "¡Hasta luego! Gracias por la visita.",
    "en": "Goodbye! Thanks for stopping by.",
}
IDENTITY = {
    "es": "Soy {name}, un asistente automático, no una persona. Busco en los proyectos, los artículos y "
    "las páginas de este sitio y respondo solo con lo que encuentro, con enlaces a las fuentes; si el "
    "contenido no lo dice, te lo digo. Puedes preguntarme en español o en inglés.",
    "en": "I'm {name}, an automatic assistant, not a person. I search this site's projects, posts and "
    "pages and answer only from what I find, with links to the sources; when the content does not say "
    "it, I tell you so. You can ask me in English or in Spanish.",
}
TOPICS = {"es": "Temas: {topics}.", "en": "Topics: {topics}."}
REFUSAL = {
    "es": "Lo siento, el contenido de este sitio no responde a esa pregunta.",
    "en": "I'm sorry, the content of this site does not answer that question.",
}
UNSURE = {
    "es": "No he encontrado una respuesta clara a eso.",
    "en": "I have not found a clear answer to that.",
}
"""Where the search took the question for answerable and the model declined: in 19 of some 30 labelled cases
the site did answer, so that a plain no would mislead."""
UNMENTIONED = {
    "es": "El sitio no menciona {names}.",
    "en": "This site does not mention {names}.",
}
UNANSWERED = {
    "es": "Sobre «{part}» este sitio no dice nada.",
    "en": "This site says nothing about “{part}”.",
}
LEFT_OPEN = {
    "es": "Sobre «{part}» no he encontrado nada.",
    "en": "I have found nothing about “{part}”.",
}
"""Of a part that the search took for known and the answer does not speak of: the site may all the same."""
NEAREST = {"es": "Lo más cercano que hay: {pages}.", "en": "The nearest pages are: {pages}."}
CLOSEST = {"es": "Lo más parecido que dice: {quote}", "en": "The closest it says: {quote}"}
CLOSEST_TO = {
    "es": "Lo más parecido que dice este sitio sobre «{part}»: {quote}",
    "en": "The closest this site comes to “{part}”: {quote}",
}
SUGGESTIONS = {
    "es": "Puedes preguntarme, por ejemplo: {questions}",
    "en": "You could ask me, for example: {questions}",
}
SOURCE_SAYS = {"es": "La fuente dice: {quotes}", "en": "The source says: {quotes}"}
NO_INDEX = {
    "es": "Todavía no tengo contenido que consultar. Vuelve a intentarlo dentro de unos minutos.",
    "en": "I have no content to search yet. Please try again in a few minutes.",
}
EXTRACTS: dict[str, dict[Language, str]] = {
    "busy": {
        "es": "Ahora mismo hay muchas preguntas en espera y no puedo redactar una respuesta. Esto es lo "
        "que he encontrado en el sitio, en sus propias palabras:",
        "en": "Many questions are waiting just now, so I can't write an answer. This is what I found on "
        "this site, in its own words:",
    },
    "down": {
        "es": "En este momento no puedo redactar una respuesta. Esto es lo que he encontrado en el sitio, "
        "en sus propias palabras:",
        "en": "I can't write an answer at the moment. This is what I found on this site, in its own words:",
    },
}
ERRORS: dict[str, dict[Language, str]] = {
    "internal-error": {
        "es": "Algo ha fallado por nuestra parte. Inténtalo de nuevo.",
        "en": "Something went wrong on our side. Please try again.",
    },
    "restarting": {
        "es": "El servidor se está reiniciando. Vuelve a preguntar en un momento.",
        "en": "The server is restarting. Please ask again in a moment.",
    },
    "busy": {
        "es": "Hay muchas preguntas en cola. Vuelve a intentarlo en un momento.",
        "en": "Many questions are waiting. Please try again in a moment.",
    },
    "model-loading": {
        "es": "El asistente está arrancando. Vuelve a intentarlo en un minuto.",
        "en": "The assistant is warming up. Please try again in a minute.",
    },
    "model-unavailable": {
        "es": "El asistente no está disponible ahora mismo. Vuelve a intentarlo en un momento.",
        "en": "The assistant is not available right now. Please try again in a moment.",
    },
    "model-timeout": {
        "es": "La respuesta ha tardado demasiado. Vuelve a intentarlo.",
        "en": "The answer took too long. Please try again.",
    },
    "model-interrupted": {
        "es": "La respuesta se ha interrumpido. Vuelve a intentarlo.",
        "en": "The answer was interrupted. Please try again.",
    },
    "model-empty": {
        "es": "No he conseguido formular una respuesta. Prueba a preguntarlo de otra manera.",
        "en": "I could not put an answer into words. Try asking in another way.",
    },
    "context-overflow": {
        "es": "La conversación es demasiado larga. Empieza una nueva, por favor.",
        "en": "The conversation is too long. Please start a new one.",
    },
}
# Name of a kind of page, singular and plural.
KINDS: dict[Language, dict[Kind, tuple[str, str]]] = {
    "es": {"project": ("proyecto", "proyectos"), "post": ("artículo", "artículos"),
           "doc": ("página", "páginas")},
    "en": {"project": ("project", "projects"), "post": ("post", "posts"), "doc": ("page", "pages")},
}  # fmt: skip
# A question about one page; `{title}` is its title.
ABOUT_PAGE: dict[Kind, dict[Language, str]] = {
    "project": {"es": "¿Qué es {title}?", "en": "What is {title}?"},
    "post": {"es": "¿Qué cuenta el artículo «{title}»?", "en": "What does the post “{title}” say?"},
    "doc": {"es": "¿Qué dice la página «{title}»?", "en": "What does the page “{title}” say?"},
}
COUNT = {"es": "Hay {n} {kind}{about}:", "en": "There {are} {n} {kind}{about}:"}
COUNT_NONE = {
    "es": "No hay {kind}{about} en este sitio.",
    "en": "There are no {kind}{about} on this site.",
}
LABELLED = {"es": " con la etiqueta «{topic}»", "en": " labelled “{topic}”"}
OF_YEAR = {"es": " de {year}", "en": " from {year}"}
LATEST = {"es": "Lo más reciente:", "en": "The latest:"}


def error_message(code: str, language: Language) -> str:
    """What the visitor reads when an answer fails; unknown codes read as an internal error."""
    return ERRORS.get(code, ERRORS["internal-error"])[language]


def refusal(
    language: Language,
    pages: Sequence[str],
    questions: Sequence[str],
    unmentioned: Sequence[str] = (),
    closest: str = "",
) -> str:
    """A kind no and what it is that the site does not mention; the nearest pages, questions that do work.

    `closest`: a marked quotation from the first of the pages, where it may be the answer after all.
    """
    opening = UNSURE if closest else REFUSAL
    parts = [" ".join((opening[language], *remarks(language, unmentioned)))]
    if closest:
        parts.append(CLOSEST[language].format(quote=closest))
    if pages:
        parts.append(NEAREST[language].format(pages=", ".join(pages)))
    if questions:
        listed = "".join(f"\n- {question}" for question in questions)
        parts.append(SUGGESTIONS[language].format(questions=listed))
    return "\n\n".join(parts)


def closest_to(language: Language, part: str, quote: str) -> str:
    """A marked quotation that may be the answer to one part of a question of two."""
    return CLOSEST_TO[language].format(part=part, quote=quote)


def remarks(
    language: Language,
    unmentioned: Sequence[str] = (),
    unanswered: str = "",
    left_open: Sequence[str] = (),
) -> tuple[str, ...]:
    """What the site does not say of a question, one sentence each, in the visitor's own words."""
    said: list[str] = []
    if unmentioned:
        said.append(UNMENTIONED[language].format(names=", ".join(unmentioned)))
    if unanswered:
        said.append(UNANSWERED[language].format(part=unanswered))
    said += (LEFT_OPEN[language].format(part=part) for part in left_open)
    return tuple(said)


def identity(language: Language, name: str, topics: Sequence[str]) -> str:
    """Who is speaking, and about what."""
    text = IDENTITY[language].format(name=name)
    if topics:
        text += "\n\n" + TOPICS[language].format(topics=", ".join(topics))
    return text


def kind_name(kind: Kind, number: int, language: Language) -> str:
    """`project` or `projects`, in the visitor's language."""
    singular, plural = KINDS[language][kind]
    return singular if number == 1 else plural
