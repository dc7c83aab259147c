"""A «how many?» is answered by a number that the passages give for the things asked for."""

from __future__ import annotations

import pytest

from bot.chat.guard.counted import counted
from bot.chat.guard.guard import Guard
from corpus.model import Chunk, Document, Language
from corpus.reader import Passage

METERS = (
    "Metrimex reads water meters for town councils. We rewrote the service that receives readings from "
    "86,000 meters, two days a week. The frontend half built the operators' dashboard in React."
)
TOOLS = (
    "There are seven tools and no more: `list`, `read`, `patch`. It has 412 tests.\n\n- one\n- two"
)
PAN = (
    "En la hora punta llegan unos 400 pedidos. Seis panaderías, 1.350 clientes registrados.\n\n"
    "| Pruebas | 88 |"
)


def passage(text: str, lang: Language = "en", heading: str | None = None) -> Passage:
    document = Document(path="a.md", kind="post", title="A page", url="/a", lang=lang)
    return Passage(
        chunk_id=1,
        document=document,
        chunk=Chunk(heading=heading, anchor="", text=text, ordinal=0),
    )


def shown(question: str, answer: str, language: Language, *passages: Passage) -> str:
    texts = [each.chunk.text for each in passages]
    guard = Guard(texts, question, counted=counted(question, passages, language))
    return guard.feed(answer) + guard.close()


@pytest.mark.parametrize(
    ("question", "answer", "text", "lang", "language"),
    [
        ("How many meters are read?", "86,000 meters [1].", METERS, "en", "en"),
        ("¿Cuántos contadores leen?", "86.000 contadores [1].", METERS, "en", "es"),
        ("How many tools does it have?", "It has seven tools [1].", TOOLS, "en", "en"),
        ("How many tools does it have?", "7 [1]", TOOLS, "en", "en"),
        ("How many tests are there?", "There are 412 tests.", TOOLS, "en", "en"),
        ("How many orders arrive?", "About 400 orders arrive.", PAN, "es", "en"),
        ("How many customers?", "1,350 customers have registered.", PAN, "es", "en"),
        ("¿Cuántas pruebas hay?", "88 [1]", PAN, "es", "es"),
        # Another number may stand behind the one asked for.
        ("How many meters are read?", "86,000 meters, two days a week.", METERS, "en", "en"),
    ],
)
def test_numbers_of_the_things_asked_for_pass(
    question: str, answer: str, text: str, lang: Language, language: Language
) -> None:
    assert shown(question, answer, language, passage(text, lang)) == answer


@pytest.mark.parametrize(
    ("question", "answer", "text", "lang", "language"),
    [
        ("How many operators use the dashboard?", "2 [1]", METERS, "en", "en"),
        ("How many councils are there?", "There are 86,000 councils.", METERS, "en", "en"),
        ("¿Cuántos operadores lo usan?", "Lo usan dos operadores.", METERS, "en", "es"),
        ("How many employees have the bakeries?", "6 [1]", PAN, "es", "en"),
        ("¿Cuántos empleados hay?", "400 [1]", PAN, "es", "es"),
    ],
)
def test_numbers_of_something_else_stop(
    question: str, answer: str, text: str, lang: Language, language: Language
) -> None:
    said = shown(question, answer, language, passage(text, lang))
    assert not any(char.isdigit() for char in said)
    assert "dos" not in said


def test_how_many_are_listed_under_the_things_own_heading() -> None:
    listed = passage("- list\n- read\n- patch", heading="Tools")
    assert shown("How many tools are there?", "There are 3 tools.", "en", listed) == (
        "There are 3 tools."
    )


def test_a_bare_number_may_count_a_list_of_the_things() -> None:
    listed = passage("Idiomas: español, gallego, inglés, francés y portugués. Audio: Opus.", "es")
    assert shown("¿Cuántos idiomas tiene?", "5 [1]", "es", listed) == "5 [1]"
    assert shown("How many languages are there?", "5 [1]", "en", listed) == "5 [1]"
    assert shown("¿Cuántos audios tiene?", "5 [1]", "es", listed) == ""


@pytest.mark.parametrize(
    "question",
    ["How long did it take?", "How many years did it last?", "¿Cuánto tiempo duró?", "How many?",
     "¿Cuántos zarcillos hay?", "¿Cuántas personas lo usan?"],
)  # fmt: skip
def test_what_is_not_checked(question: str) -> None:
    """Lengths have units; a word without translation cannot be looked for in the other language."""
    assert counted(question, [passage(METERS)], "es") is None


def test_a_word_without_translation_is_looked_for_in_its_own_language() -> None:
    found = counted("How many zarcillos are there?", [passage("Nine zarcillos.")], "en")
    assert found is not None
    assert found.allows("9", 1, "zarcillos", first=False)
    assert not found.allows("8", 1, "zarcillos", first=False)
    assert found.allows("8", 1, "days", first=False)
    assert not found.allows("8", 1, "days", first=True)
