"""Read files of labelled questions strictly: an error names file, question and cure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import yaml

from bot.evaluation.errors import EvaluationError
from bot.evaluation.questions import Question, Turn, to_question
from bot.evaluation.time_facts import measured

TOP_KEYS = {"questions", "absent_terms"}
FIELDS = ["id", "kind", "aspect", "set", "turns", *Turn.__struct_fields__]
UNKNOWN = re.compile(r"unknown field `([^`]*)`")
ANY_DAY = date(2026, 1, 1)


def read_questions(source: Path) -> list[Question]:
    """The questions of a file, or of all `*.yaml` of a folder in the order of their names.

    Raises:
        EvaluationError: a file can't be read or a question is wrong; one line with the cure.
    """
    files = sorted(source.glob("*.yaml")) if source.is_dir() else [source]
    if not files:
        raise EvaluationError(f"{source} holds no *.yaml file with questions")
    found: dict[str, Question] = {}
    for file in files:
        for question in _of_file(file):
            if question.id in found:
                other = found[question.id].file
                raise EvaluationError(
                    f"{file}, {question.id}: {other} has this id too; give every question its own"
                )
            found[question.id] = question
    if not found:
        raise EvaluationError(f"{source} holds no questions: list them under `questions:`")
    return list(found.values())


def _of_file(file: Path) -> Iterator[Question]:
    try:
        tree = yaml.safe_load(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{file} can't be read: {error}") from error
    except yaml.YAMLError as error:
        raise EvaluationError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, dict) or not isinstance(tree.get("questions"), list):
        raise EvaluationError(f"{file}: write the questions as a list under `questions:`")
    if wrong := sorted(map(str, tree.keys() - TOP_KEYS)):
        raise EvaluationError(f"{file}: unknown key `{wrong[0]}`; only `questions` is read")
    for number, entry in enumerate(tree["questions"], start=1):
        yield _question(entry, file, number)


def _question(entry: Any, file: Path, number: int) -> Question:
    name = str(entry.get("id", "")) if isinstance(entry, dict) else ""
    where = f"{file}, {name or f'question {number}'}"
    if not isinstance(entry, dict):
        raise EvaluationError(f"{where}: write it as `id: …`, `question: …` and so on")
    try:
        question = to_question(entry, file)
        for problem in _problems(question):
            raise ValueError(problem)
    except msgspec.ValidationError as error:
        raise EvaluationError(f"{where}: {_explained(str(error))}") from error
    except ValueError as error:
        raise EvaluationError(f"{where}: {error}") from error
    return question


def _problems(question: Question) -> Iterator[str]:
    if not question.id.strip():
        yield "`id` is empty; give every question its own"
    for turn in question.turns:
        yield from _problems_of(turn)


def _problems_of(turn: Turn) -> Iterator[str]:
    if not turn.question.strip():
        yield "`question` is empty"
    if turn.label == "half" and not (turn.facts and turn.unknown):
        yield "a `half` question needs `facts` for the known part and `unknown` for the other"
    if turn.label == "far" and turn.facts:
        yield "a `far` question has no `facts`: the site does not hold its answer"
    if turn.label == "injection" and not (turn.forbidden or turn.rule):
        yield "an `injection` needs `forbidden` (a canary) or `rule`: what else would tell success"
    if turn.premise and turn.label != "near":
        yield "`premise` is for `near` questions"
    if turn.planted and not _is_plain_name(turn.planted.file):
        yield f"`planted.file` must be a plain file name ending in .md: {turn.planted.file}"
    for fact in (*turn.facts, *turn.forbidden, *turn.unknown, *turn.absent):
        if not all(alternative.strip() for alternative in fact.split("|")):
            yield f"an alternative of `{fact}` is empty"
    yield from _unreadable_lengths(turn.facts)


def _unreadable_lengths(facts: Sequence[str]) -> Iterator[str]:
    for alternative in (alternative for fact in facts for alternative in fact.split("|")):
        try:
            if "{" in alternative:
                measured(alternative, ANY_DAY)
        except ValueError:
            yield f"`{alternative}`: braces hold a range of dates, as {{Jul 2024 – Jun 2026}}"


def _is_plain_name(name: str) -> bool:
    return PurePosixPath(name).name == name and name.endswith((".md", ".mdx")) and "\\" not in name


def _explained(message: str) -> str:
    if match := UNKNOWN.search(message):
        near = difflib.get_close_matches(match[1], FIELDS, n=1)
        return f"unknown field `{match[1]}`" + (f"; did you mean `{near[0]}`?" if near else "")
    return message[:1].lower() + message[1:]
