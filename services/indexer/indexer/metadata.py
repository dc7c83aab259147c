"""What the frontmatter fields mean: title, language, date, tags, and whether it may be shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from corpus.model import Language
from indexer.frontmatter import Value

NO = frozenset({"false", "no", "off", "0", "n", "", "null", "~", "none"})
DATE_KEYS = ("date", "pubDate", "publishDate", "published", "pubdate", "publish_date")
WRITTEN_DATES = ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y", "%Y/%m/%d", "%d/%m/%Y", "%d.%m.%Y")
ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
LANGUAGES: dict[str, Language] = {
    "es": "es", "spa": "es", "spanish": "es", "español": "es", "espanol": "es", "castellano": "es",
    "en": "en", "eng": "en", "english": "en", "inglés": "en", "ingles": "en",
}  # fmt: skip


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of one document as far as they are used."""

    title: str = ""
    description: str = ""
    lang: Language | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    translation: str | None = None
    url: str = ""
    slug: str = ""
    stack: tuple[str, ...] = ()
    status: str = ""
    year: str = ""
    hidden: str | None = None
    """Why the document must not be shown: `draft`, `unlisted`, `future`; None where it may."""
    warnings: tuple[str, ...] = ()


def read_metadata(fields: dict[str, Value], now: datetime) -> Metadata:
    """Meaning of the frontmatter at the moment `now` (with time zone)."""
    warnings: list[str] = []
    lang_text = _text(fields, "lang") or _text(fields, "language") or _text(fields, "locale")
    lang = LANGUAGES.get(re.split(r"[-_]", lang_text.casefold())[0]) if lang_text else None
    if lang_text and lang is None:
        warnings.append(f"lang `{lang_text}` is neither en nor es: the text decides")
    moments = {key: _moment(_text(fields, key)) for key in DATE_KEYS if _text(fields, key)}
    for key, moment in moments.items():
        if moment is None and key != "published":
            warnings.append(f"{key} `{_text(fields, key)}` is not a date: write YYYY-MM-DD")
    known = [moment for moment in moments.values() if moment is not None]
    return Metadata(
        title=_text(fields, "title"),
        description=_text(fields, "description") or _text(fields, "summary"),
        lang=lang,
        tags=_list(fields, "tags"),
        date=known[0].date().isoformat() if known else None,
        translation=_text(fields, "translation") or None,
        url=_text(fields, "url"),
        slug=_text(fields, "slug").strip("/"),
        stack=_list(fields, "stack"),
        status=_text(fields, "status"),
        year=_text(fields, "year"),
        hidden=_hidden(fields, known, now),
        warnings=tuple(warnings),
    )


def _hidden(fields: dict[str, Value], moments: list[datetime], now: datetime) -> str | None:
    # What is not clearly "no" hides the document: a draft shown by mistake can't be unshown.
    if "draft" in fields and _flag(fields, "draft") not in NO:
        return "draft"
    if "published" in fields and _flag(fields, "published") in NO - {"", "null", "~", "none"}:
        return "draft"
    if "unlisted" in fields and _flag(fields, "unlisted") not in NO:
        return "unlisted"
    if any(moment > now for moment in moments):
        return "future"
    return None


def _flag(fields: dict[str, Value], key: str) -> str:
    value = fields[key]
    return value.strip().casefold() if isinstance(value, str) else "set"


def _text(fields: dict[str, Value], key: str) -> str:
    value = fields.get(key, "")
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return "" if text in ("null", "~") else text


def _list(fields: dict[str, Value], key: str) -> tuple[str, ...]:
    value = fields.get(key, "")
    items = value.split(",") if isinstance(value, str) else value
    texts = [" ".join(item.split()) for item in items if isinstance(item, str)]
    return tuple(dict.fromkeys(text for text in texts if text and text not in ("null", "~", "[]")))


def _moment(text: str) -> datetime | None:
    """A date or date and time; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _written_moment(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _written_moment(text: str) -> datetime | None:
    if match := ISO_DATE.match(text):
        try:
            return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
        except ValueError:
            return None
    for form in WRITTEN_DATES:
        try:
            return datetime.strptime(text.replace(",", ""), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
