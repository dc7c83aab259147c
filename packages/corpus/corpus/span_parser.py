"""Find ranges of dates in English and Spanish text; nothing that could be anything else.

    Jul 2024 – Jun 2026      julio de 2024 - actualidad      2021–2023      03/2022 – present
    Since March 2020         desde 2019                      2021-05 to 2022-11

Two bare numbers are years only where nothing around them speaks against it: a unit, a currency, a
page or version mark, a longer number. Code is not read.
"""

from __future__ import annotations

import re

from corpus.spans import Span

MOST_YEARS = 80  # a longer range is history or arithmetic, nobody's time at a place

_MONTH_NAMES = (
    ("january", "jan", "enero", "ene"),
    ("february", "feb", "febrero"),
    ("march", "mar", "marzo"),
    ("april", "apr", "abril", "abr"),
    ("may", "mayo"),
    ("june", "jun", "junio"),
    ("july", "jul", "julio"),
    ("august", "aug", "agosto", "ago"),
    ("september", "sept", "sep", "septiembre", "setiembre", "set"),
    ("october", "oct", "octubre"),
    ("november", "nov", "noviembre"),
    ("december", "dec", "diciembre", "dic"),
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names}

_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:19[5-9]\d|20\d\d)(?!\d)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"


def _point(name: str) -> str:
    """A date with a month, or a bare year; `name` tells the groups of both ends apart."""
    return (
        rf"(?:(?:{_DAY}(?:st|nd|rd|th)?\s+(?:de\s+|of\s+)?)?(?P<{name}_name>{_NAME})\b\.?,?\s+"
        rf"(?:{_DAY}(?:st|nd|rd|th)?,?\s+)?(?:del?\s+|of\s+)?(?P<{name}_named>{_YEAR})"
        rf"|(?P<{name}_iso>(?:19[5-9]\d|20\d\d)-(?:0[1-9]|1[0-2]))(?:-{_DAY})?(?![\d-])"
        rf"|(?P<{name}_slash>(?:0?[1-9]|1[0-2])/{_YEAR})"
        rf"|(?P<{name}_year>{_YEAR}))"
    )


_OPEN = (
    r"(?:(?:the\s+|el\s+|la\s+)?(?:present|presente|actualidad|fecha)|now|today|current(?:ly)?|ongoing"
    r"|to\s+date|hoy(?:\s+(?:en\s+)?d[ií]a)?|ahora|actual(?:mente)?|en\s+curso)\b"
)
_TO = r"(?:\s*[-‐‑–—−→]+\s*|\s+(?:to|until|till|through|up\s+to|a|al|hasta)\s+)"
# Not inside a word, number, version, path, amount or copyright line
_BEFORE = r"(?<![\w./+#€$£@~^=–—-])(?<![€$£©] )"
_AFTER = r"(?![\w%€$£]|[./,:+–—-]\d|-\w)"
RANGE = re.compile(
    rf"{_BEFORE}{_point('start')}(?:{_TO}(?:{_point('end')}|(?P<open>{_OPEN}))|\s*[-–—]\s*(?P<left>(?=\)))){_AFTER}",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    rf"\b(?:between|entre)\s+{_point('start')}\s+(?:and|y)\s+{_point('end')}{_AFTER}", re.IGNORECASE
)
SINCE = re.compile(rf"\b(?:since|desde)\s+(?:el\s+)?{_point('start')}{_AFTER}", re.IGNORECASE)
CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL)
MARKED_BEFORE = re.compile(
    r"(?:\b(?:pp?|pages?|p[áa]gs?|p[áa]ginas?|vols?|nos?|lines?|l[íi]neas?|versions?|versi[óo]n|ports?"
    r"|puertos?|copyright|iso|rfc|tel|phone|tel[ée]fono|build|ids?)[.:]?|n[.º°]+|\(c\)|©|\d)\s*$",
    re.IGNORECASE,
)
# What is counted in numbers of this size; a month makes the range a date whatever follows.
UNIT_AFTER = re.compile(
    r"\s{0,8}(?:[€$£%°\d]|(?:eur|usd|euros?|d[óo]lar(?:es)?|dollars?|pounds?|px|pixels?|p[íi]xeles|ms|km|cm|mm|kg|kb|mb"
    r"|gb|kw|hz|mhz|rpm|kcal|m|g|s|k|met(?:er|re|ro)s?|words?|palabras|chars|characters|caracteres"
    r"|bytes?|tokens?|users|usuarios|people|personas|visitors?|visitas?|visitantes|times|veces|units?"
    r"|unidades|requests?|peticiones|rows?|filas|lines?|l[íi]neas|pages?|p[áa]ginas|points?|puntos"
    r"|steps?|pasos|items?|copies|copias|rpm|bc|ad|a\.?\s?c\.?)\b)",
    re.IGNORECASE,
)


class Found(Span, frozen=True, kw_only=True):
    """A span and where it stands in the text searched."""

    first: int
    last: int


def find_spans(text: str) -> list[Found]:
    """Every range of dates in `text`, in order; overlapping ones count once."""
    plain = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    found: list[Found] = []
    taken_to = 0
    matches = [match for pattern in (RANGE, BETWEEN, SINCE) for match in pattern.finditer(plain)]
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        span = _span(match, plain) if match.start() >= taken_to else None
        if span:
            found.append(span)
            taken_to = match.end()
    return found


def _span(match: re.Match[str], text: str) -> Found | None:
    groups = match.groupdict()
    start, end = _read(groups, "start"), _read(groups, "end")
    if start is None or MARKED_BEFORE.search(text[: match.start()][-20:]):
        return None
    is_bare = len(start) == 4 and (end is None or len(end) == 4)
    if is_bare and not groups.get("open") and UNIT_AFTER.match(text, match.end()):
        return None
    if end is not None and not _is_forward(start, end):
        return None
    return Found(
        text=" ".join(match[0].split()),
        start=start,
        end=end,
        first=match.start(),
        last=match.end(),
    )


def _read(groups: dict[str, str | None], name: str) -> str | None:
    if month := groups.get(f"{name}_name"):
        return f"{groups[f'{name}_named']}-{MONTHS[month.lower()]:02}"
    if iso := groups.get(f"{name}_iso"):
        return iso
    if slash := groups.get(f"{name}_slash"):
        month, year = slash.split("/")
        return f"{year}-{int(month):02}"
    return groups.get(f"{name}_year")


def _is_forward(start: str, end: str) -> bool:
    shared = min(len(start), len(end))
    return start[:shared] <= end[:shared] and int(end[:4]) - int(start[:4]) <= MOST_YEARS
