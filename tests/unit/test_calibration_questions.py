"""What a calibration is fitted on: made, shipped and labelled questions."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from bot.calibration.made import made_questions
from bot.calibration.questions import (
    ENOUGH_LABELLED,
    Question,
    QuestionsError,
    gather,
    holds,
    read_labelled,
    shipped,
    suited_to,
)
from corpus.text import content_words
from tests.small_index import Page, Part, page, small_index

ROOT = Path(__file__).resolve().parents[2]


def test_the_shipped_set_is_large_and_in_both_languages() -> None:
    found = shipped()
    assert set(found) == {"far", "near"}
    for negatives in found.values():
        languages = Counter(negative.lang for negative in negatives)
        assert sum(languages.values()) >= 60
        assert min(languages["en"], languages["es"]) >= 30
        assert all(negative.terms for negative in negatives)
        # A term without content words would never leave a question out.
        assert all(content_words(term) for n in negatives for term in n.terms)
    texts = [negative.ask for negatives in found.values() for negative in negatives]
    assert len(set(texts)) == len(texts)


def test_the_shipped_set_has_no_question_of_the_evaluation() -> None:
    evaluated = "\n".join(p.read_text("utf-8") for p in (ROOT / "tests/eval").glob("*.yaml"))
    assert evaluated
    asked = [negative.ask for negatives in shipped().values() for negative in negatives]
    assert [ask for ask in asked if ask in evaluated] == []


def test_what_the_content_may_answer_is_left_out(tmp_path: Path) -> None:
    pages = (
        page("posts/a.md", "We moved to snowflake. A cup of tea."),
        page("posts/b.md", "The world is round."),
    )
    with closing(small_index(tmp_path, *pages)) as index:
        texts = [question.text for question in suited_to(index)]
    assert not [text for text in texts if "Snowflake" in text]
    # Both words stand in the content, not in one passage.
    assert "Which team won the 1998 football world cup?" in texts
    assert len(texts) == sum(map(len, shipped().values())) - 1


def test_terms_are_compared_as_the_search_compares_words(tmp_path: Path) -> None:
    with closing(small_index(tmp_path, page("posts/a.md", "Raíz CUADRADA; C++."))) as index:
        assert holds(index, "raiz cuadrada")
        assert holds(index, "C++")
        assert not holds(index, "raiz cubica")
        assert not holds(index, "the of")


def site(folder: Path, headings: int = 1) -> list[str]:
    parts = tuple(
        Part(f"text {n}", heading=f"Work — Heading {n}?", anchor=str(n)) for n in range(headings)
    )
    pages = (
        Page("projects/shop.md", parts, title="The shop"),
        Page("projects/shop-es.md", (Part("texto"),), title="La tienda", lang="es"),
        Page("docs/all.md", (Part("all"),), title="Everything", generated=True),
    )
    with closing(small_index(folder, *pages)) as index:
        return made_questions(index)


def test_titles_and_headings_are_asked_in_both_languages(tmp_path: Path) -> None:
    found = site(tmp_path)
    assert len(found) == len(set(found))
    for name in ("The shop", "La tienda", "Heading 0"):
        assert len([question for question in found if name in question]) >= 2
    assert any(question.startswith("¿") for question in found)
    assert not [q for q in found if "Everything" in q or "Work" in q or "??" in q]


def test_a_heading_of_many_pages_is_asked_for_with_its_page(tmp_path: Path) -> None:
    pages = [
        Page(
            f"posts/{n}.md",
            (Part("x", heading="Usage"), Part("y", heading=f"Only {n}")),
            title=f"T{n}",
        )
        for n in range(3)
    ]
    with closing(small_index(tmp_path, *pages)) as index:
        found = made_questions(index)
    assert len([question for question in found if "Usage" in question]) == 6
    assert not [q for q in found if "Usage" in q and not any(f"T{n}" in q for n in range(3))]
    assert [q for q in found if "Only" in q and not any(f"T{n}" in q for n in range(3))]


def test_a_large_site_is_thinned_evenly(tmp_path: Path) -> None:
    found = site(tmp_path, 500)
    assert len(found) == 240
    numbers = [int(word) for q in found for word in q.replace("?", " ").split() if word.isdigit()]
    assert min(numbers) < 10
    assert max(numbers) > 490


def test_the_evaluation_files_format_is_read() -> None:
    found = read_labelled(ROOT / "tests/eval/gate.yaml")
    assert len(found) > 200
    assert {question.label for question in found} == {"answerable", "far", "near"}
    assert {question.origin for question in found} == {"owner"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no list `questions`"),
        ("questions: 3", "not a list"),
        ("other: []", "no list `questions`"),
        ("questions: [{label: far}]", "entry 1 has no `question`"),
        ("questions: [{question: a, label: far}, {question: b, label: nope}]", "entry 2 has label 'nope'"),
        ("questions: [just text]", "entry 1 has no `question`"),
        ("questions: [", "no list `questions`"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(QuestionsError, match=said) as error:
        read_labelled(path)
    assert str(path) in str(error.value)


def test_the_owners_label_goes_before_any_other(tmp_path: Path) -> None:
    text = "What is the capital of mongolia?"
    mine = Question(text=text, label="answerable", origin="owner")
    with closing(small_index(tmp_path, page("posts/a.md", "x", title="A"))) as index:
        found = gather(index, [mine])
    assert [q for q in found if q.text.casefold() == text.casefold()] == [mine]
    assert {q.origin for q in found} == {"owner", "made", "shipped"}


def test_with_enough_labelled_ones_none_are_made(tmp_path: Path) -> None:
    mine = [
        Question(text=f"q{n}?", label="answerable", origin="owner") for n in range(ENOUGH_LABELLED)
    ]
    with closing(small_index(tmp_path, page("posts/a.md", "x", title="A"))) as index:
        assert {q.origin for q in gather(index, mine)} == {"owner", "shipped"}
        assert {q.origin for q in gather(index, mine[1:])} == {"owner", "shipped", "made"}
