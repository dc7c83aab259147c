"""`chat-bot calibrate` from index and embedding server to the file the bot reads."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from bot.adapters.own_calibration import judge
from bot.calibration.store import CALIBRATION_NAME, read_stored
from bot.cli.main import cli
from corpus.reader import open_index
from corpus.vectors import Vector, unit
from tests.fake_embedder import FakeEmbedder
from tests.small_index import DIMENSION, Page, Part, small_index

NAMES = "harbour bakery lighthouse library museum market orchard workshop theatre garden".split()
RUNNER = CliRunner()


@pytest.fixture
def fake() -> object:
    with FakeEmbedder(dimension=DIMENSION) as fake:
        yield fake


def configuration(
    folder: Path, fake: FakeEmbedder, *, model: str = "multilingual-e5-small"
) -> Path:
    """A site of ten pages, embedded by `fake`, and its configuration file."""

    def vector(text: str) -> Vector:
        return unit(fake.vector(text), DIMENSION)

    pages = [
        Page(
            f"projects/{name}.md",
            (
                Part(f"The {name} opened.", vector(name), heading=f"Opening of {name}"),
                Part(f"Costs <b>of</b> the {name}.", vector(f"costs {name}"), heading="Costs <i>"),
            ),
            title=f"The {name}",
            kind="project",
        )
        for name in NAMES
    ]
    small_index(folder / "index", *pages).close()
    path = folder / "bot.yaml"
    settings = {
        "rag": {"index_path": str(folder / "index")},
        "embeddings": {
            "endpoint": fake.url, "model": model, "dimension": DIMENSION,
            "query_prefix": "", "passage_prefix": "",
        },
    }  # fmt: skip
    path.write_text(yaml.safe_dump(settings))
    return path


def run(config: Path, *arguments: str) -> Result:
    return RUNNER.invoke(cli, ["calibrate", "--config", str(config), *arguments])


def test_the_result_is_stored_for_this_index_and_shown(tmp_path: Path, fake: FakeEmbedder) -> None:
    result = run(configuration(tmp_path, fake))
    assert result.exit_code == 0, result.output
    folder = tmp_path / "index"
    stored = read_stored(folder)
    assert stored is not None
    with closing(open_index(folder)) as index:
        judged = judge(stored, index.meta)
    assert judged.note is None
    assert judged.calibration == stored.calibration
    assert stored.questions["far, shipped"] >= 60
    for said in ("Score distributions", "cut >", "Questions next to the cut at", "AUC",
                 "answerable questions answered", "keywords only", "0 of your own",
                 f"stored in {folder}"):  # fmt: skip
        assert said in result.stdout
    shown = int(re.search(r"(\d+) questions:", result.stdout)[1])  # type: ignore[index]
    assert shown == sum(stored.questions.values())
    assert len(set(fake.passages)) == shown


def test_labelled_questions_take_part(tmp_path: Path, fake: FakeEmbedder) -> None:
    mine = tmp_path / "mine.yaml"
    asked = [{"question": f"When did the {n} open?", "label": "answerable"} for n in NAMES] * 2
    asked += [{"question": f"Is the {n} haunted?", "label": "near"} for n in NAMES]
    mine.write_text(yaml.safe_dump({"questions": asked}))
    result = run(configuration(tmp_path, fake), "--questions", str(mine), "--recall", "0.9")
    assert result.exit_code == 0, result.output
    stored = read_stored(tmp_path / "index")
    assert stored is not None
    assert (stored.questions["answerable, owner"], stored.questions["near, owner"]) == (10, 10)
    assert stored.recall == 0.9
    assert "10 of your own are answerable" in result.stdout


def test_a_dry_run_stores_nothing(tmp_path: Path, fake: FakeEmbedder) -> None:
    result = run(configuration(tmp_path, fake), "--dry-run")
    assert result.exit_code == 0
    assert "Questions next to the cut" in result.stdout
    assert not (tmp_path / "index" / CALIBRATION_NAME).exists()


def test_the_page_needs_nothing_from_anywhere_and_escapes(
    tmp_path: Path, fake: FakeEmbedder
) -> None:
    config, path = configuration(tmp_path, fake), tmp_path / "report.html"
    mine = tmp_path / "mine.yaml"
    asked = [{"question": f"<script>{n}</script>", "label": "near"} for n in range(30)]
    mine.write_text(yaml.safe_dump({"questions": asked}))
    result = run(config, "--html", str(path), "--dry-run", "--questions", str(mine))
    assert result.exit_code == 0, result.output
    page = path.read_text("utf-8")
    assert page.count("<svg") == 2
    assert page.count("<circle") == 2
    for label in ("answerable", "far", "near"):
        assert f'<rect class="{label}"' in page
    addresses = set(re.findall(r"https?://[^\"' )>]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", page)


def test_a_dash_prints_the_page_alone(tmp_path: Path, fake: FakeEmbedder) -> None:
    result = run(configuration(tmp_path, fake), "--html", "-", "--dry-run")
    assert result.stdout.startswith("<!doctype html>")
    assert result.stdout.endswith("</html>\n")
    assert "Questions next to the cut at" in result.stderr


def test_another_embedder_is_refused(tmp_path: Path, fake: FakeEmbedder) -> None:
    config = configuration(tmp_path, fake, model="another")
    result = run(config)
    assert result.exit_code == 1
    assert "another" in result.stderr
    assert not (tmp_path / "index" / CALIBRATION_NAME).exists()


def test_an_embedder_that_is_away_is_said(tmp_path: Path, fake: FakeEmbedder) -> None:
    config = configuration(tmp_path, fake)
    fake.down = True
    assert run(config).exit_code == 5


def test_no_index_and_a_wrong_file_are_said_in_one_line(tmp_path: Path, fake: FakeEmbedder) -> None:
    config = configuration(tmp_path, fake)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("questions: [{question: a, label: maybe}]")
    result = run(config, "--questions", str(wrong))
    assert (result.exit_code, "label 'maybe'" in result.stderr) == (2, True)
    (tmp_path / "index" / "current.json").unlink()
    result = run(config)
    assert (result.exit_code, "chat-bot reindex" in result.stderr) == (1, True)


def test_an_earlier_calibration_is_replaced(tmp_path: Path, fake: FakeEmbedder) -> None:
    config = configuration(tmp_path, fake)
    (tmp_path / "index" / CALIBRATION_NAME).write_text("{")
    assert run(config).exit_code == 0
    assert json.loads((tmp_path / "index" / CALIBRATION_NAME).read_text())["recall"] == 0.97
