"""A stopped answer ends with the words of the source, marked as such."""

from __future__ import annotations

import pytest

from bot.chat.guard.completion import completion
from corpus.model import Language

QUOTE = (2, "The file is now 1.1 GB.")


@pytest.mark.parametrize(
    ("shown", "sentence", "quotes", "language", "expected"),
    [
        (
            "Usa SQLite y",
            "Usa SQLite y",
            [QUOTE],
            "es",
            " …\n\nLa fuente dice: «The file is now 1.1 GB.» [2]",
        ),
        (
            "It uses",
            "It uses",
            [QUOTE],
            "en",
            " …\n\nThe source says: “The file is now 1.1 GB.” [2]",
        ),
        ("It is red.", "", [QUOTE], "en", "\n\nThe source says: “The file is now 1.1 GB.” [2]"),
        ("", "", [QUOTE], "es", "La fuente dice: «The file is now 1.1 GB.» [2]"),
        ("It uses ", "It uses ", [], "en", "…"),
        ("It uses", "It uses", [(1, "  ")], "en", " …"),
        ("", "", [], "en", ""),
        ("a", "a", [(1, "A."), (3, "B.")], "es", " …\n\nLa fuente dice: «A.» [1] «B.» [3]"),
    ],
)
def test_the_end_of_a_stopped_answer(
    shown: str, sentence: str, quotes: list[tuple[int, str]], language: Language, expected: str
) -> None:
    assert completion(shown, sentence, quotes, language) == expected


def test_a_quoted_text_can_not_close_its_own_quotation_or_cite() -> None:
    text = completion("", "", [(1, "He said “no” [7] and »left«\n## Next")], "en")
    assert text == "The source says: “He said 'no' and 'left' ## Next” [1]"


def test_where_nothing_was_said_yet_the_quotation_is_the_closest() -> None:
    said = completion(
        "Se usa en los puertos de", "Se usa en los puertos de", [QUOTE], "es", unanswered=True
    )
    assert said == (
        " …\n\nNo he encontrado una respuesta clara a eso. "
        "Lo más parecido que dice: «The file is now 1.1 GB.» [2]"
    )
