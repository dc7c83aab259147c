"""The gate decides on raw evidence; names and missing attributes are the surest signs against."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from bot.chat.attributes import missing_attributes, without_missing
from bot.chat.calibrations import KEYWORDS, SHIPPED, calibration_for
from bot.chat.gate import FEATURES, Calibration, decide, features
from bot.chat.names import names_in
from bot.chat.search import RRF_K, Evidence, Hit, search
from corpus.settings import RagSettings
from tests.small_index import page, small_index, toward

E5 = SHIPPED["multilingual-e5-small"]
SAME = toward(1)


def evidence(folder: Path, question: str, *, fusion: str = "score", chunks: int = 12) -> Evidence:
    """A site about bread; the question's vector is near for bread and far for anything else."""
    vector = toward(1, 0.05) if "bread" in question else toward(0, 0, 1)
    pages = [page("posts/bread.md", "We bake bread in the harbour oven.", vector=SAME)]
    pages += [page(f"posts/{n}.md", f"filler{n}", vector=toward(0.2, 1)) for n in range(chunks - 1)]
    with closing(small_index(folder, *pages)) as index:
        return search(index, question, vector, RagSettings(fusion=fusion), "en")  # type: ignore[arg-type]


def test_the_features_are_those_of_the_calibration_in_order() -> None:
    fields = [item.name for item in msgspec.structs.fields(Calibration)]
    assert fields == ["intercept", *FEATURES, "threshold"]
    values = {"top_cosine": 0.1, "margin": 0.2, "contrast": 0.3, "coverage": 0.4,
              "unknown_share": 0.5}  # fmt: skip
    weighed = Evidence(
        hits=(), dense=True, unknown_names=1, missing_attributes=1, foreign=True, **values
    )
    assert features(weighed) == (0.1, 0.2, 0.3, 0.4, 0.5, 1.0, 1.0, 1.0)


def test_counts_are_capped() -> None:
    many = Evidence(hits=(), dense=True, unknown_names=9, missing_attributes=9)
    assert features(many)[5:7] == (2.0, 1.0)


@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_a_good_question_passes_and_an_off_topic_one_does_not(tmp_path: Path, fusion: str) -> None:
    """RAG-01: an RRF score is never compared with anything, so nothing is refused for it."""
    good = evidence(tmp_path / "a", "Where is the bread baked?", fusion=fusion)
    off = evidence(tmp_path / "b", "Who won the world cup?", fusion=fusion)
    assert decide(good, E5, None).answerable
    assert not decide(off, E5, None).answerable
    if fusion == "rrf":
        assert good.hits[0].score < 2.1 / RRF_K


def test_the_same_evidence_decides_whatever_the_fused_score(tmp_path: Path) -> None:
    """RAG-01"""
    good = evidence(tmp_path, "Where is the bread baked?")
    for score in (-5.0, 0.0, 0.016, 1.0, 900.0):
        hits = tuple(msgspec.structs.replace(hit, score=score) for hit in good.hits)
        changed = msgspec.structs.replace(good, hits=hits)
        assert decide(changed, E5, None) == decide(good, E5, None)


def test_the_best_of_one_is_not_therefore_good(tmp_path: Path) -> None:
    """RAG-01: after min-max the best of a bad set would be 1.0."""
    assert not decide(evidence(tmp_path / "a", "Who won the cup?", chunks=1), E5, None).answerable


def test_a_hit_of_the_keywords_only_is_weighed_with_its_cosine(tmp_path: Path) -> None:
    """RAG-01"""
    found = evidence(tmp_path, "harbour oven")
    assert found.hits[0].cosine == pytest.approx(0, abs=0.01)
    assert found.top_cosine == pytest.approx(0, abs=0.01)
    assert found.coverage == pytest.approx(1)


@pytest.mark.parametrize("calibration", [E5, KEYWORDS])
def test_nothing_found_is_nothing_to_answer_from(calibration: Calibration) -> None:
    nothing = Evidence(hits=(), dense=True, top_cosine=1.0, coverage=1.0, margin=1.0)
    assert not decide(nothing, calibration, 0.0).answerable
    assert decide(nothing, calibration, None).probability < 1e-6


def test_the_threshold_of_the_configuration_goes_before_the_calibrated_one(tmp_path: Path) -> None:
    good = evidence(tmp_path / "a", "Where is the bread baked?")
    off = evidence(tmp_path / "b", "Who won the world cup?")
    assert decide(off, E5, 0.0).answerable
    assert not decide(off, E5, 1.0).answerable
    exact = decide(good, E5, None).probability
    assert decide(good, E5, exact).answerable


def test_absurd_figures_do_not_overflow(tmp_path: Path) -> None:
    good = evidence(tmp_path, "Where is the bread baked?")
    for value in (1e9, -1e9):
        decision = decide(msgspec.structs.replace(good, top_cosine=value), E5, None)
        assert 0 <= decision.probability <= 1


def test_an_unknown_model_gets_the_keyword_calibration() -> None:
    """RAG-01: the cut is tied to the embedding model."""
    assert calibration_for("multilingual-e5-small", dense=True) is E5
    assert calibration_for("multilingual-e5-small", dense=False) is KEYWORDS
    assert calibration_for("something-else", dense=True) is KEYWORDS
    assert (KEYWORDS.top_cosine, KEYWORDS.margin, KEYWORDS.contrast) == (0, 0, 0)


def test_a_hit_needs_no_vector_to_be_weighed(tmp_path: Path) -> None:
    with closing(small_index(tmp_path, page("posts/a.md", "bread oven"))) as index:
        found = search(index, "bread oven", None, RagSettings(), "en")
    assert isinstance(found.hits[0], Hit)
    assert decide(found, KEYWORDS, None).answerable


# Questions that ask for an attribute (named) or for none ("").
ATTRIBUTES = """
price: ¿Cuánto cuesta la tienda? | ¿cuanto vale? | ¿Cuánto cobráis?
price: ¿Qué precio tiene el plan? | ¿Qué tarifas hay?
price: How much does it cost? | How much is an audit? | What are your rates? | pricing | What is the fee?
phone: ¿Cuál es vuestro teléfono? | ¿Tenéis WhatsApp? | What is your phone number? | Can I call you?
address: ¿Cuál es la dirección de la oficina? | ¿Qué código postal tenéis? | What is your street address?
address: address of your office
age: ¿Qué edad tienes? | ¿Cuántos años tenéis? | How old are you? | When is your birthday?
pay: ¿Qué sueldo tenías? | ¿Cuánto ganáis? | What salary do you get? | What is your yearly revenue?
person: ¿Cómo os llamáis? | ¿Cómo se llaman los socios? | nombres de los fundadores | What are your names?
person: names of the founders
surname: ¿Cuál es tu apellido? | What is your last name?
director: ¿Quién dirige el museo? | Who is the museum's director? | Who runs the library?
brand: ¿De qué marca es la impresora? | Which brand is the printer?
area: ¿Cuántos metros cuadrados tiene? | How many square metres is it?
password: ¿Qué contraseña tiene la wifi? | What is the wifi password?
colour: What colour is the logo? | ¿De qué color es?
founding: ¿Cuándo se fundó el banco? | When was the agency founded?
popularity: How many stars does it have? | ¿Cuántos seguidores tenéis?
attendance: How many people attended the talk? | ¿Cuánta gente asistió?
marks: With what average mark? | ¿Con qué nota media?
opening hours: ¿Qué día cierra el museo? | What are the opening hours?
this moment: How high is the tide right now? | ¿Qué tiempo hace ahora mismo?
none: ¿Cada cuánto sale una versión? | What happens if a phone is lost? | Who was the first client?
none: ¿Cuántas veces os han llamado al teléfono de guardia? | How much does the index weigh?
none: ¿Cuánto tarda la auditoría? | ¿Cuánto pan sobra? | How much memory does it use? | How many pages?
none: ¿Cuál es la dirección de correo? | What is your email address? | ¿Cómo se llama el proyecto?
none: What is RAG? | ¿Qué es Faro? | How do customers pay? | ¿Con qué se paga? | names of the projects | hola
none: phone app | ¿Desde cuándo? | How long does it take?
"""
GIVEN = {
    "price": "The audit is 900 €.",
    "phone": "Ring +34 600 123 456.",
    "address": "Visit us at Calle Mayor 3.",
    "age": "Ana was born in 1990.",
    "pay": "Salary: 30k.",
    "person": "Me llamo Marea.",
    "surname": "My last name is Pérez.",
    "director": "The director is Ana.",
    "brand": "The printer is of the brand Oki.",
    "area": "It has 300 m².",
    "password": "The password is on the wall.",
    "colour": "It is blue.",
    "founding": "The agency was founded in 2012.",
    "popularity": "It has 90 stars.",
    "attendance": "Sixty people attended.",
    "marks": "With an average grade of 8.",
    "opening hours": "Closed on Mondays.",
    "this moment": "The page says what the tide is right now.",
}
ASKED = [
    (question.strip(), line.split(":")[0])
    for line in ATTRIBUTES.strip().splitlines()
    for question in line.split(":", 1)[1].split("|")
]


@pytest.mark.parametrize(
    "text",
    [
        "Exit codes: `echo $?`",
        "Prices come from the server.",
        "We worked 2016-2019 and 2021.",
        "An old phone.",
    ],
)
def test_what_only_looks_like_an_attribute_gives_none(text: str) -> None:
    assert missing_attributes("How much does an audit cost?", [text]) == 1
    assert missing_attributes("What is your phone number?", [text]) == 1


@pytest.mark.parametrize(("question", "attribute"), ASKED)
def test_an_attribute_is_missing_where_no_passage_gives_it(question: str, attribute: str) -> None:
    others = [text for name, text in GIVEN.items() if name != attribute]
    assert missing_attributes(question, ["A site in Go."]) == (attribute != "none")
    if attribute != "none":
        assert missing_attributes(question, [*others, GIVEN[attribute]]) == 0


@pytest.mark.parametrize(
    ("question", "known", "unknown"),
    [
        ("Tell me the stack and the budget of Lonja", "Tell me the stack of Lonja", "budget"),
        ("What are the price and the duration of it?", "What are the duration of it?", "price"),
        (
            "Dime el cliente de Faro y su número de teléfono",
            "Dime el cliente de Faro",
            "número de teléfono",
        ),
    ],
)
def test_a_question_for_two_things_is_asked_without_the_one_that_is_missing(
    question: str, known: str, unknown: str
) -> None:
    assert without_missing(question, ["Lonja, a map in Go."]) == (known, unknown)
    assert without_missing(question, ["Pricing: 900 € within the budget; +34 600 123 456"]) is None


@pytest.mark.parametrize(
    "question", ["What is the budget of Lonja?", "How old is Lonja and its map?"]
)
def test_what_is_joined_to_nothing_stays_whole(question: str) -> None:
    assert without_missing(question, ["Lonja, a map in Go."]) is None


def test_the_table_of_attributes_is_large_enough() -> None:
    assert len(ASKED) >= 40


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("¿Usáis Kubernetes?", {"kubernetes"}),
        ("do you use kubernetes", {"kubernetes"}),
        ("Kubernetes", {"kubernetes"}),
        ("What is RAG?", {"rag"}),
        ("Where is the Trama shop hosted?", {"trama"}),
        ("¿Y Faro?", {"faro"}),
        ("El Banco Orballo", {"banco", "orballo"}),
        ("in 2019", {"2019"}),
        ("tell me about M2", {"m2"}),
        ("Have you used iOS or macOS?", {"ios", "macos"}),
        ("C#, .NET", {"csharp", "dotnet"}),
        ("Does it run on Windows Phone?", {"windows", "phone"}),
        ("Do you know Go?", {"go"}),
        ("¡Hola! ¿Usáis React?", {"react"}),
        ("trama shop", set()),
        ("Trama", set()),
        ("WHAT IS THE SHOP BUILT WITH", set()),
        ("What is it?", set()),
        ("Can I pay? Where? Nobody knows.", set()),
        ("¿Qué encargos no aceptáis?", set()),
        ("(Which one)", set()),
        ("«Qué hay»", set()),
        ("first line\nSecond line", set()),
        ("", set()),
        ("???", set()),
    ],
)
def test_names_are_what_keeps_its_spelling(question: str, names: set[str]) -> None:
    assert names_in(question) - {"c", "net"} == names
