"""Generated documents that say what the whole site is about, one in each language.

Without them «¿de qué trata este sitio?» finds nothing: no page of a site describes the site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corpus.model import LANGUAGES, Document, Kind, Language
from corpus.settings import PersonaSettings
from indexer.document import ParsedDocument
from indexer.metadata import Metadata
from indexer.sections import outline

MAX_TAGS = 24
MAX_DESCRIPTION_CHARS = 300

TITLES: dict[Language, str] = {"en": "About this site", "es": "Sobre este sitio"}
HEADINGS: dict[Language, dict[Kind, str]] = {
    "en": {"project": "Projects", "doc": "Pages", "post": "Posts"},
    "es": {"project": "Proyectos", "doc": "Páginas", "post": "Artículos"},
}
COUNTED: dict[Language, dict[Kind, tuple[str, str]]] = {
    "en": {"project": ("project", "projects"), "doc": ("page", "pages"), "post": ("post", "posts")},
    "es": {
        "project": ("proyecto", "proyectos"),
        "doc": ("página", "páginas"),
        "post": ("artículo", "artículos"),
    },
}
ABOUT: dict[Language, str] = {
    "en": "What is this site about? This site is about {topics}. It holds {counts}.",
    "es": "¿De qué trata este sitio? Este sitio trata de {topics}. Contiene {counts}.",
}
TAGS: dict[Language, str] = {"en": "Topics and tags: {tags}.", "es": "Temas y etiquetas: {tags}."}
AND: dict[Language, str] = {"en": " and ", "es": " y "}
STACK: dict[Language, str] = {"en": "made with", "es": "hecho con"}


def summary_documents(
    parsed: Sequence[ParsedDocument], persona: PersonaSettings
) -> list[ParsedDocument]:
    """One summary in each language, listing every document once; [] for an empty site."""
    if not parsed:
        return []
    return [_summary(lang, parsed, persona) for lang in LANGUAGES]


def _summary(
    lang: Language, parsed: Sequence[ParsedDocument], persona: PersonaSettings
) -> ParsedDocument:
    listed = [item for item in parsed if _belongs(item.document, lang, parsed)]
    tags = [tag for tag, _ in _tags(listed).most_common(MAX_TAGS)]
    topics = list(persona.topics.get(lang, ())) or tags[:6] or [_escaped(parsed[0].document.title)]
    counts = [
        f"{number} {COUNTED[lang][kind][number != 1]}"
        for kind in HEADINGS[lang]
        if (number := sum(item.document.kind == kind for item in listed))
    ]
    lines = [ABOUT[lang].format(topics=_joined(topics, lang), counts=_joined(counts, lang)), ""]
    if tags:
        lines += [TAGS[lang].format(tags=", ".join(tags)), ""]
    for kind, heading in HEADINGS[lang].items():
        of_kind = [item for item in listed if item.document.kind == kind]
        if of_kind:
            lines += [f"## {heading}", "", *(_line(item, lang) for item in of_kind), ""]
    title = TITLES[lang]
    metadata = Metadata(title=title, lang=lang)
    document = Document(
        path=f"summary/site.{lang}.md", kind="doc", title=title, url="", lang=lang, generated=True
    )
    sections = outline("\n".join(lines), title, mdx=False).sections
    return ParsedDocument(document=document, metadata=metadata, sections=sections)


def _belongs(document: Document, lang: Language, parsed: Sequence[ParsedDocument]) -> bool:
    """In its own language, and in the other one too where it has no translation."""
    if document.lang == lang:
        return True
    return not any(
        other.document.lang == lang
        and (
            other.document.translation == document.slug
            or other.document.slug == document.translation
        )
        for other in parsed
    )


def _tags(items: Sequence[ParsedDocument]) -> Counter[str]:
    """How often each is used, upper and lower case as one, spelt as it came first."""
    spelling: dict[str, str] = {}
    return Counter(
        spelling.setdefault(tag.casefold(), tag) for item in items for tag in item.document.tags
    )


def _line(item: ParsedDocument, lang: Language) -> str:
    document, metadata = item.document, item.metadata
    facts = [f"{STACK[lang]} {', '.join(metadata.stack)}"] if metadata.stack else []
    facts += [
        fact for fact in (metadata.status, metadata.year or (document.date or "")[:4]) if fact
    ]
    description = document.description
    if len(description) > MAX_DESCRIPTION_CHARS:
        description = description[:MAX_DESCRIPTION_CHARS].rsplit(" ", 1)[0] + "…"
    text = " — ".join(part for part in (document.title, description) if part)
    aside = f" ({'; '.join(facts)})" if facts else ""
    return f"- {_escaped(text + aside)}"


def _joined(items: Sequence[str], lang: Language) -> str:
    escaped = [_escaped(item) for item in items]
    return (
        AND[lang].join([", ".join(escaped[:-1]), escaped[-1]])
        if len(escaped) > 1
        else "".join(escaped)
    )


def _escaped(text: str) -> str:
    """Titles hold signs that Markdown would read: `<T>`, `*`, `[x]`."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>{}#|~&$" else char for char in text)
