"""Questions that ask for several things take excerpts of other pages along."""

from __future__ import annotations

import pytest

from bot.chat.several import asks_several


@pytest.mark.parametrize(
    "question",
    [
        "What is Trama and how is it paid for?",
        "When was it launched, and who built it?",
        "Which projects use SQLite?",
        "Compare Trama with Lonja",
        "What is the difference between RAG and search?",
        "¿Qué es Trama y cómo se paga?",
        "¿Cuándo se publicó y quién lo hizo?",
        "¿Qué proyectos usan SQLite?",
        "¿En qué se diferencian los dos? ¿Y cuál es mejor?",
        "Compara Trama con Lonja",
        "¿Ambos usan Go?",
    ],
)
def test_two_questions_and_comparisons(question: str) -> None:
    assert asks_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "How do customers pay in the clothes shop?",
        "Who is the author and owner of the site?",
        "What does the terminal agent do?",
        "Is there anything about rock and roll?",
        "¿Con qué se paga en la tienda de ropa?",
        "¿Quién es Ana y Luis S.L.?",
        "¿Cuánto tarda la web de mareas?",
        "sí",
        "",
    ],
)
def test_one_thing(question: str) -> None:
    assert not asks_several(question)
