"""The chain behind the model: the visitor's numbers, one citation at least, and a marked end."""

from __future__ import annotations

import pytest

from bot.chat.context import Context
from bot.chat.phrases import UNSURE
from bot.chat.speech import Speech
from corpus.model import Chunk
from corpus.reader import Passage
from tests.small_index import page

TEXTS = ("The harbour café sells bread.", "Customers pay with Stripe.", "It is hosted on Hetzner.")
DOCUMENT = page("projects/shop.md").document()


def _passages(*texts: str) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            chunk_id=n,
            document=DOCUMENT,
            chunk=Chunk(heading="", anchor="", text=text, ordinal=n),
        )
        for n, text in enumerate(texts)
    )


CONTEXT = Context(prefix=_passages(*TEXTS), found=(2, 3))


def whole(passage: Passage) -> str:
    return passage.chunk.text


def say(speech: Speech, *pieces: str) -> str:
    return "".join(map(speech.feed, pieces)) + speech.close()


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_models_numbers_become_the_visitors(size: int) -> None:
    speech = Speech(CONTEXT, "en")
    answer = "Customers pay with Stripe [2]. It is hosted on Hetzner [3]."
    shown = say(speech, *(answer[n : n + size] for n in range(0, len(answer), size)))
    assert shown == "Customers pay with Stripe [1]. It is hosted on Hetzner [2]."
    assert speech.cited == (1, 2)
    assert speech.said == shown


def test_a_passage_of_the_page_that_was_not_found_has_a_number_too() -> None:
    speech = Speech(CONTEXT, "en")
    assert say(speech, "The harbour café sells bread [1].") == "The harbour café sells bread [3]."


def test_an_answer_without_number_gets_the_passage_that_supports_it() -> None:
    assert say(Speech(CONTEXT, "en"), "It is hosted on Hetzner.").endswith(" [2]")


def test_an_invention_ends_the_answer_and_the_source_completes_it() -> None:
    speech = Speech(CONTEXT, "en")
    shown = "".join(map(speech.feed, ("Customers pay with ", "Stripe and ", "PayPal", " [2].")))
    assert "PayPal" not in shown
    assert speech.stopped
    assert speech.feed(" More about it.") == ""
    end = speech.completed(whole)
    assert end.endswith("“Customers pay with Stripe.” [1]")
    assert speech.said == shown + end


def test_an_answer_in_the_other_language_shows_nothing() -> None:
    speech = Speech(CONTEXT, "es")
    assert say(speech, "The customers of the shop pay with Stripe.") == ""
    assert speech.foreign
    assert speech.completed(whole).startswith("La fuente dice: «Customers pay with Stripe.» [1]")


def test_hidden_characters_of_the_model_are_not_passed_on() -> None:
    shown = say(Speech(CONTEXT, "en"), "Customers pay\u200b with\u202e Stripe [2].")
    assert shown == "Customers pay with Stripe [1]."


def test_without_passages_nothing_is_checked() -> None:
    assert say(Speech(Context(), "en"), "Paris is in France.") == "Paris is in France."


@pytest.mark.parametrize("answer", ["[1]", " [1][2]\n", "*[2]*."])
def test_an_answer_of_citations_alone_is_not_shown(answer: str) -> None:
    speech = Speech(CONTEXT, "en")
    assert say(speech, answer) == ""
    assert speech.wordless
    assert not speech.declined


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("1. [1] 2. [1] 3. [2]\n4.", ""),
        ("1.\n2.\n3)", ""),
        ("1. bread\n2. Stripe", "1. bread\n2. Stripe [2]"),
        ("2019 [1]", "2019 [1]"),
    ],
)
def test_a_list_of_numbers_alone_is_not_shown(answer: str, shown: str, size: int) -> None:
    texts = ("In 2019 it began with bread.", "Customers pay with Stripe.")
    speech = Speech(Context(prefix=_passages(*texts), found=(1,)), "en")
    said = say(speech, *(answer[n : n + size] for n in range(0, len(answer), size)))
    assert said == speech.said == shown
    assert speech.wordless is (shown == "")


def test_a_citation_before_the_first_word_is_replaced_by_one_that_was_checked() -> None:
    speech = Speech(CONTEXT, "en")
    assert say(speech, "[1] ", "It is hosted on Hetzner.") == "It is hosted on Hetzner. [2]"
    assert not speech.wordless


@pytest.mark.parametrize(
    ("answer", "bare"),
    [("Stripe [1].", True), ("2019", True), ("12 EUR al mes", False), ("", False), ("[1]", False)],
)
def test_an_answer_of_a_word_or_two_is_bare(answer: str, bare: bool) -> None:
    speech = Speech(CONTEXT, "es", question="¿2019 o 12 EUR al mes?")
    say(speech, answer)
    assert speech.bare == bare


def test_a_bare_answer_is_completed_from_the_passage_it_cites() -> None:
    speech = Speech(CONTEXT, "en")
    assert say(speech, "On Hetzner [3].") == "On Hetzner [2]."
    assert speech.completed(whole) == f"\n\nThe source says: “{TEXTS[2]}” [2]"


def test_a_number_without_citation_gets_the_passage_that_has_it_in_words() -> None:
    texts = (
        "It takes seconds.",
        "A release is undone in four seconds.",
        "Two days and 40 seconds.",
    )
    speech = Speech(Context(prefix=_passages(*texts), found=(1, 2)), "en", question="How long?")
    assert say(speech, "4 seconds") == "4 seconds [2]"


def test_the_prompts_last_line_is_not_shown() -> None:
    speech = Speech(CONTEXT, "en", echoes=["(Look at [2], answer in English.)"])
    assert say(
        speech, "They pay with Stripe [2]. (Look at [2], ", "answer in English.)"
    ).strip() == ("They pay with Stripe [1].")


@pytest.mark.parametrize(
    ("answer", "begins"),
    [
        ("It is used in the ports of [1].", f"{UNSURE['en']} The closest it says: “"),
        ("The shop has Kotlin [1].", f"{UNSURE['en']} The closest it says: “"),
        ("They pay with Stripe and Kotlin [1].", "The source says: “"),
        ("Customers pay there. It has Kotlin.", "The source says: “"),
    ],
)  # fmt: skip
def test_where_nothing_was_answered_before_the_stop_that_is_said(answer: str, begins: str) -> None:
    speech = Speech(CONTEXT, "en", question="Which ports does the shop have?")
    say(speech, answer)
    assert speech.stopped
    assert speech.completed(whole).lstrip(" …\n").startswith(begins)
