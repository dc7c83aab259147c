"""Checks that keep the sample site and its labelled questions (gate.yaml) honest."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.facts import folded as fold
from bot.evaluation.facts import holds
from tests.sample_site import (
    DATA,
    DOCUMENTS,
    FILES,
    READMES,
    by_file_name,
    folded,
    labelled,
    live,
    name,
    split,
)

README_MARKER = "MARKER-README-NOT-INDEXED"
DRAFT_MARKER = "MARKER-DRAFT-NOT-INDEXED"
COMMENT_MARKER = "MARKER-COMMENT-NOT-INDEXED"
EXPORT_MARKER = "MARKER-EXPORT-NOT-INDEXED"

SPANISH_WORDS = {
    "el",
    "la",
    "los",
    "las",
    "de",
    "que",
    "y",
    "en",
    "un",
    "una",
    "por",
    "con",
    "se",
    "del",
}
ENGLISH_WORDS = {
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "with",
    "on",
    "was",
    "are",
    "by",
}


def gate() -> dict[str, Any]:
    return labelled("gate")


def questions(label: str | None = None) -> list[dict[str, Any]]:
    return [q for q in gate()["questions"] if label in (None, q["label"])]


# --- the documents ---


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_frontmatter_is_complete(path: Path) -> None:
    meta, _ = split(path)
    assert meta["title"].strip()
    assert meta["description"].strip().endswith(".")
    assert meta["lang"] in {"en", "es"}
    assert isinstance(meta["date"], dt.date)
    assert meta["tags"]
    assert all(isinstance(tag, str) for tag in meta["tags"])
    if path.parent.name == "projects":
        assert meta["stack"]
        assert meta["status"]
        assert isinstance(meta["year"], int)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_declared_language_is_that_of_the_text(path: Path) -> None:
    meta, body = split(path)
    prose = re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1\s*$", " ", body)
    words = Counter(re.findall(r"[^\W\d_]+", prose.casefold()))
    spanish = sum(words[w] for w in SPANISH_WORDS)
    english = sum(words[w] for w in ENGLISH_WORDS)
    assert (spanish > 2 * english) if meta["lang"] == "es" else (english > 2 * spanish)


@pytest.mark.parametrize("path", live("projects") + live("posts"), ids=name)
def test_length(path: Path) -> None:
    words = len(split(path)[1].split())
    low, high = (350, 900) if path.parent.name == "projects" else (250, 700)
    assert low <= words <= high


def test_file_names_are_unique() -> None:
    assert len({p.name for p in DOCUMENTS}) == len(DOCUMENTS)


def test_counts_of_documents() -> None:
    projects, posts, docs = live("projects"), live("posts"), live("docs")
    assert len(projects) >= 7
    assert 1 <= sum(split(p)[0]["lang"] == "es" for p in projects) <= 2
    assert len(posts) >= 12
    assert {split(p)[0]["lang"] for p in posts} == {"en", "es"}
    assert len({split(p)[0]["date"].year for p in posts}) >= 4
    assert {p.name for p in docs} >= {
        "cv.mdx",
        "about.md",
        "sobre-nosotros.md",
        "contact.md",
        "services.md",
    }
    assert {p.parent for p in READMES} == {DATA, DATA / "projects"}


def test_translations_point_at_each_other() -> None:
    paired = {p.stem: split(p)[0] for p in DOCUMENTS if "translation" in split(p)[0]}
    for slug, meta in paired.items():
        other = paired[meta["translation"]]
        assert other["translation"] == slug
        assert {meta["lang"], other["lang"]} == {"en", "es"}
    assert sum(p.stem in paired for p in live("posts")) >= 6


def test_frontmatter_kinds() -> None:
    toml_posts = [p for p in live("posts") if p.read_text(encoding="utf-8").startswith("+++\n")]
    assert len(toml_posts) >= 2
    assert [p.name for p in DOCUMENTS if "url" in split(p)[0]] == ["contact.md"]
    assert sum(bool(split(p)[0].get("draft")) for p in DOCUMENTS) == 1


def test_markers_are_only_where_they_belong() -> None:
    def holders(marker: str) -> set[Path]:
        return {p for p in FILES if marker in p.read_text(encoding="utf-8")}

    assert holders(README_MARKER) == set(READMES)
    assert holders(DRAFT_MARKER) == {p for p in DOCUMENTS if split(p)[0].get("draft")}
    assert holders(COMMENT_MARKER) == {DATA / "docs" / "about.md", DATA / "docs" / "cv.mdx"}
    assert holders(EXPORT_MARKER) == {DATA / "docs" / "cv.mdx"}


def test_comment_and_export_markers_are_inside_comments_and_exports() -> None:
    about = (DATA / "docs" / "about.md").read_text(encoding="utf-8")
    assert COMMENT_MARKER not in re.sub(r"(?s)<!--.*?-->", "", about)
    cv = (DATA / "docs" / "cv.mdx").read_text(encoding="utf-8")
    assert COMMENT_MARKER not in re.sub(r"(?s)\{/\*.*?\*/\}", "", cv)
    assert EXPORT_MARKER not in re.sub(r"(?ms)^export const .*?^\}$", "", cv)


def test_cv_has_its_jobs_under_one_heading() -> None:
    _, body = split(DATA / "docs" / "cv.mdx")
    assert body.count("## Experience\n") == 1
    experience = body.split("## Experience\n")[1].split("\n## ")[0]
    jobs = re.findall(r"(?m)^### (.+?) — (.+)$", experience)
    ranges = re.findall(
        r"(?m)^(?:[A-Z][a-z]{2} )?\d{4} – (?:(?:[A-Z][a-z]{2} )?\d{4}|present)", experience
    )
    assert len(jobs) >= 4
    assert len(ranges) == len(jobs)
    assert "Jul 2024 – Jun 2026" in ranges
    assert "2021 – present" in ranges


def test_the_shop_says_how_one_pays() -> None:
    meta, body = split(DATA / "projects" / "clothes-shop.md")
    assert meta["lang"] == "en"
    assert "Payments: Stripe" in body


def test_markdown_varies() -> None:
    bodies = "\n\n".join(split(p)[1] for p in DOCUMENTS)
    assert re.search(r"(?m)^\S.*\n=+$", bodies), "setext heading"
    assert re.search(r"(?m)^```\w+\n(?:(?!```).*\n)*?# ", bodies), "comment line inside code"
    assert re.search(r"(?m)^````\w+\n(?:.*\n)*?```\w*\n(?:.*\n)*?````$", bodies), "nested fence"
    assert re.search(r"(?m)^#+ .*`.+`.*\[.+\]\(.+\)$", bodies), "heading with code and link"
    assert re.search(r"(?m)^ +- ", bodies), "nested list"
    assert re.search(r"(?m)^> ", bodies), "quotation"
    assert re.search(r"(?m)^\|[-|: ]+\|$", bodies), "table"
    assert any(re.match(r"\s*[^\s#<{`|>-]", split(p)[1]) for p in live("projects")), (
        "text before the first heading"
    )


@pytest.mark.parametrize("path", FILES, ids=name)
def test_only_example_domains(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    hosts = re.findall(r"https?://([^/\s)>\"']+)", text) + re.findall(
        r"[\w.+-]+@([\w-]+\.[\w.-]*\w)", text
    )
    allowed = {"example.com", "example.org", "127.0.0.1:8080"}
    assert set(hosts) <= allowed


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_absent_term_is_mentioned(path: Path) -> None:
    assert [term for term in gate()["absent_terms"] if holds(folded(path), term)] == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_amounts_of_money_phones_or_ages(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"[€£]|\$\d|\b(?:EUR|USD|euros?|dollars?|dólares)\b", text)
    assert not re.search(r"\+\d{2}[ \d]{7,}|\b\d{3}[ -]?\d{3}[ -]?\d{3}\b", text)
    assert not re.search(r"\d+[- ]years?[- ]old|\d+ años de edad", text)


# --- the questions ---


def test_ids_and_questions_are_unique() -> None:
    assert max(Counter(q["id"] for q in questions()).values()) == 1
    assert max(Counter(fold(q["question"]) for q in questions()).values()) == 1


def test_fields_of_questions() -> None:
    common = {"id", "question", "lang", "label", "set"}
    for q in questions():
        more = {"documents", "facts"} if q["label"] == "answerable" else set()
        assert common | more <= set(q) <= common | more | {"cross", "note"}, q["id"]
        assert q["lang"] in {"en", "es"}, q["id"]
        assert q["label"] in {"answerable", "far", "near"}, q["id"]
        assert q["set"] in {"dev", "test"}, q["id"]
        assert q.get("cross") in (None, True), q["id"]
        assert all(isinstance(f, str) and f for f in q.get("facts", [])), q["id"]


def test_counts_of_questions() -> None:
    answerable = questions("answerable")
    direct = Counter(q["lang"] for q in answerable if not q.get("cross"))
    assert len(answerable) >= 90
    assert direct["en"] >= 30
    assert direct["es"] >= 25
    assert sum(bool(q.get("cross")) for q in answerable) >= 35
    for label, least in (("far", 40), ("near", 50)):
        langs = Counter(q["lang"] for q in questions(label))
        assert langs.total() >= least
        assert langs["en"] == langs["es"]


def test_dev_and_test_halves_of_each_kind() -> None:
    kinds: dict[tuple[str, str, bool], Counter[str]] = {}
    for q in questions():
        kinds.setdefault((q["label"], q["lang"], bool(q.get("cross"))), Counter())[q["set"]] += 1
    assert len(kinds) == 8
    for kind, sets in kinds.items():
        assert abs(sets["dev"] - sets["test"]) <= 2, kind


def test_documents_exist_and_are_published() -> None:
    for q in questions("answerable"):
        assert q["documents"], q["id"]
        for file_name in q["documents"]:
            assert not split(by_file_name(file_name))[0].get("draft"), q["id"]


def test_every_document_is_asked_about() -> None:
    asked = {file_name for q in questions("answerable") for file_name in q["documents"]}
    assert {p.name for p in DOCUMENTS if not split(p)[0].get("draft")} == asked


def test_cross_is_true_to_the_languages() -> None:
    for q in questions("answerable"):
        langs = {split(by_file_name(file_name))[0]["lang"] for file_name in q["documents"]}
        assert bool(q.get("cross")) == (q["lang"] not in langs), q["id"]


@pytest.mark.parametrize("q", questions("answerable"), ids=lambda q: q["id"])
def test_every_fact_is_in_a_document(q: dict[str, Any]) -> None:
    texts = [folded(by_file_name(file_name)) for file_name in q["documents"]]
    for fact in q["facts"]:
        assert any(holds(text, term) for term in fact.split("|") for text in texts), fact


def test_no_fact_is_given_away_by_its_question() -> None:
    for q in questions("answerable"):
        question = fold(q["question"])
        assert not all(any(holds(question, t) for t in fact.split("|")) for fact in q["facts"]), q[
            "id"
        ]


def test_near_negatives_ask_for_what_is_absent() -> None:
    named = {
        q["id"]
        for q in questions("near")
        for t in gate()["absent_terms"]
        if holds(fold(q["question"]), t)
    }
    assert len(named) >= 30


def test_acceptance_questions_are_included() -> None:
    labels = {q["question"]: q for q in questions()}
    paid = labels["¿Con qué se paga en la tienda de ropa?"]
    assert (paid["lang"], paid["cross"], paid["facts"]) == ("es", True, ["Stripe"])
    assert labels["How do customers pay in the clothes shop?"]["facts"] == ["Stripe"]
    assert labels["¿Cuál es la capital de Francia?"]["label"] == "far"
    assert labels["Who won the 2022 world cup?"]["label"] == "far"
    assert any(
        q["documents"] == ["cv.mdx"] and "Metrimex" in q["facts"] for q in questions("answerable")
    )
