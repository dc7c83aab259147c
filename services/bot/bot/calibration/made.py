"""Questions the content surely answers, made from its own titles and headings in both languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from corpus.model import HEADING_JOINT, LANGUAGES, Language
from corpus.reader import Index

MOST_MADE = 240  # 33 ms of embedding each

TEMPLATES: dict[str, dict[Language, tuple[str, ...]]] = {
    "title": {
        "en": ("What is {title}?", "Tell me about {title}", "{title}", "what do you know about {title}"),
        "es": ("¿Qué es {title}?", "Háblame de {title}", "{title}", "que sabes de {title}"),
    },
    "heading": {
        "en": ("{heading} of {title}", "What about {heading} in {title}?"),
        "es": ("{heading} de {title}", "¿Qué hay de {heading} en {title}?"),
    },
    # A heading that many pages have (Usage, Numbers) asks for nothing without its page.
    "rare heading": {
        "en": ("What does the page say about {heading}?", "{heading} of {title}", "{heading}?"),
        "es": ("¿Qué dice la página sobre {heading}?", "{heading} de {title}", "¿{heading}?"),
    },
}  # fmt: skip


def made_questions(index: Index, most: int = MOST_MADE) -> list[str]:
    """Each title and each heading in both languages, in turns of wording; evenly thinned to `most`."""
    found: list[str] = []
    for turn, (kind, names) in enumerate(_names(index)):
        for shift, language in enumerate(LANGUAGES):
            templates = TEMPLATES[kind][language]
            found.append(templates[(turn + shift) % len(templates)].format(**names))
    found = list(dict.fromkeys(found))
    if len(found) <= most:
        return found
    return [found[n * len(found) // most] for n in range(most)]


def _names(index: Index) -> Iterator[tuple[str, dict[str, str]]]:
    """Titles, and behind each its headings' last names; summaries have none of their own."""
    pages: dict[str, dict[str, None]] = {}
    for chunk_id in index.chunk_ids:
        passage = index.passage(int(chunk_id))
        if passage.document.generated or not passage.document.title:
            continue
        headings = pages.setdefault(passage.document.title, {})
        name = passage.chunk.heading.rsplit(HEADING_JOINT, 1)[-1].strip("¿?¡!:. ")
        if name:
            headings.setdefault(name)
    on_pages = Counter(name for headings in pages.values() for name in headings)
    for title, headings in pages.items():
        yield "title", {"title": title}
        for name in headings:
            kind = "heading" if on_pages[name] > 1 else "rare heading"
            yield kind, {"title": title, "heading": name}
