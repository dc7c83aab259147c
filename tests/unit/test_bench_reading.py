"""The questions and figures of bench.reading."""

from __future__ import annotations

from bench.reading import Answer, Kind, chosen_turns, figures


def answer(in_answer: float, *, declined: bool = False, words: int = 9) -> Answer:
    return Answer(in_prompt=1.0, in_answer=in_answer, declined=declined, words=words)


def test_both_languages_are_asked_and_only_what_has_facts() -> None:
    turns = chosen_turns("dev", 20)
    assert [turn.lang for turn in turns] == ["en"] * 10 + ["es"] * 10
    assert all(turn.facts and turn.label == "answerable" for turn in turns)
    assert len({turn.question for turn in turns}) == 20


def test_more_than_there_are_is_all_of_them_once() -> None:
    turns = chosen_turns("test", 10_000)
    assert len({turn.question for turn in turns}) == len(turns)


def test_figures_tell_which_prompt_gave_more() -> None:
    answers: dict[Kind, list[Answer]] = {
        "page": [answer(1.0, words=2), answer(0.0, declined=True, words=0), answer(0.5)],
        "passages": [answer(0.5), answer(1.0), answer(0.5)],
    }
    found = figures(answers)
    assert found["better"] == {"page": 1, "passages": 1}
    assert found["prompts"]["page"] == {
        "in_prompt": 1.0, "in_answer": 0.5, "declined": 1, "bare": 1,
    }  # fmt: skip
    assert found["prompts"]["passages"]["in_answer"] == 0.667
