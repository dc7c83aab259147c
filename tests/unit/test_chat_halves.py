"""Questions that the site answers in part, and technologies it never mentions."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.chat import phrases
from bot.chat.catalogue import CatalogueAnswer
from bot.chat.events import Chunk
from bot.chat.found import Found
from bot.chat.halves import in_plain_words, left_open, one_half, without_unmentioned
from bot.chat.mentions import unmentioned
from bot.chat.ports.model import Finished
from bot.chat.retrieved import Retrieved
from bot.chat.search import Evidence, Hit
from bot.chat.turn import Turn
from corpus.model import Document
from tests.retrieved import retrieved
from tests.small_index import page, small_index

CUT = 0.4
SURE, DOUBTFUL, NEVER = 3.0, -0.6, -3.0  # log odds: 0.95, 0.35, 0.05


def found(query: str, logit: float = SURE, *, dense: bool = True) -> Retrieved:
    return retrieved(query, logit=logit, dense=dense)


PROJECT = Document(
    path="projects/shop.md", kind="project", title="Shop", url="/projects/shop", lang="en"
)


def listing(*documents: Document) -> CatalogueAnswer:
    return CatalogueAnswer(text="…", documents=documents)


def holds(word: str) -> bool:
    return word in {"go", "trama", "postgres", "nodejs", "linux"}


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Is it written in Kotlin?", ("Kotlin",)),
        ("is it written in kotlin", ("kotlin",)),
        ("¿Se puede usar desde C#?", ("C#",)),
        ("Does it run on Node.js?", ()),
        ("Do you use PostgreSQL?", ()),  # called Postgres on the site
        ("Does it work on Ubuntu?", ()),  # of a site that says Linux
        ("Snowflake or Kafka?", ("Kafka",)),  # a snowflake at the start may be one
        ("Do you know Snowflake or Kafka?", ("Snowflake", "Kafka")),
        ("Is there a swift answer in spring?", ()),
        ("What is Trama?", ()),
        ("", ()),
    ],
)
def test_technologies_that_no_passage_names(question: str, missing: tuple[str, ...]) -> None:
    assert unmentioned(question, holds) == missing


def test_a_question_about_foreign_technologies_only_is_refused_by_name() -> None:
    refused = without_unmentioned(found("Do you use Kotlin or Kafka?"), holds)
    assert not refused.decision.answerable
    assert refused.unmentioned == ("Kotlin", "Kafka")
    assert without_unmentioned(found("What is Trama?"), holds) == found("What is Trama?")


def test_beside_one_of_the_sites_own_the_gate_decides() -> None:
    kept = without_unmentioned(found("Postgres or Kafka?"), holds)
    assert kept.decision.answerable
    assert kept.unmentioned == ("Kafka",)


@pytest.mark.parametrize(
    "unknown",
    [
        found("which use Kotlin"),  # a technology the site does not hold
        found("what does delivery cost"),  # an attribute that nothing found gives
        found("who is the patron", NEVER),  # nothing found at all
    ],
)
def test_the_part_that_is_known_is_answered_and_the_other_named(unknown: Retrieved) -> None:
    known = found("Which projects use Go")
    for parts in ((known, unknown), (unknown, known)):
        half = one_half(found("both", NEVER), parts, holds, CUT)
        assert half == replace(known, unanswered=unknown.query)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (found("What is Trama"), found("who made it")),
        (found("What is Trama"), found("who made it", DOUBTFUL)),
        (found("What is Trama"), found("who made it", NEVER, dense=False)),
        (found("who is the patron", NEVER), found("which use Kotlin")),
        (found("What is Trama", DOUBTFUL), found("which use Kotlin")),
    ],
)
def test_without_one_clear_half_the_question_stays_whole(one: Retrieved, other: Retrieved) -> None:
    assert one_half(found("both"), (one, other), holds, CUT) is None


def test_of_a_part_that_the_catalogue_takes_its_list_decides_and_not_the_gate() -> None:
    listed = replace(found("Which posts are from 2023", NEVER), listing=listing(PROJECT))
    empty = replace(found("which are from 1999"), listing=listing())
    known, patron = found("What is Trama"), found("who is the patron", NEVER)

    half = one_half(found("both", NEVER), (listed, patron), holds, CUT)
    assert half is not None
    assert (half.listing, half.unanswered) == (listing(PROJECT), "who is the patron")
    assert half.decision.answerable

    half = one_half(found("both"), (known, empty), holds, CUT)
    assert half == replace(known, unanswered="which are from 1999")

    assert one_half(found("both"), (listed, known), holds, CUT) is None
    assert one_half(found("both"), (empty, patron), holds, CUT) is None


def test_a_summary_that_the_indexer_wrote_is_never_quoted(tmp_path: Path) -> None:
    index = small_index(
        tmp_path,
        page("posts/all.md", "All posts.", generated=True),
        page("posts/tides.md", "Tides come twice a day."),
    )
    summary, tides = (
        Hit(passage=each, score=1.0, cosine=None, coverage=1.0)
        for pages in index.pages
        for each in pages.passages
    )
    half = replace(found("how often do tides come"), unanswered="who is the patron")
    finished = Finished(finish_reason="stop", input_tokens=9, output_tokens=1, cached_tokens=0)
    try:
        for hits, quoted in (((summary,), False), ((summary, tides), True)):
            evidence = Evidence(hits=hits, dense=False)
            events = Found(index=index, retrieved=replace(half, evidence=evidence)).quoted_half(
                Turn("en"), finished
            )
            said = "".join(event.content for event in events if isinstance(event, Chunk))
            assert bool(events) is quoted
            assert ("“Tides come twice a day.” [1]" in said) is quoted
            assert "All posts" not in said
    finally:
        index.close()


@pytest.mark.parametrize(
    ("question", "answer", "left"),
    [
        ("¿Cuántas bibliotecas usan Faro y cuántos libros tienen?", "11 bibliotecas usan Faro. [1]",
         ("cuántos libros tienen",)),
        ("¿Cuántos libros tienen y cuántas bibliotecas usan Faro?", "Lo usan once bibliotecas [1].",
         ("Cuántos libros tienen",)),
        ("Who made it and how many books do they lend?", "Ane did [12].",
         ("how many books do they lend",)),
        # The noun in the other number, a number for each part, none at all: answered.
        ("Who made it and how many books do they lend?", "Ane, and it is not a book that they lend.", ()),
        ("¿Quién lo hizo y cuántos meses tardó?", "Ane, en menos de un mes.", ()),
        ("Who made it and how many stories are in it?", "Ane, with her own story.", ()),
        ("Who made it and how many stones are in it?", "Ane, with the first stone.", ()),
        ("Who made it and how many persons work there?", "Ane; two people [1].", ()),
        ("Who made it and how many persons work there?", "Ane; nobody does [1].", ()),
        ("How many boats and how many nets do they have?", "140 boats, 20 of the other [1].", ()),
        # An attribute that the answer does not give.
        ("¿Cuánto dura la auditoría y cuánto cuesta?", "Dura dos semanas [1].", ("cuánto cuesta",)),
        ("¿Cuánto dura la auditoría y cuánto cuesta?", "Dos semanas, y cuesta 900 € [1].", ()),
        # One question, or none that counts.
        ("How many books do they lend?", "Ane did [1].", ()),
        ("Who made it and how many are there?", "Ane did [1].", ()),
        ("Who made it and when was that?", "Ane did [1].", ()),
        ("Who made it and how many books do they lend?", "", ("how many books do they lend",)),
    ],
)  # fmt: skip
def test_a_count_that_an_answer_leaves_open(
    question: str, answer: str, left: tuple[str, ...]
) -> None:
    assert left_open(question, answer) == left


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("what does delivery cost", "what does delivery cost"),
        ("cuánto cuesta   el envío", "cuánto cuesta el envío"),
        ("who made ![x](http://evil.example/?q=1) C#", "who made x http evil example q 1 C#"),
        ("what is <img src=x onerror=y> [1]", "what is img src x onerror y 1"),
        ("when is version 3.2 due\u202e", "when is version 3.2 due"),
        ("why " + "very " * 40 + "so", "why" + " very" * 15 + "…"),
    ],
)
def test_the_visitors_words_come_back_as_words_only(part: str, said: str) -> None:
    assert in_plain_words(part) == said


def test_what_the_site_does_not_say_is_said_in_both_languages() -> None:
    assert phrases.remarks("en", (), "what it costs") == (
        "This site says nothing about “what it costs”.",
    )
    assert phrases.remarks("es", ("Kotlin", "C#")) == ("El sitio no menciona Kotlin, C#.",)
    assert phrases.remarks("en") == ()
    assert phrases.remarks("en", left_open=["how many books"]) == (
        "I have found nothing about “how many books”.",
    )
    assert phrases.remarks("es", left_open=["cuántos libros"]) == (
        "Sobre «cuántos libros» no he encontrado nada.",
    )
    assert "does not mention Kotlin.\n\n" in phrases.refusal("en", ["Trama"], [], ["Kotlin"])
