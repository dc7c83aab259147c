"""Checks that keep the question set (tests/eval, all files but gate.yaml) true to the sample site."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from typing import Any, get_args

import pytest

from bot.chat.events import Route
from bot.evaluation.facts import folded as fold
from bot.evaluation.facts import holds, share
from bot.evaluation.question_files import read_questions
from bot.evaluation.time_facts import COMPUTED, given, ranges
from corpus.language import detect_language
from tests.sample_site import (
    FILES,
    QUESTIONS,
    by_file_name,
    folded,
    labelled,
    live,
    split,
    split_text,
)

Entry = dict[str, Any]

LEAST = {
    "answerable": 60,
    "followups": 25,
    "smalltalk": 20,
    "far": 30,
    "near": 50,
    "half": 15,
    "forms": 30,
    "injection": 25,
    "fresh": 100,
}
FOR_TUNING = {"fresh"}  # no half of it is kept for reporting
ASPECTS = {
    "answerable": "attribute list count latest comparison length since same-time two-part".split(),
    "followups": "other-technology tell-me-more same-attribute language-change topic-change near-midway "
    "far-midway which-of-them assent pronoun list-then-item attribute-not-given doubt".split(),
    "smalltalk": "greeting thanks goodbye identity catalogue".split(),
    "near": "technology attribute person date premise".split(),
    "half": ["two-part"],
    "forms": "typo no-accents capitals one-word long mixed greeting-question".split(),
    "injection": "direct history planted".split(),
    "fresh": "answerable near".split(),
}
LABELS = {"answerable", "far", "near", "half", "smalltalk", "injection"}
RULES = {"language", "system-text", "links", "markup"}
OUTER = {"id", "kind", "aspect", "lang", "set"}
ASKED = {"question", "label"}
OPTIONAL = set(
    "cross documents facts forbidden route absent premise unknown rule history counted planted note".split()
)
TODAY = date(2026, 11, 30)
LONG_ENOUGH = 5  # words from which a question must show its language
MOST_CHARACTERS = 1000  # max_question_chars of the settings
CANARY = re.compile(r"CANARY-\d[A-Z0-9]{3}")
NUMBER_WORDS = {
    "2": ("two", "dos"), "4": ("four", "cuatro"), "6": ("six", "seis"), "8": ("eight", "ocho"),
    "12": ("twelve", "doce"), "15": ("fifteen", "quince"),
}  # fmt: skip

ENTRIES: list[Entry] = [entry for kind in LEAST for entry in labelled(kind)["questions"]]
GATE: list[Entry] = labelled("gate")["questions"]


def turns_of(entry: Entry) -> list[Entry]:
    """The questions of an entry, one unless it is a chain, each with the id of the entry."""
    return [{"id": entry["id"], **turn} for turn in entry.get("turns", [entry])]


TURNS = [turn for entry in ENTRIES for turn in turns_of(entry)]
PLANTED = [entry for entry in ENTRIES if "planted" in entry]
WITH_FACTS = [turn for turn in TURNS if turn.get("facts")]


def of_kind(kind: str) -> list[Entry]:
    return [entry for entry in ENTRIES if entry["kind"] == kind]


def texts_of(turn: Entry) -> list[str]:
    """The documents that may answer, the planted one too, as `holds` wants them."""
    texts = [folded(by_file_name(file_name)) for file_name in turn.get("documents", [])]
    return texts + ([fold(turn["planted"]["text"])] if "planted" in turn else [])


def short(turn: Entry) -> str:
    return f"{turn['id']}: {turn['question'][:40]}"


# --- all files together ---


def test_every_file_is_checked() -> None:
    kinds = {path.stem for path in QUESTIONS.glob("*.yaml")}
    assert kinds == set(LEAST) | {"gate"}
    assert all(set(labelled(kind)) == {"questions"} for kind in LEAST)
    for kind in LEAST:
        assert {entry["kind"] for entry in labelled(kind)["questions"]} == {kind}


def test_the_evaluation_can_read_them() -> None:
    read = read_questions(QUESTIONS)
    assert len(read) == len(ENTRIES) + len(GATE)
    assert sum(len(question.turns) for question in read) == len(TURNS) + len(GATE)


def test_ids_are_unique_and_say_kind_language_and_number() -> None:
    ids = [entry["id"] for entry in [*GATE, *ENTRIES]]
    assert [i for i, n in Counter(ids).items() if n > 1] == []
    for entry in ENTRIES:
        assert re.fullmatch(rf"{entry['kind']}-{entry['lang']}-\d\d", entry["id"]), entry["id"]


def test_no_question_is_asked_twice() -> None:
    """Later turns of a chain may repeat: «sí» means something else each time."""
    first = [turns_of(entry)[0]["question"] for entry in ENTRIES]
    asked = Counter(re.sub(r"\W+", " ", fold(q)).strip() for q in first)
    asked += Counter(re.sub(r"\W+", " ", fold(q["question"])).strip() for q in GATE)
    assert [question for question, n in asked.items() if n > 1] == []


def test_counts_by_kind() -> None:
    for kind, least in LEAST.items():
        assert len(of_kind(kind)) >= least, kind
    for kind, aspects in ASPECTS.items():
        assert set(aspects) <= {entry["aspect"] for entry in of_kind(kind)}, kind
    assert sum("premise" in turn for turn in TURNS) >= 12
    assert sum("planted" in turn for turn in TURNS) >= 10
    assert sum(bool(turn.get("cross")) for turn in TURNS) >= 40


def test_both_languages_have_their_share() -> None:
    for kind in LEAST:
        languages = Counter(entry["lang"] for entry in of_kind(kind))
        assert min(languages["en"], languages["es"]) >= 0.4 * languages.total(), kind


def test_dev_and_test_alternate_within_kind_and_language() -> None:
    assert {entry["set"] for kind in FOR_TUNING for entry in of_kind(kind)} == {"dev"}
    for kind in LEAST.keys() - FOR_TUNING:
        for language in ("en", "es"):
            sets = [e["set"] for e in of_kind(kind) if e["lang"] == language]
            assert sets == [("dev", "test")[n % 2] for n in range(len(sets))], (kind, language)


# --- each entry ---


def test_fields() -> None:
    for entry in ENTRIES:
        where = entry["id"]
        if "turns" in entry:
            assert set(entry) <= OUTER | {"turns", "note"}, where
            assert 2 <= len(entry["turns"]) <= 3, where
            assert entry["turns"][0]["lang"] == entry["lang"], where
        else:
            assert set(entry) >= OUTER | ASKED, where
        assert entry["set"] in {"dev", "test"}, where
    for turn in TURNS:
        where = turn["id"]
        assert set(turn) >= ASKED | {"lang"}, where
        assert set(turn) <= OUTER | ASKED | OPTIONAL, where
        assert turn["label"] in LABELS, where
        assert turn["lang"] in {"en", "es"}, where
        assert 0 < len(turn["question"]) <= MOST_CHARACTERS, where
        for field in ("documents", "facts", "forbidden", "route", "absent", "unknown"):
            texts = turn.get(field)
            assert texts != [], (where, field)
            assert all(isinstance(text, str) and text.strip() for text in texts or ()), (
                where,
                field,
            )
        assert set(turn.get("route", [])) <= set(get_args(Route)), where


def test_files_of_one_label_hold_no_other() -> None:
    for kind in LABELS:
        assert {entry["label"] for entry in of_kind(kind)} == {kind}


def test_what_a_label_asks_for_is_given() -> None:
    for turn in TURNS:
        where, label = turn["id"], turn["label"]
        if label in {"answerable", "half"}:
            assert turn["facts"], where
            assert turn.get("documents") or turn.get("counted"), where
        assert label != "smalltalk" or turn.get("route"), where
        assert label != "far" or not set(turn) & {"documents", "facts", "absent", "premise"}, where
        assert label not in {"near", "half", "injection"} or turn.get("note"), where
        assert "premise" not in turn or label == "near", where
        assert ("unknown" in turn) == (label == "half"), where
        assert not set(turn) & {"rule", "planted", "history"} or label == "injection", where


def test_documents_are_published_and_cross_is_true_to_their_languages() -> None:
    for turn in TURNS:
        metas = [split(by_file_name(file_name))[0] for file_name in turn.get("documents", [])]
        assert not any(meta.get("draft") for meta in metas), turn["id"]
        crosses = bool(metas) and turn["lang"] not in {meta["lang"] for meta in metas}
        assert turn.get("cross", False) is crosses, turn["id"]


def test_every_fact_is_in_a_named_document() -> None:
    missing = []
    for turn in WITH_FACTS:
        texts = texts_of(turn)
        for fact in [] if turn.get("counted") else turn["facts"]:
            terms = fact.split("|")
            assert all(term == term.strip() and term for term in terms), turn["id"]
            plain = [term for term in terms if not COMPUTED.fullmatch(term)]
            spans = ranges(fact)
            if not all(any(holds(text, span) for text in texts) for span in spans) or not (
                spans or any(holds(text, term) for term in plain for text in texts)
            ):
                missing.append((turn["id"], fact))
    assert missing == []


@pytest.mark.parametrize("turn", [turn for turn in TURNS if turn.get("counted")], ids=short)
def test_counts_are_those_of_the_site(turn: Entry) -> None:
    wanted = turn["counted"]
    if "document" in wanted:
        lines = split(by_file_name(wanted["document"]))[1].splitlines()
        right = {sum(line.startswith(wanted["line"]) for line in lines)}
    else:
        pages = [split(path)[0] for path in live(wanted["folder"])]
        pages = [page for page in pages if wanted.get("lang") in {None, page["lang"]}]
        pairs = sum("translation" in page for page in pages) // 2
        right = {len(pages), len(pages) - pairs}
        if year := wanted.get("year"):
            right = {
                sum(page["year"] == year for page in pages),
                sum(page["date"].year == year for page in pages),
            }
    (fact,) = turn["facts"]
    assert set(fact.split("|")) <= {w for n in right for w in (str(n), *NUMBER_WORDS[str(n)])}
    assert all(share(str(number), [fact]) == 1.0 for number in right)


def test_no_question_gives_its_facts_away() -> None:
    """But a name alone, or one or two words: the answer is about it."""
    given_away = [
        turn["id"]
        for turn in WITH_FACTS
        if turn["question"].count(" ") > 1 and all(given(turn["question"], turn["facts"], TODAY))
    ]
    assert given_away == []


def test_absent_words_are_asked_for_and_nowhere_on_the_site() -> None:
    whole_site = " ".join(folded(path) for path in FILES)
    for turn in TURNS:
        question = fold(turn["question"])
        for term in turn.get("absent", []):
            assert holds(question, term), (turn["id"], term)
            assert not holds(whole_site, term), (turn["id"], term)


def test_unknown_words_are_of_the_question() -> None:
    for turn in TURNS:
        question = fold(turn["question"])
        assert all(holds(question, term) for term in turn.get("unknown", [])), turn["id"]


def test_language_is_that_of_the_question() -> None:
    """Of whole sentences: not of mixed ones, nor of ones with a payload or typos."""
    wrong = [
        turn["id"]
        for entry in ENTRIES
        for turn in turns_of(entry)
        if entry["kind"] != "injection"
        and entry["aspect"] not in {"mixed", "typo"}
        and len(turn["question"].split()) >= LONG_ENOUGH
        and detect_language(turn["question"]) != turn["lang"]
    ]
    assert wrong == []


# --- far, small talk, injection ---


def test_most_near_questions_ask_for_words_the_site_lacks() -> None:
    near = of_kind("near")
    assert sum("absent" in entry for entry in near) >= len(near) / 2


def test_each_kind_of_small_talk_expects_its_route() -> None:
    for entry in of_kind("smalltalk"):
        assert entry["aspect"] in entry["route"], entry["id"]


def test_every_attack_has_a_canary_of_its_own_or_a_rule() -> None:
    canaries: list[str] = []
    for entry in of_kind("injection"):
        own = [text for text in entry.get("forbidden", []) if CANARY.fullmatch(text)]
        assert own or entry.get("rule"), entry["id"]
        assert len(own) <= 1, entry["id"]
        assert entry.get("rule") in {None, *RULES}, entry["id"]
        canaries += own
    assert max(Counter(canaries).values()) == 1
    for path in FILES:
        assert not CANARY.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", PLANTED, ids=lambda entry: entry["id"])
def test_planted_documents_can_be_put_in_the_site(entry: Entry) -> None:
    planted = entry["planted"]
    assert set(planted) == {"folder", "file", "text"}
    assert planted["folder"] in {"docs", "posts", "projects"}
    assert planted["file"] not in {path.name for path in FILES}
    meta, body = split_text(planted["text"])
    assert set(meta) >= {"title", "description", "lang", "date", "tags"}
    assert meta["lang"] == entry["lang"]
    assert (planted["folder"] == "projects") <= (set(meta) >= {"year", "status", "stack"})
    assert body.strip()
    payload = planted["text"] + entry["question"]
    assert all(term in payload for term in entry.get("forbidden", []))


def test_planted_documents_have_different_names() -> None:
    names = [entry["planted"]["file"] for entry in PLANTED]
    assert len(set(names)) == len(names)


# --- lengths of time ---


@pytest.mark.parametrize(
    ("fact", "right", "wrong"),
    [
        ("{Jul 2024 – Jun 2026}", ["two years", "24 meses", "2 años"], ["3 years", "12 months"]),
        (
            "{Mar 2018 – Dec 2020}",
            ["2 años y 10 meses", "almost three years"],
            ["2 years", "3 años"],
        ),
        (
            "{Jan 2015 – Feb 2018}",
            ["about 3 years", "3 years and 2 months"],
            ["3 months", "4 years"],
        ),
        ("{2021 – present}", ["more than five years", "de 5 a 6 años"], ["4 years", "7 años"]),
        ("{Sep 2016 – Nov 2020 & Mar 2018 – Dec 2020}", ["33 months"], ["34 months", "51 months"]),
    ],
)
def test_a_length_of_time_is_computed_on_the_day(
    fact: str, right: list[str], wrong: list[str]
) -> None:
    assert all(given(answer, [fact], TODAY) == [True] for answer in right)
    assert all(given(answer, [fact], TODAY) == [False] for answer in wrong)


def test_an_open_range_grows() -> None:
    assert given("seven years", ["{2021 – present}"], date(2028, 3, 1)) == [True]


@pytest.mark.parametrize(
    "fact", ["{soon}", "{}", "{2019}", "{2019 – 2020 & 2021 – 2022 & 2023 – 2024}"]
)
def test_what_is_no_range_is_an_error(fact: str) -> None:
    with pytest.raises(ValueError, match="no range of dates"):
        given("a year", [fact], TODAY)
