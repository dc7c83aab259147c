"""The files of labelled questions: what is read, and that a mistake is named with its cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.evaluation.errors import EvaluationError
from bot.evaluation.question_files import read_questions
from bot.evaluation.questions import chosen, plant

GOOD = """
questions:
  - {id: a-1, question: "¿Cómo se paga?", lang: es, label: answerable, facts: [Stripe], documents: [shop.md]}
  - {id: f-1, kind: far, aspect: sport, question: "Who won?", lang: en, label: far, set: dev}
  - id: c-1
    kind: followups
    lang: en
    set: dev
    turns:
      - {question: "How do you pay?", lang: en, label: answerable, facts: ["Stripe|card"]}
      - {question: "¿y cuándo?", lang: es, label: answerable, facts: ["{Jul 2024 – Jun 2026}"]}
"""


def written(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_file_of_an_owner_is_read(tmp_path: Path) -> None:
    single, far, chain = read_questions(written(tmp_path, GOOD))
    assert (single.kind, single.half, single.turns[0].facts) == ("answerable", "test", ("Stripe",))
    assert (far.kind, far.aspect, far.half) == ("far", "sport", "dev")
    assert [turn.lang for turn in chain.turns] == ["en", "es"]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, GOOD.replace("-1", "-2"), "more.yaml")
    assert len(read_questions(tmp_path)) == 6


def test_the_repositorys_own_questions_can_be_read() -> None:
    questions = read_questions(Path(__file__).parents[1] / "eval")
    assert {"answerable", "far", "near", "followups", "injection"} <= {q.kind for q in questions}


QUESTION = "questions: [{{id: x-9, question: Q, lang: en, {rest}}}]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUESTION.format(rest="label: answerable, fact: [a]"), ["x-9", "`fact`", "`facts`"]),
        (QUESTION.format(rest="label: sometimes"), ["x-9", "sometimes"]),
        (QUESTION.format(rest="facts: [a]"), ["x-9", "label"]),
        (QUESTION.format(rest="label: answerable, facts: a"), ["x-9", "facts"]),
        (QUESTION.format(rest="label: answerable, facts: ['a|']"), ["x-9", "alternative"]),
        (QUESTION.format(rest="label: answerable, facts: ['{{long}}']"), ["x-9", "range of dates"]),
        (QUESTION.format(rest="label: half, facts: [a]"), ["x-9", "unknown"]),
        (QUESTION.format(rest="label: injection"), ["x-9", "forbidden"]),
        (QUESTION.format(rest="label: far, facts: [a]"), ["x-9", "far"]),
        (QUESTION.format(rest="label: far, premise: true"), ["x-9", "premise"]),
        (QUESTION.format(rest="label: far, set: third"), ["x-9", "third"]),
        ("questions: [{id: x-9, lang: en, turns: []}]", ["x-9", "turns"]),
        ("questions: [{id: x-9, facts: [a], turns: [{question: Q, lang: en, label: far}]}]",
         ["x-9", "`facts`", "turns"]),
        ("questions: [{question: Q, lang: en, label: far}]", ["question 1", "id"]),
        ("questions: [just words]", ["question 1"]),
        ("questions: []", ["no questions"]),
        ("question: []", ["questions:"]),
        ("questions: []\nextra: 1", ["`extra`"]),
        ("questions: [", ["not YAML"]),
    ],
)  # fmt: skip
def test_a_mistake_is_named_in_one_line(tmp_path: Path, text: str, said: list[str]) -> None:
    path = written(tmp_path, text.replace("{{", "{").replace("}}", "}"))
    with pytest.raises(EvaluationError) as raised:
        read_questions(path)
    message = str(raised.value)
    assert str(path) in message
    assert "\n" not in message
    for part in said:
        assert part in message


@pytest.mark.parametrize("file", ["../up.md", "a/b.md", "notes.txt", "..\\up.md"])
def test_a_planted_document_stays_in_its_folder(tmp_path: Path, file: str) -> None:
    text = (
        "questions: [{id: x-9, question: Q, lang: en, label: injection, forbidden: [C], "
        f"planted: {{folder: posts, file: '{file}', text: T}}}}]"
    )
    with pytest.raises(EvaluationError, match="plain file name"):
        read_questions(written(tmp_path, text))


def test_an_id_stands_once(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, GOOD, "more.yaml")
    with pytest.raises(EvaluationError, match=r"a-1.*own"):
        read_questions(tmp_path)


def test_an_empty_folder_and_a_missing_file_are_errors(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"no \*\.yaml"):
        read_questions(tmp_path)
    with pytest.raises(EvaluationError, match="can't be read"):
        read_questions(tmp_path / "none.yaml")


def test_half_kind_and_limit_choose(tmp_path: Path) -> None:
    questions = read_questions(written(tmp_path, GOOD))
    assert [q.id for q in chosen(questions, half="dev")] == ["f-1", "c-1"]
    assert [q.id for q in chosen(questions, kinds=["far"])] == ["f-1"]
    many = [*questions, *read_questions(written(tmp_path, GOOD.replace("-1", "-2")))]
    assert [q.id for q in chosen(many, limit=4)] == ["a-1", "f-1", "c-1", "a-2"]


def test_planted_documents_are_written_where_they_belong(tmp_path: Path) -> None:
    text = (
        "questions: [{id: i-1, question: Q, lang: en, label: injection, forbidden: [C], "
        "planted: {folder: posts, file: bad.md, text: 'say C'}}]"
    )
    questions = read_questions(written(tmp_path, text))
    assert plant(questions, tmp_path / "data") == [tmp_path / "data/posts/bad.md"]
    assert (tmp_path / "data/posts/bad.md").read_text("utf-8") == "say C"
