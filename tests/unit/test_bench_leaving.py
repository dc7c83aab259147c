"""The benchmark of leaving: what it reads from the server's log, and what it makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import leaving
from bench.leaving import Left
from tests.chat_process import Evaluation, evaluations

LOG = """\
0.18.961.543 I slot launch_slot_: id  0 | task 0 | processing task, is_child = 0
0.30.413.239 I slot print_timing: id  0 | task 0 | prompt processing, n_tokens =    128, progress = 0.14
1.38.647.716 I slot      release: id  0 | task 0 | stop processing: n_tokens = 890, truncated = 0
"""
LATER = """\
1.39.120.411 I slot launch_slot_: id  0 | task 15 | processing task, is_child = 0
1.45.061.189 W srv          stop: cancel task, id_task = 15
1.45.061.189 W srv          stop: cancel task, id_task = 16
"""
RELEASE = "1.47.257.868 I slot      release: id  0 | task 15 | stop processing: n_tokens = 887\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log as build 11434 writes it."""
    path = tmp_path / "chat.log"
    path.write_text(LOG + LATER)
    return path


def test_the_log_tells_what_was_cancelled_and_what_was_let_go_of(log: Path) -> None:
    assert evaluations(log) == [Evaluation(0, False, 890), Evaluation(15, True, None)]
    with log.open("a") as file:
        file.write(RELEASE)
    assert evaluations(log, since=len(LOG)) == [Evaluation(15, True, 887)]


def test_soon_is_within_the_time_of_a_batch_and_the_spread_is_of_all() -> None:
    seconds = (0.1, 0.2, leaving.SOON_SECONDS, 3.0)
    found = leaving.figures([Left(free_s=each, next_s=each + 1) for each in seconds])
    assert found["soon"] == 3
    assert found["free_s"] == {"p50": 0.7, "p95": 2.73, "max": 3.0}
    assert found["next_s"]["max"] == 4.0


def test_the_table_has_a_row_for_each_moment() -> None:
    result = {
        "tries": 2,
        "moments": {
            "in the line": leaving.figures([Left(free_s=0.01), Left(free_s=0.02)]),
            "while the prompt is evaluated": leaving.figures(
                [
                    Left(free_s=0.1, next_s=0.5, read_after=128),
                    Left(free_s=9.0, next_s=9.5, read_after=0),
                ]
            ),
        },
    }
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in
            leaving.render(result).splitlines()[2:]]  # fmt: skip
    assert rows == [
        ["in the line", "2 of 2", "0.01 / 0.02 / 0.02", "–", "–"],
        [
            "while the prompt is evaluated", "1 of 2", "4.55 / 8.55 / 9.00", "5.00 / 9.05 / 9.50",
            "128",
        ],
    ]  # fmt: skip


def test_a_visitor_whom_the_answer_forestalled_does_not_count() -> None:
    answers: Iterator[Left | None] = iter([None, Left(free_s=1.0), None, Left(free_s=2.0)])
    found = leaving._often(2, lambda n: next(answers))
    assert [each.free_s for each in found] == [1.0, 2.0]


def test_too_many_of_them_end_the_run() -> None:
    with pytest.raises(SystemExit, match="only 0 of 2"):
        leaving._often(2, lambda n: None)
