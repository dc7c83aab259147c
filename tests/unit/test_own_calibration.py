"""The calibration beside the index: stored whole, judged against the index, taken up while running."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.index_source import FolderIndexSource
from bot.adapters.own_calibration import NONE_YET, CalibrationFile, judge
from bot.calibration.store import (
    CALIBRATION_NAME,
    CalibrationDamaged,
    Stored,
    read_stored,
    write_stored,
)
from bot.chat.calibrations import KEYWORDS, SHIPPED, OwnCalibration, calibration_for
from bot.chat.gate import MEASURED, Calibration
from bot.chat.ports.index import IndexState
from bot.chat.retrieve import Retriever
from corpus.errors import IndexBusy
from corpus.model import EmbeddingIdentity, IndexMeta
from corpus.pointer import read_pointer
from corpus.settings import EmbeddingSettings, Settings
from corpus.writer import remove_leftovers, writer_lock
from tests.clock import Clock
from tests.fakes import FakeEmbedder
from tests.small_index import DIMENSION, page, small_index, toward

IDENTITY = EmbeddingIdentity(
    model="multilingual-e5-small", dimension=DIMENSION, query_prefix="", passage_prefix=""
)
META = IndexMeta(
    schema_version=1,
    chunker_version=1,
    embedding=IDENTITY,
    documents=1,
    chunks=1,
    vectors=1,
    source_hash="0" * 64,
    built_at="2026-01-01T00:00:00Z",
)
OWN = OwnCalibration(
    meaning=Calibration(intercept=1.5, top_cosine=2.5), keywords=Calibration(intercept=-0.5)
)
STORED = Stored(
    measured=MEASURED,
    fitted_at="2026-11-30T00:00:00+00:00",
    source_hash=META.source_hash,
    chunker_version=1,
    embedding=IDENTITY,
    calibration=OWN,
    recall=0.97,
    questions={"far, shipped": 60},
)


def test_what_was_stored_is_read_again_and_nothing_else_is_touched(tmp_path: Path) -> None:
    with closing(small_index(tmp_path, page("posts/a.md", "x", vector=toward(1)))):
        before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        assert read_stored(tmp_path) is None
        write_stored(tmp_path, STORED)
        assert read_stored(tmp_path) == STORED
        after = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        assert after.keys() - before.keys() == {CALIBRATION_NAME}
        assert {name: after[name] for name in before} == before


def test_a_busy_indexer_is_waited_for_by_the_owner(tmp_path: Path) -> None:
    with writer_lock(tmp_path), pytest.raises(IndexBusy):
        write_stored(tmp_path, STORED)
    assert read_stored(tmp_path) is None


def test_the_indexer_keeps_it_and_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    write_stored(tmp_path, STORED)
    left = tmp_path / f".building-{CALIBRATION_NAME}.123"
    left.write_text("half")
    with writer_lock(tmp_path):
        remove_leftovers(tmp_path)
    assert not left.exists()
    assert read_stored(tmp_path) == STORED


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"fitted_at": 3}', b"\xff\xfe"])
def test_a_damaged_file_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / CALIBRATION_NAME).write_bytes(content)
    with pytest.raises(CalibrationDamaged, match=CALIBRATION_NAME):
        read_stored(tmp_path)


PROBED = replace(IDENTITY, probe=(1.0, 0.0), sha256="a" * 64)


@pytest.mark.parametrize(
    ("meta", "stored", "used", "said"),
    [
        ({}, {}, True, None),
        ({"source_hash": "1" * 64}, {}, True, "content has changed"),
        ({"chunker_version": 2}, {}, False, "chunking has changed"),
        ({"embedding": replace(IDENTITY, model="other")}, {}, False, "embedder has changed"),
        ({"embedding": replace(IDENTITY, dimension=9)}, {}, False, "embedder has changed"),
        ({"embedding": replace(IDENTITY, query_prefix="q ")}, {}, False, "embedder has changed"),
        ({"embedding": replace(IDENTITY, pooling="cls")}, {}, False, "embedder has changed"),
        ({"embedding": PROBED}, {}, True, None),
        ({"embedding": PROBED}, {"embedding": replace(PROBED, sha256="b" * 64)}, False, "embedder"),
        (
            {"embedding": PROBED},
            {"embedding": replace(PROBED, probe=(0.0, 1.0))},
            False,
            "embedder",
        ),
        ({"embedding": PROBED}, {"embedding": replace(PROBED, probe=(9.0, 0.001))}, True, None),
        ({"embedding": PROBED}, {"embedding": replace(PROBED, probe=(1.0,))}, False, "embedder"),
        ({"embedding": None}, {}, True, None),
        ({}, {"features": ("top_cosine",)}, False, "other figures"),
        ({}, {"measured": MEASURED - 1}, False, "other figures"),
    ],
)
def test_it_is_used_only_where_its_figures_mean_the_same(
    meta: dict[str, Any], stored: dict[str, Any], used: bool, said: str | None
) -> None:
    judged = judge(replace(STORED, **stored), replace(META, **meta))
    assert judged.calibration == (OWN if used else None)
    if said is None:
        assert judged.note is None
    else:
        assert judged.note is not None
        assert said in judged.note
        assert "chat-bot calibrate" in judged.note
        assert ("shipped defaults" in judged.note) == (not used)


def test_each_verdict_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bot.index")
    file = CalibrationFile(tmp_path)
    assert file.look(META).note == NONE_YET
    file.look(META)
    write_stored(tmp_path, STORED)
    assert file.look(META).calibration == OWN
    file.look(META)
    assert file.look(replace(META, source_hash="1" * 64)).calibration == OWN
    (tmp_path / CALIBRATION_NAME).write_text("{")
    assert file.look(META).calibration is None
    assert [(r.levelname, r.getMessage()[:30]) for r in caplog.records] == [
        ("INFO", NONE_YET[:30]),
        ("INFO", "the gate is calibrated for thi"),
        ("WARNING", "the content has changed since "),
        ("WARNING", "calibration.json is not a cali"),
    ]


def source_of(folder: Path) -> FolderIndexSource:
    settings = EmbeddingSettings(dimension=DIMENSION, query_prefix="", passage_prefix="")
    source = FolderIndexSource(folder, settings, clock=Clock())
    source.refresh()
    return source


def test_a_running_bot_takes_up_a_calibration_with_the_same_index(tmp_path: Path) -> None:
    small_index(tmp_path, page("posts/a.md", "x", vector=toward(1))).close()
    with closing(source_of(tmp_path)) as source:
        assert source.state().calibration is None
        assert source.state().calibration_note == NONE_YET
        in_service = source.state().index
        write_stored(tmp_path, STORED)
        assert source.refresh() is False
        assert source.state().calibration == OWN
        assert source.state().calibration_note is None
        assert source.state().index is in_service
        with source.lease() as state:
            assert state.calibration == OWN


def test_a_new_index_of_other_content_keeps_it_and_says_so(tmp_path: Path) -> None:
    small_index(tmp_path, page("posts/a.md", "x", vector=toward(1))).close()
    write_stored(tmp_path, replace(STORED, source_hash="1" * 64))
    with closing(source_of(tmp_path)) as source:
        assert source.state().calibration == OWN
        assert "content has changed" in (source.state().calibration_note or "")
        write_stored(tmp_path, STORED)
        small_index(tmp_path, page("posts/b.md", "y", vector=toward(1))).close()
        assert source.refresh() is True
        assert source.state().calibration_note is None
        assert read_pointer(tmp_path)


def test_without_an_index_nothing_is_said_of_a_calibration(tmp_path: Path) -> None:
    write_stored(tmp_path, STORED)
    with closing(source_of(tmp_path)) as source:
        assert (source.state().calibration, source.state().calibration_note) == (None, None)


def test_the_own_calibration_goes_before_every_shipped_one() -> None:
    assert calibration_for("multilingual-e5-small", dense=True, own=OWN) is OWN.meaning
    assert calibration_for("multilingual-e5-small", dense=False, own=OWN) is OWN.keywords
    assert calibration_for("anything", dense=True, own=OWN) is OWN.meaning
    assert calibration_for("anything", dense=False) is KEYWORDS
    assert calibration_for("multilingual-e5-small", dense=True) in SHIPPED.values()


@pytest.mark.anyio
@pytest.mark.parametrize(("intercept", "answerable"), [(-50.0, False), (50.0, True)])
async def test_it_decides_what_is_answered(
    tmp_path: Path, intercept: float, answerable: bool
) -> None:
    embedder = FakeEmbedder(DIMENSION)
    own = OwnCalibration(
        meaning=Calibration(intercept=intercept), keywords=Calibration(intercept=-intercept)
    )
    with closing(small_index(tmp_path, page("posts/a.md", "bread", vector=toward(1)))) as index:
        state = IndexState(index=index, problem=None, dense=True, calibration=own)
        found = await Retriever(Settings(), embedder).retrieve(index, state, "bread", (), "en")
        assert found.decision.answerable is answerable
        bare = replace(state, dense=False)
        found = await Retriever(Settings(), embedder).retrieve(index, bare, "bread", (), "en")
        assert found.decision.answerable is not answerable
