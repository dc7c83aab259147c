"""Page -> proxy -> bot -> streamed answer, in a real Chromium and through the examples' own servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import pytest

from tests.fake_llama import Reply
from tests.patience import PATIENCE_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.examples.visitor import Visitor
    from tests.fake_llama import FakeLlama

pytestmark = [pytest.mark.examples, pytest.mark.browser]

KNOWN = "How do customers pay in the shop?"
PIECES = (
    "In the shop customers pay ", "by card or in cash, ", "and they get a letter ",
    "when the parcel is ", "on its way.",
)  # fmt: skip


class Dictated(Sequence[str]):
    """Pieces of text of which the model says each only when it is told to."""

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        self._said = [threading.Event() for _ in pieces]

    def say(self, number: int) -> None:
        """Let this piece out."""
        self._said[number].set()

    def __iter__(self) -> Iterator[str]:
        for piece, said in zip(self._pieces, self._said, strict=True):
            if said.wait(PATIENCE_SECONDS):
                yield piece

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._pieces[index]


def test_sources_come_before_the_words_and_the_words_as_the_model_says_them(
    visit: Callable[..., Visitor], answering_site: str, llama: FakeLlama
) -> None:
    """Each piece is seen before the next but one is said: the bot itself may hold the last words back."""
    words = Dictated(*PIECES)
    llama.enqueue(Reply(text=words))
    chat = visit(answering_site).open().ask(KNOWN)
    chat.cards.filter(has_text="Clothes shop").wait_for()
    assert chat.text.inner_text() == ""
    for number, piece in enumerate(PIECES[:-1]):
        words.say(number)
        if number:
            chat.wait_text(PIECES[number - 1].strip())
        assert PIECES[number + 1].strip() not in chat.text.inner_text(), piece
    assert llama.open_streams == 1
    words.say(len(PIECES) - 1)
    chat.settled()
    assert chat.text.inner_text().startswith("".join(PIECES).removesuffix("."))
    assert chat.page.locator(".fail").count() == 0


@pytest.mark.parametrize("leaves", ["stop", "close", "reload"])
def test_a_visitor_who_leaves_frees_the_model(
    visit: Callable[..., Visitor], answering_site: str, llama: FakeLlama, leaves: str
) -> None:
    before = llama.aborted
    llama.enqueue(Reply(text=("So far ", "so good."), hold=1))
    chat = visit(answering_site).open().ask(KNOWN)
    chat.wait_text("So far")
    if leaves == "stop":
        chat.page.wait_for_timeout(400)  # sooner it is the second half of a double click
        chat.send.click()
        chat.settled()
        assert chat.text.inner_text().strip() == "So far"
    elif leaves == "close":
        chat.page.close()
    else:
        chat.page.reload()
    wait_until(lambda: llama.aborted == before + 1)
    wait_until(lambda: llama.open_streams == 0)


def test_a_visitor_who_leaves_before_the_first_word_frees_the_model_too(
    visit: Callable[..., Visitor], answering_site: str, llama: FakeLlama
) -> None:
    before = llama.aborted
    llama.enqueue(Reply(hold="headers"))
    chat = visit(answering_site).open().ask(KNOWN)
    wait_until(lambda: llama.open_streams == 1)
    chat.page.close()
    wait_until(lambda: llama.aborted == before + 1)


def test_one_chat_through_client_side_navigations_in_the_middle_of_an_answer(
    visit: Callable[..., Visitor], answering_site: str, llama: FakeLlama
) -> None:
    asked = len(llama.requests)
    words = Dictated("On the first page ", "and on ", "the next.")
    llama.enqueue(Reply(text=words))
    chat = visit(answering_site).open().ask(KNOWN)
    words.say(0)
    chat.wait_text("On the first page")
    chat.box.fill("my draft")
    chat.go_to("About", "About me")
    words.say(1)
    chat.wait_text("and on")
    assert (chat.bubbles, chat.box.input_value()) == (1, "my draft")
    chat.go_to("Home", "My portfolio")
    words.say(2)
    chat.settled()
    assert chat.text.inner_text().startswith("On the first page and on the next.")
    assert chat.panel.evaluate("node => getComputedStyle(node).position") == "fixed"
    chat.page.go_back()
    chat.page.locator("h1").filter(has_text="About").wait_for()
    assert chat.bubbles == 1
    assert len(llama.requests) == asked + 1
