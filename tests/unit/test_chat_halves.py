"""Questions that the site answers in part, and technologies it never mentions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.chat import phrases
from bot.chat.gate import Decision
from bot.chat.halves import in_plain_words, one_half, without_unmentioned
from bot.chat.mentions import unmentioned
from bot.chat.retrieved import Retrieved
from bot.chat.search import Evidence

CUT = 0.4
SURE, DOUBTFUL, NEVER = 3.0, -0.6, -3.0  # log odds: 0.95, 0.35, 0.05


def found(query: str, logit: float = SURE, *, dense: bool = True) -> Retrieved:
    decision = Decision(answerable=logit > 0, logit=logit)
    return Retrieved(
        query=query, vector=None, evidence=Evidence(hits=(), dense=dense), decision=decision
    )


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
    assert "does not mention Kotlin.\n\n" in phrases.refusal("en", ["Trama"], [], ["Kotlin"])
