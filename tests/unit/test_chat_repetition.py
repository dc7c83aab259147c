"""bot.chat.repetition: nothing is said twice, and a circle ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat.repetition import Repetition

LINES = "- SQLite in production, three years later [5]\n- A single writer, on purpose [5]\n"


def through(*pieces: str) -> tuple[str, bool]:
    repetition = Repetition()
    shown = "".join(map(repetition.feed, pieces))
    return shown + repetition.close(), repetition.looping


def test_an_answer_without_repetition_is_left_as_it_is() -> None:
    answer = f"The shop uses these:\n\n{LINES}\nIt opened in 2019. Its code is public [2]."
    assert through(answer) == (answer, False)


def test_what_says_nothing_new_is_dropped_and_new_things_behind_it_are_not() -> None:
    assert through("The shop takes cards. The shop takes cards. It opened in 2019.") == (
        "The shop takes cards. It opened in 2019.",
        False,
    )


def test_an_item_is_the_same_under_another_number_with_another_citation() -> None:
    shown, looping = through(
        "1. **Lonja** forecasts tides [1]\n2. Lonja forecasts tides [3]\n3. Trama sells\n"
    )
    assert shown == "1. **Lonja** forecasts tides [1]\n3. Trama sells\n"
    assert not looping


def test_two_repetitions_in_a_row_are_a_circle() -> None:
    shown, looping = through(LINES * 5, "- Never shown")
    assert (shown, looping) == (LINES, True)


def test_a_repetition_here_and_there_is_no_circle() -> None:
    one, two, three = "It is a web shop. ", "It sells clothes here. ", "Orders are paid by card. "
    shown, looping = through(one, two, one, three, one, "It opened in 2019.")
    assert shown == f"{one}{two}{three}It opened in 2019."
    assert not looping


@pytest.mark.parametrize("round_", ["and so on ", "el ", "Lonja, Trama, Faro, ", "1, "])
def test_a_circle_inside_a_sentence_ends(round_: str) -> None:
    shown, looping = through("It is ", round_ * 100)
    assert looping
    assert len(shown) < 300


@pytest.mark.parametrize(
    "text", ["| --- | --- | --- | --- | --- | --- | --- | --- | ---\n|", "=" * 90 + "\n"]
)
def test_rules_and_tables_are_no_circle(text: str) -> None:
    assert through(text) == (text, False)


def test_short_sentences_may_come_twice() -> None:
    assert through("Sí. Es una tienda. Sí. Sí. Sí.") == ("Sí. Es una tienda. Sí. Sí. Sí.", False)


def test_words_flow_on_unless_a_sentence_began_so_before() -> None:
    repetition = Repetition()
    assert repetition.feed("The shop ta") == "The shop ta"
    assert repetition.feed("kes cards. ") == "kes cards."
    assert repetition.feed("The shop ") == ""
    assert repetition.feed("op") == " The shop op"


def test_the_last_sentence_may_be_the_repetition() -> None:
    assert through("The shop takes cards. The shop takes cards.") == (
        "The shop takes cards.",
        False,
    )


PARTS = ["The shop takes cards", ". ", "\n", "1. ", "- ", " [2]", "x", "2019"]


@given(st.lists(st.sampled_from(PARTS), max_size=30), st.integers(1, 7))
def test_pieces_change_nothing(parts: list[str], size: int) -> None:
    text = "".join(parts)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert through(*pieces) == through(text)
