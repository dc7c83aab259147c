"""`bench.unanswerable` tells apart what stopped a question: gate, model, guard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.squad import Question, read_corpus, read_questions
from bench.unanswerable import Asked, main, spread, summary
from bot.chat.prompt import NO_ANSWER
from tests.fake_llama import FakeLlama, Reply

LIGHTHOUSE = "The lighthouse of Oia was built in 1852 by the engineer Prado. It burns paraffin."
BAKERY = "The bakery of Lestro opens at seven and sells rye bread."


def squad(*questions: tuple[str, str, str | None]) -> dict[str, Any]:
    """A SQuAD 2.0 file of two articles; questions are (paragraph, question, answer or None)."""
    data = []
    for context in (LIGHTHOUSE, BAKERY):
        qas = [
            {
                "id": f"q{number}",
                "question": question,
                "is_impossible": answer is None,
                "answers": [] if answer is None else [{"text": answer, "answer_start": 0}],
            }
            for number, (where, question, answer) in enumerate(questions)
            if where == context
        ]
        data.append({"title": "t", "paragraphs": [{"context": context, "qas": qas}]})
    return {"version": "v2.0", "data": data}


FILE = squad(
    (LIGHTHOUSE, "When was the lighthouse of Oia built?", "1852"),
    (LIGHTHOUSE, "Who built the lighthouse of Oia?", "Prado"),
    (LIGHTHOUSE, "What does the lighthouse of Oia burn in winter?", None),
    (LIGHTHOUSE, "Who painted the lighthouse of Oia?", None),
    (BAKERY, "zxq wvu kjh?", None),
)


@pytest.fixture
def chat() -> Iterator[FakeLlama]:
    with FakeLlama() as fake:
        yield fake


@pytest.fixture
def embed() -> Iterator[FakeLlama]:
    with FakeLlama() as fake:
        fake.vector_of = along
        yield fake


def along(text: str) -> list[float]:
    """One direction for what is about the lighthouse, one for the bakery, one for the rest."""
    vector = [0.0] * 384
    vector[0 if "lighthouse" in text else 1 if "bakery" in text else 2] = 1.0
    return vector


def run(
    folder: Path, chat: FakeLlama, embed: FakeLlama, capsys: pytest.CaptureFixture[str], *more: str
) -> str:
    squad_file, config = folder / "squad.json", folder / "bot.yaml"
    squad_file.write_text(json.dumps(FILE))
    config.write_text(yaml.safe_dump({"embeddings": {"endpoint": embed.url}}))
    main(["--corpus", str(squad_file), "--questions", str(squad_file), "--chat", chat.url,
          "--config", str(config), *more])  # fmt: skip
    return capsys.readouterr().out


def test_each_stage_is_counted_apart(
    tmp_path: Path, chat: FakeLlama, embed: FakeLlama, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.enqueue(
        Reply(text=("The lighthouse was built in 1852 [1].",)),
        Reply(text=("The engineer of the lighthouse was named ", "Fernández ", "of Vigo [1].")),
        Reply(text=(NO_ANSWER,)),
        Reply(text=("The lighthouse burns paraffin [1].",)),
    )
    found = json.loads(run(tmp_path, chat, embed, capsys, "--json"))
    possible, impossible = found["possible"], found["impossible"]
    assert (possible["n"], impossible["n"]) == (2, 3)
    assert (possible["answered"], possible["guard"]) == (0.5, 0.5)
    assert sum(possible["guard_kinds"].values()) == 1
    # The completed answer quotes the passage, which names Prado.
    assert possible["holds_answer"] == 1.0
    for stage in ("gate", "model", "answered"):
        assert impossible[stage] == pytest.approx(1 / 3, abs=1e-3)
    assert impossible["guard"] == impossible["failed"] == impossible["other"] == 0
    assert len(chat.requests) == 4


def test_a_model_that_is_away_counts_as_failed(
    tmp_path: Path, chat: FakeLlama, embed: FakeLlama, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.loading = True
    found = json.loads(run(tmp_path, chat, embed, capsys, "--json"))
    assert found["possible"]["failed"] == 1
    assert found["possible"]["answered"] == 0


def test_the_table_names_every_stage(
    tmp_path: Path, chat: FakeLlama, embed: FakeLlama, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(tmp_path, chat, embed, capsys, "--limit", "1")
    for said in ("possible (1)", "impossible (1)", "refused by the gate", "declined by the model",
                 "ended by the guard", "answered", "failed"):  # fmt: skip
        assert said in printed


def test_a_file_without_impossible_ones_is_read_too(tmp_path: Path) -> None:
    """XQuAD has neither `is_impossible` nor an empty list of answers."""
    path = tmp_path / "xquad.json"
    qas = [{"id": "a", "question": "When?", "answers": [{"text": "1852", "answer_start": 3}]}]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "x 1852", "qas": qas}]}]}))
    (question,) = read_questions(path, *read_corpus(path))
    assert (question.impossible, question.answers) == (False, ("1852",))
    found = summary([question], [Asked(outcome="gate", kind=None, holds_answer=False)])
    assert found["possible"]["gate"] == 1
    assert found["impossible"]["n"] == 0


def test_a_limit_takes_both_kinds_evenly() -> None:
    questions = [
        Question(id=str(n), text="", paragraph=0, article=0, impossible=n % 4 == 0)
        for n in range(400)
    ]
    chosen = spread(questions, 10)
    assert [question.impossible for question in chosen] == [False] * 10 + [True] * 10
    assert [int(question.id) for question in chosen[10:]] == list(range(0, 400, 40))
    assert len(spread(questions, None)) == 400
