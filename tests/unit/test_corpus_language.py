"""Which language a text is in: deterministic, word lists only, undecided rather than wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from corpus.language import detect_language
from corpus.model import Language

GATE = yaml.safe_load((Path(__file__).parents[1] / "eval/gate.yaml").read_text())["questions"]

SPANISH = """
hola
¡Hola!
HOLA
gracias
muchas gracias
buenas
buenos días
qué es RAG?
que es rag
¿RAG?
y en Python?
sí
eso es falso
explícalo mejor
¿Y el otro?
como funciona esto
¿Cuánto cuesta?
no entiendo
cuéntame más
dime los proyectos
currículum
¿Usáis Docker o Kubernetes?
quiero saber cómo se paga
el precio
sobre mí
¿qué significa "hello my friend"?
¿Qué quiere decir «the quick brown fox»?
que hace `return the_value for it` aquí
def hola(): pass # ¿por qué?
mira https://example.com/what-is-this-about y dime qué opinas
""".strip().splitlines()
ENGLISH = """
Hello world
HELLO WORLD
hello
Hi!
thanks
thank you very much
what is «Mi portafolio»?
What does "¿qué tal?" mean?
tell me more
and in Rust?
which of them?
that's wrong
what’s new?
how does this work
yes
go on
I don't understand
about me
Can I pay by card?
who are you
SELECT * FROM users is what?
where is `el_precio_de_la_tienda` used?
see https://ejemplo.es/como-estas-hoy and tell me
does info@la-tienda-de-ropa.es work
What is the price of “la cesta de pan”?
""".strip().splitlines()
UNDECIDED = [
    "", " ", "ok", "404", "50%", "👍", "???", "npm run build", "git push origin main", "RAG", "C++", "dog",
    "```py print(1)```", "```\nfor x in the list of what: pass\n```", "`el_precio de la tienda`",
    "https://example.com/what/is/this", "info@example.com", "<b>", "400 error", "Kubernetes", "email",
    "Docker compose", "no", "me", "a", "日本語のブログ記事", "«qué es esto»", "“what is this”",
    "src/que/es/esto.py", "the_and_of", "x = 1", "node.js 3.12",
]  # fmt: skip


@pytest.mark.parametrize("text", SPANISH)
def test_spanish_is_seen(text: str) -> None:
    """LANG-01"""
    assert detect_language(text) == "es"


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_seen(text: str) -> None:
    """LANG-01"""
    assert detect_language(text) == "en"


@pytest.mark.parametrize("text", UNDECIDED)
def test_without_a_sign_it_is_undecided(text: str) -> None:
    """LANG-01: code, addresses, numbers and quotations say nothing about who asks."""
    assert detect_language(text) is None


@pytest.mark.parametrize(
    "text", ["merci beaucoup", "danke schön", "obrigado", "dziękuję", "привет", "你好"]
)
def test_no_third_language_is_ever_answered(text: str) -> None:
    """LANG-01: «Hola» was Sotho and «Hello world» Dutch elsewhere."""
    assert detect_language(text) in {None, "es", "en"}


def test_the_same_text_has_always_the_same_language() -> None:
    """LANG-01: langdetect flips between calls."""
    texts = [*SPANISH, *ENGLISH, *UNDECIDED]
    first = [detect_language(text) for text in texts]
    for _ in range(5):
        assert [detect_language(text) for text in texts] == first


@pytest.mark.parametrize("text", [*SPANISH, *ENGLISH])
def test_capitals_spaces_and_signs_around_change_nothing(text: str) -> None:
    if "`" in text or "«" in text or '"' in text or "http" in text or "@" in text:
        return
    assert detect_language(f"  {text} …  ") == detect_language(text)
    assert detect_language(text.upper()) == detect_language(text)


def test_no_question_of_the_evaluation_set_is_taken_for_the_other_language() -> None:
    wrong = [
        item["question"]
        for item in GATE
        if detect_language(item["question"]) not in {item["lang"], None}
    ]
    assert wrong == []


@pytest.mark.parametrize("language", ["es", "en"])
def test_hardly_any_question_of_the_evaluation_set_is_undecided(language: Language) -> None:
    mine = [item["question"] for item in GATE if item["lang"] == language]
    undecided = [question for question in mine if detect_language(question) is None]
    assert len(undecided) <= len(mine) * 0.02, undecided
