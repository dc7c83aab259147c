"""Forms and translations of words, and the list they come from."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from corpus.model import LANGUAGES, Language
from corpus.text import STOP_WORDS, fold
from corpus.word_forms import OTHER, has_translation, stem, stems_in

LINES = files("corpus").joinpath("data/words_en_es.tsv").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("es", "pedido pedidos"),
        ("es", "taller talleres"),
        ("es", "voz voces"),
        ("es", "reunion reuniones"),
        ("es", "mes meses"),
        ("es", "cerrar cerro cerraron"),
        ("es", "marea mareas"),
        ("en", "order orders ordered"),
        ("en", "workshop workshops"),
        ("en", "library libraries"),
        ("en", "close closed closing"),
    ],
)
def test_forms_of_a_word_share_its_stem(language: Language, forms: str) -> None:
    assert len({stem(form, language) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("language", "words"),
    [("es", "mar marea"), ("es", "pan panel"), ("en", "order border"), ("en", "sail sale")],
)
def test_other_words_keep_theirs(language: Language, words: str) -> None:
    first, second = words.split()
    assert stem(first, language) != stem(second, language)


@pytest.mark.parametrize(
    ("asked", "asked_in", "told"),
    [
        ("pedidos", "es", "orders"),
        ("tienda", "es", "shop"),
        ("tiendas", "es", "stores"),
        ("workshops", "en", "taller"),
        ("delivery", "en", "entrega"),
        ("cost", "en", "cuesta"),
        ("hizo", "es", "made"),
        ("women", "en", "mujer"),
        ("libreria", "es", "library"),
        ("peso", "es", "weight"),
    ],
)
def test_translations(asked: str, asked_in: Language, told: str) -> None:
    there = OTHER[asked_in]
    assert stem(told, there) in stems_in(asked, there, asked_in)
    assert stem(told, there) in stems_in(asked, there)
    assert has_translation(asked, asked_in)


def test_a_word_of_the_texts_own_language_is_not_translated() -> None:
    """«red» asked in Spanish is a network, and not the colour, in Spanish texts as in English ones."""
    assert stems_in("red", "es", "es") == {stem("red", "es")}
    assert stem("network", "en") in stems_in("red", "en", "es")
    assert stem("red", "en") not in stems_in("red", "en", "es")
    assert stem("rojo", "es") in stems_in("red", "es", "en")


def test_unknown_words_have_no_translation() -> None:
    for language in LANGUAGES:
        assert not has_translation("tidecalc", language)
        assert stems_in("tidecalc", OTHER[language], language) == frozenset()


def test_the_list_is_well_formed() -> None:
    for line in LINES:
        assert re.fullmatch(r"[^\W\d_]+(\|[^\W\d_]+)*\t[^\W\d_]+(\|[^\W\d_]+)*", line), line
        assert line == line.lower(), line
    assert len(set(LINES)) == len(LINES) > 1500


def test_the_list_has_no_word_that_search_leaves_out_on_both_sides() -> None:
    for line in LINES:
        english, spanish = (side.split("|") for side in line.split("\t"))
        kept = [
            [word for word in side if fold(word) not in STOP_WORDS] for side in (english, spanish)
        ]
        assert all(kept), line


def test_no_word_means_half_of_the_list() -> None:
    """A pair too far-fetched makes a wrong page come up; a word of twenty meanings is one."""
    for language in LANGUAGES:
        words = {
            fold(word) for line in LINES for word in line.split("\t")[language == "es"].split("|")
        }
        most = max(words, key=lambda word: len(stems_in(word, OTHER[language], language)))
        assert len(stems_in(most, OTHER[language], language)) <= 20, most


def test_false_friends() -> None:
    for english, spanish in [("library", "librero"), ("success", "suceso"), ("carpet", "carpeta"),
                             ("actual", "actual"), ("sensible", "sensible"), ("exit", "exito")]:  # fmt: skip
        assert stem(spanish, "es") not in stems_in(english, "es", "en"), english
