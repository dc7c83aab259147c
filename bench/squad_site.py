"""A site of a SQuAD-format file: each article a post, for benchmarks over longer texts than the sample's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.squad import Question, read_corpus, read_data, read_questions
from corpus.model import Language


def write_site(file: Path, folder: Path) -> Path:
    """`folder` with a post an article, its paragraphs under one title; the answer is `folder`."""
    for kind in ("projects", "docs", "posts"):
        (folder / kind).mkdir(parents=True)
    for number, article in enumerate(read_data(file)):
        title = str(article.get("title", f"Article {number + 1}")).replace("_", " ")
        text = "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])
        (folder / "posts" / f"{number:03}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
    return folder


def labelled(file: Path, questions: dict[Language, Path], count: int) -> list[dict[str, Any]]:
    """So many of their questions, evenly spread, as many of each language; any gold answer is the fact."""
    paragraphs, place = read_corpus(file)
    halves = []
    for turn, (language, path) in enumerate(questions.items()):
        own = [q for q in read_questions(path, paragraphs, place) if q.answers]
        spread = _spread(own, count // len(questions), turn / len(questions))
        halves.append([_entry(question, language) for question in spread])
    return [question for pair in zip(*halves, strict=True) for question in pair]


def _spread(questions: list[Question], count: int, shift: float) -> list[Question]:
    """Evenly over the file; `shift`, a part of a step, so that no two languages ask the same."""
    return [questions[int((n + shift) * len(questions) / count)] for n in range(count)]


def _entry(question: Question, language: Language) -> dict[str, Any]:
    facts = ["|".join(dict.fromkeys(answer.replace("|", " ") for answer in question.answers))]
    return {"question": question.text, "lang": language, "facts": facts}
