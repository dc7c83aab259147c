"""Questions that ask for several things take excerpts of other pages along, and are cut in their parts."""

from __future__ import annotations

import pytest

from bot.chat.several import asks_several, parts


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


@pytest.mark.parametrize(
    ("question", "cut"),
    [
        ("What is Trama and how is it paid for?", ("What is Trama", "how is it paid for")),
        ("Which licence has it, and how many stars?", ("Which licence has it", "how many stars")),
        ("Which projects use Go and which use Java?", ("Which projects use Go", "which use Java")),
        ("What is Trama? Who delivers the parcels?", ("What is Trama", "Who delivers the parcels")),
        (
            "¿Con qué se paga y cuánto cuesta el envío?",
            ("Con qué se paga", "cuánto cuesta el envío"),
        ),
        (
            "¿A qué correo escribo y a qué número llamo?",
            ("A qué correo escribo", "a qué número llamo"),
        ),
        ("que maquina usa y cuantos nucleos tiene", ("que maquina usa", "cuantos nucleos tiene")),
    ],
)
def test_a_question_of_two_parts_is_cut(question: str, cut: tuple[str, str]) -> None:
    assert parts(question) == cut


@pytest.mark.parametrize(
    "question",
    [
        "Who is the author and owner of the site?",
        "Who worked at Norte and until when?",  # «until when» has no word of its own
        "¿Qué hace el servidor que guarda los pedidos y que sirve la web?",
        "¿Cuántos pedidos se pierden, como mucho, si se quema?",
        "What is A and what is B and what is C?",
        "Hi. I run a shop. What does it cost?",
        "Show me the logo? and the colours",
        "What is Trama",
        "and",
        "???",
        "",
    ],
)
def test_any_other_question_stays_whole(question: str) -> None:
    assert parts(question) == (question,)
