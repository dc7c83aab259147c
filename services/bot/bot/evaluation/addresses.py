"""E-mail addresses, web addresses and quotations in a text."""

from __future__ import annotations

import re

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(
    r"\b(?:https?://|www\.)[^\s<>()\[\]«»“”\"]+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:com|org|net|dev|io|es|eu|app|info|me|ai|gal|cat|co|uk|de|fr|pt)\b"
    r"(?:/[^\s<>()\[\]«»“”\"]*)?",
    re.I,
)
QUOTATION = re.compile(r"«([^«»]*)»|“([^“”]*)”|\"([^\"\n]*)\"")
LEAST_WORDS = 3
"""Shorter words between marks are emphasis; what is in them is checked as any other word."""


def address(url: str) -> str:
    """A web address in the form that compares: no scheme, no `www.`, no stop at its end."""
    bare = re.sub(r"^https?://", "", url.lower()).removeprefix("www.")
    return bare.rstrip(".,;:!?…*_'").rstrip("/")


def quotations(text: str) -> list[str]:
    """What stands between quotation marks and is long enough to be somebody's words."""
    inner = ("".join(parts) for parts in QUOTATION.findall(text))
    return [quoted for quoted in inner if len(re.findall(r"\w+", quoted)) >= LEAST_WORDS]
