"""How often the guard stops what is right: the sample site's own sentences as answers."""

from __future__ import annotations

import pytest

from bot.chat.guard.guard import Guard, Stop
from tests.unit.sample_pages import names, page, sentences, twins

# Sentences of a page that say what their translation does not; to stop them is right.
SAID_ONCE = {
    "*Marea* is Spanish for tide.",
    "Fridays are ours.",
    "**One day in ten** goes to open source, chiefly tidecalc and Contraste.",
    "Our usual choice is Go or Python at the back, Astro and plain CSS at the front, and SQLite "
    "until it hurts.",
}
MOST_FALSE_STOPS = 0.03


def stop(source: str, sentence: str) -> Stop | None:
    guard = Guard(page(source), "")
    shown = guard.feed(sentence) + guard.close()
    assert guard.stopped is not None or shown == sentence
    return guard.stopped


@pytest.mark.parametrize("name", names())
def test_a_page_never_contradicts_itself(name: str) -> None:
    stops = {sentence: found for sentence in sentences(name) if (found := stop(name, sentence))}
    assert stops == {}


def test_there_are_enough_sentences_to_say_something() -> None:
    assert sum(len(sentences(name)) for name in names()) > 800
    assert sum(len(sentences(name)) for name, _ in twins()) > 150


def test_sentences_of_a_page_over_its_translation_rarely_stop() -> None:
    """Measured: 3 of 176, «Tab» twice (the other says «tabulador») and «Eighteen months»."""
    asked = [(other, text) for name, other in twins() for text in sentences(name)]
    asked = [(other, text) for other, text in asked if text not in SAID_ONCE]
    stops = [(text, found) for other, text in asked if (found := stop(other, text))]
    assert len(stops) <= MOST_FALSE_STOPS * len(asked), stops


def test_sentences_over_another_page_do_stop() -> None:
    """The check can fail: over a page about something else most facts are unsupported."""
    facts = [text for text in sentences("docs/cv") if any(char.isdigit() for char in text)]
    stops = [text for text in facts if stop("posts/enlaces-de-salto-y-foco", text)]
    assert len(stops) >= 0.9 * len(facts) > 5
