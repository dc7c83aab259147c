"""What asks for something to be made is told from questions about the site."""

from __future__ import annotations

import pytest

from bot.chat.tasks import is_task

SITE = frozenset("go sqlite posts tide vigo services faro page rony tui shop bread".split())


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ("Write a quicksort in Go for me", True),
        ("Please write me a poem about the sea", True),
        ("can you translate this letter into German?", True),
        ("Give me a recipe for bread", True),
        ("tell me a joke", True),
        ("Escríbeme una carta de amor", True),
        ("Por favor, traduce esta carta", True),
        ("Dame una receta de pan", True),
        ("¿puedes programar un juego?", True),
        # Of what the site has words for.
        ("Write a summary of the SQLite posts", False),
        ("Calculate the tide in Vigo", False),
        ("Translate the services page", False),
        ("Who wrote Faro?", False),
        ("¿Programáis aplicaciones móviles?", False),
        ("Can rony-tui write tests?", False),
        ("Tell me about the shop", False),
        ("", False),
    ],
)
def test_a_task_names_something_that_the_site_does_not(message: str, is_one: bool) -> None:
    assert is_task(message, SITE.__contains__) is is_one
