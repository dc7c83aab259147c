"""What a visitor reads of jobs, in both languages, but for the jobs themselves."""

from __future__ import annotations

from bot.chat.work_history.questions import Form
from corpus.model import Language

HEADS: dict[Form, dict[Language, str]] = {
    "list": {
        "es": "La experiencia laboral que figura en este sitio{about}:",
        "en": "The work experience on this site{about}:",
    },
    "count": {
        "es": "En este sitio figuran {n} {entries} de experiencia laboral{about}:",
        "en": "This site has {n} {entries} of work experience{about}:",
    },
    "at": {"es": "En {year}, según las fechas{about}:", "en": "In {year}, by the dates{about}:"},
    "first": {
        "es": "La primera, según las fechas{about}:",
        "en": "The first, by the dates{about}:",
    },
    "latest": {
        "es": "La más reciente, según las fechas{about}:",
        "en": "The latest, by the dates{about}:",
    },
    "current": {"es": "En la actualidad{about}:", "en": "At present{about}:"},
    "before": {"es": "Antes de {names}{about}:", "en": "Before {names}{about}:"},
    "after": {"es": "Después de {names}{about}:", "en": "After {names}{about}:"},
    "during": {
        "es": "Al mismo tiempo que {names}{about}:",
        "en": "At the same time as {names}{about}:",
    },
    "named": {"es": "Según las fechas que da el sitio:", "en": "By the dates that the site gives:"},
    "overlap": {
        "es": "Según las fechas que da el sitio:",
        "en": "By the dates that the site gives:",
    },
    "total": {"es": "Según las fechas que da el sitio:", "en": "By the dates that the site gives:"},
}
NONE: dict[Language, str] = {
    "es": "Según las fechas que da el sitio, ninguna experiencia laboral{about}.",
    "en": "By the dates that the site gives, no work experience{about}.",
}
WHEN_NONE: dict[Form, dict[Language, str]] = {
    "at": {"es": " en {year}", "en": " in {year}"},
    "current": {"es": " sigue en curso", "en": " goes on at present"},
    "before": {"es": " empezó antes de {names}", "en": " began before {names}"},
    "after": {"es": " empezó después de {names}", "en": " began after {names}"},
    "during": {"es": " coincide con {names}", "en": " was at the same time as {names}"},
    "overlap": {"es": " coincide", "en": " was at the same time"},
}
MENTIONING: dict[Language, str] = {
    "es": " (con mención de «{topics}»)",
    "en": " (mentioning “{topics}”)",
}
ENTRIES: dict[Language, tuple[str, str]] = {
    "es": ("entrada", "entradas"),
    "en": ("entry", "entries"),
}
