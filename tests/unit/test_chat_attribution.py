"""Citation numbers follow the names and numbers of their sentence."""

from __future__ import annotations

import pytest

from bot.chat.attribution import Attribution

PASSAGES = (
    "SQLite en producción. Para la tienda elegimos PostgreSQL.",
    "Trama. Payments: Stripe, 2 % fee, opened in 2019.",
    "Nothing of note here.",
)


@pytest.mark.parametrize(
    ("answer", "settled"),
    [
        ("Se paga con Stripe [1].", "Se paga con Stripe [2]."),
        ("Se paga con Stripe [2].", "Se paga con Stripe [2]."),
        ("Se paga con Stripe. [3]", "Se paga con Stripe. [2]"),
        (
            "It opened in 2019 [3]. It uses PostgreSQL [2].",
            "It opened in 2019 [2]. It uses PostgreSQL [1].",
        ),
        ("They use Stripe [1][2].", "They use Stripe [2]."),
        ("Nadie sabe nada [3].", "Nadie sabe nada [3]."),
        ("It uses MongoDB [3].", "It uses MongoDB [3]."),
        ("Stripe y PostgreSQL [1].", "Stripe y PostgreSQL [1]."),
        ("- Stripe [1]\n- PostgreSQL [2]", "- Stripe [2]\n- PostgreSQL [1]"),
        ("[1] Stripe", "[1] Stripe"),
        ("", ""),
    ],
)
def test_a_mark_moves_only_to_a_passage_that_holds_what_is_said(answer: str, settled: str) -> None:
    assert Attribution(PASSAGES).settle(answer) == settled


def test_pieces_give_the_same_text_as_the_whole() -> None:
    answer = "Se paga con Stripe [1]. La base es PostgreSQL. [2]"
    whole = Attribution(PASSAGES).settle(answer)
    pieces = ["Se paga", " con Str", "ipe", " [1]", ". La base", " es Postgre", "SQL. ", "[2]"]
    assert "".join(pieces) == answer
    attribution = Attribution(PASSAGES)
    assert "".join(attribution.settle(piece) for piece in pieces) == whole
    assert whole == "Se paga con Stripe [2]. La base es PostgreSQL. [1]"


def test_an_answer_without_passages_is_left_alone() -> None:
    assert Attribution(()).settle("Hola [1]") == "Hola [1]"
