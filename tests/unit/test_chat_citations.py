"""Citations: known numbers pass, others go, links never pass, and pieces of any size say the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chat.citations import CitationFilter
from tests.cpu_limit import at_most_cpu_seconds

EVIDENCE = "Docs at https://ok.example/a and http://ok.example/b?c=d."


def run(*pieces: str, passages: int = 3) -> tuple[str, set[int]]:
    shown = CitationFilter(passages, EVIDENCE)
    text = "".join(shown.feed(piece) for piece in pieces) + shown.close()
    return text, shown.cited


CASES = {
    "Con Stripe [1].": ("Con Stripe [1].", {1}),
    "a [9].": ("a.", set()),
    "a [0].": ("a.", set()),
    "a [1, 9].": ("a [1].", {1}),
    "a [1,2;3]": ("a [1][2][3]", {1, 2, 3}),
    "a [1-3]": ("a [1][2][3]", {1, 2, 3}),
    "a [2–3]": ("a [2][3]", {2, 3}),
    "a [3-1]": ("a [3][1]", {1, 3}),
    "a [1-99]": ("a [1]", {1}),
    "a [1 - 2]": ("a [1][2]", {1, 2}),
    "a [ 1 ; 2 ]": ("a [1][2]", {1, 2}),
    "a [1,]": ("a [1]", {1}),
    "a [1][2][9]": ("a [1][2]", {1, 2}),
    "a [1] [9] [2].": ("a [1] [2].", {1, 2}),
    "a [1234567].": ("a.", set()),
    "a [1, 1]": ("a [1]", {1}),
    "a [9] b": ("a b", set()),
    "a[9]": ("a", set()),
    "[note] [x1] []": ("[note] [x1] []", set()),
    "[label](http://evil.example)": ("label", set()),
    "![image](http://evil.example/x.png)": ("image", set()),
    "x [1](http://evil.example) y": ("x [1] y", {1}),
    "x [9](http://evil.example) y": ("x y", set()),
    "[a](javascript:alert(1))": ("[a] (javascript:alert(1))", set()),
    "[a](//evil.example)": ("a", set()),
    "[https://evil.example](https://evil.example)": ("", set()),
    "see https://evil.example/x.": ("see .", set()),
    "see https://ok.example/a.": ("see https://ok.example/a.", set()),
    "see http://ok.example/b?c=d, yes": ("see http://ok.example/b?c=d, yes", set()),
    "HTTPS://EVIL.EXAMPLE": ("", set()),
    "xhttps://evil.example y": ("xhttps y", set()),
    "javascript://evil": ("javascript", set()),
    "[docs](https://ok.example/a)": ("docs", set()),
    "a [1": ("a", set()),
    "a [1, 2": ("a", set()),
    "a [": ("a [", set()),
    "a [lab": ("a [lab", set()),
    "a [lab](http://evil.exa": ("a lab", set()),
    "a [2](http://evil.exa": ("a [2]", {2}),
    "a htt": ("a htt", set()),
    "a https://evil": ("a ", set()),
    "wow!": ("wow!", set()),
    "end  ": ("end  ", set()),
    "": ("", set()),
    "a\n[1]\n- b [2]\n": ("a\n[1]\n- b [2]\n", {1, 2}),
    "ratio 1:2, at 12:30": ("ratio 1:2, at 12:30", set()),
    "a [1](see below) b": ("a [1] b", {1}),
    "a [" + "1" * 300 + "] b": ("a " + "1" * 300 + "] b", set()),
    "[" + "x" * 300 + "](http://evil.example/y)": ("[" + "x" * 300 + "] ()", set()),
    "[x](" + "y" * 300 + ")": ("[x] (" + "y" * 300 + ")", set()),
}  # fmt: skip


@pytest.mark.parametrize("text", CASES, ids=lambda text: text[:40])
def test_what_is_left_of_a_text(text: str) -> None:
    """X13"""
    assert run(text) == CASES[text]


@pytest.mark.parametrize("text", CASES, ids=lambda text: text[:40])
def test_pieces_of_any_size_give_the_same(text: str) -> None:
    assert run(*text) == CASES[text]
    for cut in range(1, min(len(text), 40)):
        assert run(text[:cut], text[cut:]) == CASES[text]


PIECES = st.sampled_from(
    ["[", "]", "(", ")", "1", "9", " ", ",", "-", "–", "h", "t", "tps", "https://", "://", ":", "/", "a", "!",
     "\n", "[1]", "](", " [", "https://ok.example/a", ".", "\t", "[2, 3]", "ñ", "http"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=24))
def test_any_text_split_anywhere_gives_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    whole = run(text)
    assert run(*pieces) == whole
    assert run(*text) == whole


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=24), st.integers(0, 4))
def test_every_number_left_is_a_passage_and_no_link_is_left(
    pieces: list[str], passages: int
) -> None:
    """X13: fake links = 0"""
    text, cited = run(*pieces, passages=passages)
    left = {int(n) for n in re.findall(r"\[(\d+)\]", text)}
    assert left <= cited <= set(range(1, passages + 1))
    assert "](" not in text
    for address in re.findall(r"https?://[^\s<>\"')\[\]!]+", text):
        assert address.startswith(("https://ok.example/a", "http://ok.example/b"))


@pytest.mark.parametrize(
    "word", ["which", "Bach", "the", "match.", "sí,", "(a)", "50%", "Hash", "got", "a]b"]
)
def test_a_word_passes_at_once(word: str) -> None:
    shown = CitationFilter(3, "")
    assert shown.feed(f"a {word}") == f"a {word}"


@pytest.mark.parametrize(
    ("pieces", "passed"),
    [
        (["a [", "b", "]", " c"], ["a", "", "", " [b] c"]),
        (["a h", "e"], ["a", " he"]),
        (["a http", "x"], ["a", " httpx"]),
        (["a !", "b"], ["a", " !b"]),
        (["a [1", "]", " b"], ["a", "", " [1] b"]),
        (["a [9", "]", "."], ["a", "", "."]),
        (["a:", "b"], ["a", ":b"]),
        (["a b ", "c"], ["a b", " c"]),
    ],
)
def test_what_is_held_passes_as_soon_as_it_is_certain(pieces: list[str], passed: list[str]) -> None:
    shown = CitationFilter(3, "")
    assert [shown.feed(piece) for piece in pieces] == passed
    assert shown.close() == ""


HOSTILE = ["[", "]", "(", "h", "https://", "[1", "[1,", "[a](", "![", "[ ", " ", "!", "://", "[1]", "[a](b",
           "\t", "1", ":", "[\n", "[1](", "](", "h:", "[[", "-", ", "]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_the_work_is_linear(part: str) -> None:
    """B12"""
    with at_most_cpu_seconds(20):  # the slowest takes 0.5, quadratic work minutes
        text = (part * 100_000)[:100_000]
        run(text)
        run(*(text[start : start + 500] for start in range(0, len(text), 2000)))
        run(*text[:1500])
        run("[" + part * 20_000)
        run("[a](" + part * 20_000)


def test_what_is_held_is_bounded() -> None:
    shown = CitationFilter(3, "")
    for part in HOSTILE:
        for _ in range(500):
            shown.feed(part)
            assert len(shown._held) <= 600
