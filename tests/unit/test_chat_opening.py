"""NO_ANSWER never reaches a visitor, however the model spells or splits it."""

from __future__ import annotations

import pytest

from bot.chat.opening import Opening


def read(pieces: list[str]) -> tuple[str, bool]:
    opening = Opening(active=True)
    text = "".join(opening.feed(piece) for piece in pieces) + opening.close()
    return text, opening.declined


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("answer", "shown", "declined"),
    [
        ("NO_ANSWER", "", True),
        ("  «NO_ANSWER».", "", True),
        ("**NO_ANSWER** because", "", True),
        ("No_ANSWER", "", True),
        ("«No answer» is in the passages.", "", True),
        ("The library gave no answer.", "The library gave no answer.", False),
        ("No, answers are free.", "No, answers are free.", False),
        ("The site does not say. NO_ANSWER", "The site does not say. ", False),
        ("It is red. NO_ANSWER and more", "It is red. ", False),
        ("No", "No", False),
        ("NO_", "NO_", False),
        ("Norway [1].", "Norway [1].", False),
        ("NO_ANSWE is a word", "NO_ANSWE is a word", False),
        ("", "", False),
    ],
)
def test_the_word_is_taken_out(answer: str, shown: str, declined: bool, size: int) -> None:
    pieces = [answer[i : i + size] for i in range(0, len(answer), size)]
    assert read(pieces) == (shown, declined)


def test_without_passages_nothing_is_held() -> None:
    opening = Opening(active=False)
    assert opening.feed("NO_") == "NO_"
    assert opening.close() == ""
