"""An answer in the wrong language is caught in its first words, before any of them is shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat.guard.tongue import MOST_CHARS, Tongue, Verdict
from corpus.model import Language
from tests.unit.sample_pages import names, page, sentences

OTHER: dict[Language, Language] = {"es": "en", "en": "es"}
ENGLISH = [
    "The studio was founded in 2021 [1].",
    "Estudio Marea is two people from Galicia.",
    "SQLite is used for the orders of the bakeries.",
    "According to the passages, the audit lasts two weeks.",
    "Yes, they use Go and Python.",
    "- **Metrimex**: from July 2024 to June 2026",
    "No, the shop uses PostgreSQL.",
    "You can write to hola@example.com.",
    "It takes 11 minutes.",
    "«Pan a las siete» is an application for bakeries.",
]
SPANISH = [
    "El estudio se fundó en 2021 [1].",
    "Estudio Marea son dos personas de Galicia.",
    "SQLite se usa para los pedidos de las panaderías.",
    "Según los pasajes, la auditoría dura dos semanas.",
    "Sí, usan Go y Python.",
    "- **Metrimex**: de julio de 2024 a junio de 2026",
    "No, la tienda usa PostgreSQL.",
    "Puedes escribir a hola@example.com.",
    "Tarda 11 minutos.",
    "“Skip links” es un artículo sobre el foco del teclado.",
]
ANSWERS: list[tuple[Language, str]] = [
    *(("en", text) for text in ENGLISH),
    *(("es", text) for text in SPANISH),
]


def read(wanted: Language, pieces: list[str]) -> tuple[Verdict | None, str]:
    tongue = Tongue(wanted)
    text = "".join(tongue.feed(piece) for piece in pieces) + tongue.close()
    return tongue.verdict, text


@pytest.mark.parametrize(("language", "answer"), ANSWERS)
def test_an_answer_in_the_wanted_language_goes_on(language: Language, answer: str) -> None:
    assert read(language, [answer]) == ("ok", answer)


@pytest.mark.parametrize(("language", "answer"), ANSWERS)
def test_an_answer_in_the_other_language_shows_nothing(language: Language, answer: str) -> None:
    assert read(OTHER[language], [answer]) == ("other", "")


@pytest.mark.parametrize(
    ("language", "begins"), [("en", "Customers "), ("es", "Vendemos "), ("en", "64 pixels,")]
)
def test_over_pages_in_the_wanted_language_the_first_whole_word_is_enough(
    language: Language, begins: str
) -> None:
    assert Tongue(language).feed(begins) == ""
    native = Tongue(language, native=True)
    assert native.feed(begins[:-1]) == ""
    assert native.feed(begins[-1]) == begins


@pytest.mark.parametrize(
    ("language", "first", "native", "shown"),
    [
        ("en", "The", False, "The"),
        ("es", "Los", False, "Los"),
        ("es", "La", False, ""),  # of «Labels are»
        ("es", "La", True, "La"),
        ("es", "The", True, ""),
        ("en", "Los", True, ""),
    ],
)
def test_a_first_word_of_the_wanted_language_does_not_wait_for_its_end(
    language: Language, first: str, native: bool, shown: str
) -> None:
    assert Tongue(language, native=native).feed(first) == shown


@pytest.mark.parametrize(
    ("wanted", "answer"), [("en", "Los pedidos"), ("es", "The order is taken")]
)
def test_a_first_word_of_the_other_language_is_held_over_any_page(
    wanted: Language, answer: str
) -> None:
    assert Tongue(wanted, native=True).feed(answer + " ") == ""


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("es", "PostgreSQL, SQLite, Go, Rust."),
        ("en", "Metrimex, Banco Orballo, Agencia Pistilo"),
        ("en", "`la` `el` `de` `los`: 4"),
        ("en", "La Coruña"),
        ("es", "The Guardian"),
        ("es", "2021"),
        ("es", "https://example.com/the/is/of"),
        ("en", "hola@example.com"),
        ("en", ""),
    ],
)
def test_names_code_quotations_and_addresses_decide_nothing(wanted: Language, answer: str) -> None:
    assert read(wanted, [answer]) == ("unsure", answer)


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("en", "«Cuatro días por semana, con números» is a post about work."),
        ("es", "“Tides in 48 kilobytes” es una charla de 2023."),
        ("en", "The post is called Cuatro días por semana y los números."),
        ("es", "El artículo The state of the art is in English."),
    ],
)
def test_a_foreign_title_does_not_turn_an_answer_down(wanted: Language, answer: str) -> None:
    assert read(wanted, [answer]) == ("ok", answer)


@pytest.mark.parametrize(("language", "answer"), ANSWERS)
def test_no_more_than_the_first_words_are_held(language: Language, answer: str) -> None:
    tongue = Tongue(language)
    longest, shown = 0, ""
    for position, char in enumerate(answer, start=1):
        shown += tongue.feed(char)
        longest = max(longest, position - len(shown))
    assert longest <= MOST_CHARS


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["es", "en"]),
    st.sampled_from([text for _, text in ANSWERS]) | st.text(max_size=90),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_chunks_change_nothing(wanted: Language, answer: str, sizes: list[int]) -> None:
    pieces: list[str] = []
    position = 0
    while position < len(answer):
        pieces.append(answer[position : position + sizes[len(pieces) % len(sizes)]])
        position += len(pieces[-1])
    assert read(wanted, pieces) == read(wanted, [answer])


@pytest.mark.parametrize("wanted", ["es", "en"])
def test_titles_say_nothing_of_the_language_around_them(wanted: Language) -> None:
    titles = ["Pan a las siete", "The state of the art"]
    answers: dict[Language, str] = {
        "es": "The state of the art es un artículo.",
        "en": "Pan a las siete is an application.",
    }
    for language, answer in answers.items():
        tongue = Tongue(wanted, titles)
        shown = tongue.feed(answer) + tongue.close()
        assert (tongue.verdict, shown) == (("ok", answer) if language == wanted else ("other", ""))


def test_prose_of_the_sample_site_is_told_apart() -> None:
    """Measured over 567 sentences: none turned down wrongly, 13 in the other language not caught."""
    wrong, missed, held, count = [], [], 0, 0
    for name in names():
        language: Language = "es" if _spanish(name) else "en"
        for text in sentences(name):
            if len(text.split()) < 6 or "|" in text:
                continue
            count += 1
            if read(language, [text])[0] == "other":
                wrong.append(text)
            if read(OTHER[language], [text])[0] != "other":
                missed.append(text)
            tongue = Tongue(language)
            held += next((n for n, char in enumerate(text) if tongue.feed(char)), len(text))
    assert count > 500
    assert wrong == []
    assert len(missed) <= 0.03 * count, missed
    assert held / count < 20  # characters before the first word is shown: some three tokens


def _spanish(name: str) -> bool:
    text = " ".join(page(name))
    return text.count(" de ") > text.count(" the ")


def test_a_name_at_the_beginning_of_a_spanish_answer_waits_for_a_word() -> None:
    """«PMTiles is a format that …» over a Spanish page, for a Spanish question (injection-es-10)."""
    tongue = Tongue("es", native=True)
    assert tongue.feed("PMTiles is a format that saves all") == ""
    assert tongue.verdict == "other"
    for said in ("PMTiles guarda todas", "PMTiles es un formato"):
        assert Tongue("es", native=True).feed(said) == said
    tongue = Tongue("es", native=True)
    assert tongue.feed("PMTiles ") + tongue.close() == "PMTiles "
    assert Tongue("en", native=True).feed("PMTiles ") == "PMTiles "
