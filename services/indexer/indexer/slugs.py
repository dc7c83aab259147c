"""Anchors of headings as GitHub's slugger writes them (github-slugger 2, used by Astro and others)."""

from __future__ import annotations

import unicodedata


class Slugger:
    """Gives each heading of one document its anchor; the second of the same name ends in `-1`."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, title: str) -> str:
        """Anchor of the next heading: lower case, accents kept, signs dropped, blanks to hyphens."""
        base = "".join(char for char in title.lower() if _is_kept(char)).replace(" ", "-")
        result = base
        while result in self._seen:
            self._seen[base] += 1
            result = f"{base}-{self._seen[base]}"
        self._seen[result] = 0
        return result


def _is_kept(char: str) -> bool:
    return (
        char in " -" or unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) == "Pc"
    )
