"""The words of an index by their stems, for looking up all forms of a word at once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable

from corpus.model import Language
from corpus.word_forms import stem


class Vocabulary:
    """Every word FTS5 keeps, under its stem in each of the languages the index has."""

    def __init__(self, connection: sqlite3.Connection, languages: Iterable[Language]) -> None:
        """Read the words of `chunk_fts`; 20 µs each for a language."""
        # A table of the connection's own temporary database: the index file stays as it is.
        connection.execute("CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, chunk_fts, row)")
        words = [word for (word,) in connection.execute("SELECT term FROM temp.word")]
        self._forms: dict[Language, dict[str, list[str]]] = {}
        for language in languages:
            forms = self._forms[language] = defaultdict(list)
            for word in words:
                forms[stem(word, language)].append(word)

    def forms(self, stems: Iterable[str], language: Language) -> list[str]:
        """Words of the index with one of these stems in `language`."""
        known = self._forms.get(language, {})
        return [word for each in stems for word in known.get(each, ())]
