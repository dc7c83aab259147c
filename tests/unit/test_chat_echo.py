"""Lines of the prompt that a small model repeats."""

from __future__ import annotations

import pytest

from bot.chat.echo import Echo

LINE = "(Look at [2], answer in English.)"
INSISTING = "(Write the whole answer in English.)"


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (f"{LINE} With Stripe [2].", " With Stripe [2]."),
        (f"With Stripe [2]. {LINE}", "With Stripe [2]. "),
        (f"One {LINE}{INSISTING} two {LINE}", "One  two "),
        ("With (Look at [2]) Stripe", "With (Look at [2]) Stripe"),
        ("It ends in (Look", "It ends in (Look"),
        ("((Look at [2], answer in English.)", "("),
    ],
)
def test_a_repeated_line_is_dropped_and_nothing_else(answer: str, shown: str, size: int) -> None:
    echo = Echo([LINE, INSISTING])
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    assert "".join(map(echo.feed, pieces)) + echo.close() == shown


def test_words_that_begin_no_line_are_not_held() -> None:
    echo = Echo([LINE])
    assert echo.feed("With Stripe (a card service") == "With Stripe (a card service"
    assert echo.feed(" (Loo") == " "
    assert echo.feed("ks fine)") == "(Looks fine)"


def test_without_lines_everything_goes_on() -> None:
    assert Echo([]).feed(LINE) == LINE
