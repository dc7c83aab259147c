"""State files on disk: whole ones only, within the cap, nothing touched that is not ours."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bot.adapters.states.files import digest
from bot.adapters.states.fingerprint import page_name
from bot.adapters.states.store import FIRST_GUESS_BYTES, FREE_BYTES, StateStore
from tests.clock import Clock

TOKENS = 1
SIZE = FIRST_GUESS_BYTES * TOKENS


def page(number: int) -> str:
    return page_name("fp", f"page {number}")


def conversation(number: int) -> str:
    return f"c-{number:032x}"


class Rig:
    """A store in a folder, and a server that writes drafts."""

    def __init__(self, folder: Path, cap_bytes: int = 100 * SIZE) -> None:
        self.folder = folder
        self.cap_bytes = cap_bytes
        self.clock = Clock()
        self.store = self.again()

    def again(self, fingerprint: str = "fp") -> StateStore:
        """The same folder after a restart."""
        store = StateStore(self.folder, self.cap_bytes, clock=self.clock)
        store.open()
        store.fingerprint = fingerprint
        self.store = store
        return store

    def save(self, name: str, size: int = SIZE) -> bool:
        """As after the server's save; each a second later than the one before."""
        self.clock.now += 1
        if not self.store.make_room(name[0], TOKENS):
            return False
        draft = self.store.draft()
        content = name.encode() + b"\x00" * (size - len(name))
        (self.folder / f"{draft}.kv").write_bytes(content)
        return self.store.keep(draft, name, tokens=TOKENS, written_bytes=size)

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "states")


def test_a_saved_state_outlives_a_restart(rig: Rig) -> None:
    assert rig.save(page(1))
    assert rig.names() == {f"{page(1)}.kv", f"{page(1)}.json"}
    store = rig.again()
    entry = store.usable(page(1))
    assert entry is not None
    assert (entry.tokens, entry.bytes, store.used_bytes) == (TOKENS, SIZE, SIZE)


def test_nobody_else_may_read_the_folder(rig: Rig) -> None:
    assert rig.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["truncated", "longer", "one bit", "gone", "a link", "swapped"])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_file_that_is_not_the_one_saved_is_deleted(
    rig: Rig, damage: str, restarted: bool
) -> None:
    for number in (1, 2):
        assert rig.save(page(number))
        assert rig.store.usable(page(number)) is not None
    path, other = (rig.folder / f"{page(number)}.kv" for number in (1, 2))
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: SIZE // 2])
    elif damage == "longer":
        path.write_bytes(content + b"x")
    elif damage == "one bit":
        path.write_bytes(content[:-1] + b"\x01")
    elif damage == "gone":
        path.unlink()
    elif damage == "a link":
        path.rename(rig.folder / "elsewhere")
        path.symlink_to(rig.folder / "elsewhere")
    else:
        path.rename(rig.folder / "aside")
        other.rename(path)
        (rig.folder / "aside").rename(other)
    store = rig.again() if restarted else rig.store
    assert store.usable(page(1)) is None
    assert not path.exists()
    assert store.tokens(page(1)) is None
    if damage == "swapped":
        assert store.usable(page(2)) is None
    else:
        assert store.usable(page(2)) is not None


def test_an_untouched_file_is_hashed_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rig.save(page(1))
    hashed: list[Path] = []

    def counting(path: Path) -> str:
        hashed.append(path)
        return digest(path)

    monkeypatch.setattr("bot.adapters.states.store.digest", counting)
    store = rig.again()
    assert store.usable(page(1))
    assert store.usable(page(1))
    assert len(hashed) == 1


def test_another_notes_words_do_not_count(rig: Rig) -> None:
    """A state and its note under the name of another page: the note says whose they are."""
    assert rig.save(page(1))
    for suffix in (".kv", ".json"):
        (rig.folder / (page(1) + suffix)).rename(rig.folder / (page(2) + suffix))
    assert rig.again().usable(page(2)) is None
    assert rig.names() == set()


@pytest.mark.parametrize("left", [".kv", ".json"])
def test_a_crash_between_state_and_note_leaves_nothing_to_use(rig: Rig, left: str) -> None:
    assert rig.save(page(1))
    (rig.folder / (page(1) + left)).unlink()
    store = rig.again()
    assert store.usable(page(1)) is None
    assert rig.names() == set()


def test_the_least_recently_used_goes_and_the_cap_is_kept(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cap_bytes=3 * SIZE + 100)
    for number in (1, 2, 3):
        assert rig.save(page(number))
    rig.clock.now += 1
    assert rig.store.usable(page(1))
    assert rig.save(page(4))
    assert rig.store.used_bytes <= rig.cap_bytes
    assert [rig.store.tokens(page(n)) for n in (1, 2, 3, 4)] == [TOKENS, None, TOKENS, TOKENS]
    # The order of use outlives a restart.
    rig.again()
    assert rig.save(page(5))
    assert [rig.store.tokens(page(n)) for n in (1, 3, 4, 5)] == [TOKENS, None, TOKENS, TOKENS]


def test_room_is_made_before_the_file_is_written(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cap_bytes=2 * SIZE)
    assert rig.save(page(1))
    assert rig.save(page(2))
    assert rig.store.make_room("p", TOKENS)
    assert sum(path.stat().st_size for path in tmp_path.glob("*.kv")) == SIZE


def test_a_disk_without_room_refuses_whatever_the_cap_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is deleted for it: what lies there serves on."""
    rig = Rig(tmp_path, cap_bytes=2 * SIZE)
    assert rig.save(page(1))
    assert rig.save(page(2))
    free, usage = FREE_BYTES + SIZE, type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(free, 0, free))
    assert rig.store.make_room("p", TOKENS, evict=False) is False
    free -= 1
    for evict in (True, False):
        with pytest.raises(OSError, match="no room"):
            rig.store.make_room("p", TOKENS, evict=evict)
    assert rig.store.count("p") == 2


def test_without_eviction_only_free_room_and_other_servers_states_are_used(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cap_bytes=2 * SIZE)
    assert rig.save(page(1))
    assert rig.save(page(2))
    assert not rig.store.make_room("p", TOKENS, evict=False)
    assert rig.store.count("p") == 2
    store = rig.again("another")
    assert store.count("p") == 0
    assert store.make_room("p", TOKENS, evict=False)
    assert store.used_bytes == SIZE
    assert not store.make_room("p", 3 * TOKENS, evict=False)


def test_a_state_larger_than_the_cap_is_not_kept(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cap_bytes=10 * SIZE)
    rig.save(page(1), 100)
    assert not rig.save(page(2), 11 * SIZE)
    assert rig.store.used_bytes <= rig.cap_bytes
    assert not (tmp_path / f"{page(2)}.kv").exists()


def test_a_crowd_of_conversations_never_drives_out_a_page(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cap_bytes=8 * SIZE)
    for number in range(6):
        assert rig.save(page(number))
    for number in range(20):
        assert rig.save(conversation(number))
    assert rig.store.count("p") == 6
    assert rig.store.count("c") == 2  # a quarter of the cap
    assert rig.store.usable(conversation(19))
    assert not rig.store.usable(conversation(0))


def test_conversations_do_not_outlive_the_process(rig: Rig) -> None:
    assert rig.save(conversation(1))
    assert rig.store.usable(conversation(1))
    rig.again()
    assert rig.names() == set()


def test_a_conversations_file_that_changed_is_not_used(rig: Rig) -> None:
    assert rig.save(conversation(1))
    path = rig.folder / f"{conversation(1)}.kv"
    path.write_bytes(path.read_bytes())
    assert rig.store.usable(conversation(1)) is None


def test_states_of_another_server_are_never_usable_and_go_after_a_day(rig: Rig) -> None:
    assert rig.save(page(1))
    store = rig.again("another")
    assert store.usable(page(1)) is None
    rig.clock.now += 80_000
    store.sweep()
    assert f"{page(1)}.kv" in rig.names()
    rig.clock.now += 10_000
    store.sweep()
    assert rig.names() == set()


def test_retain_deletes_the_pages_that_are_no_more(rig: Rig) -> None:
    for number in (1, 2, 3):
        assert rig.save(page(number))
    assert rig.save(conversation(1))
    rig.store.retain({page(2)})
    assert [rig.store.tokens(page(n)) for n in (1, 2, 3)] == [None, TOKENS, None]
    assert rig.store.tokens(conversation(1)) == TOKENS


def test_what_is_not_ours_is_left_alone(rig: Rig) -> None:
    """A states_path that points to somebody's folder costs them nothing."""
    for name in ("thesis.json", "p-notes.kv", "t-1.kv", "c-cat.jpg", "p-" + "g" * 32 + ".kv"):
        (rig.folder / name).write_text("mine")
    before = rig.names()
    store = rig.again()
    store.sweep()
    store.retain(())
    assert rig.names() == before


def test_drafts_that_nobody_finishes_are_swept(rig: Rig) -> None:
    old, new = (rig.folder / f"{rig.store.draft()}.kv" for _ in range(2))
    for path, age in ((old, 700), (new, 30)):
        path.write_text("half")
        os.utime(path, (rig.clock.now - age, rig.clock.now - age))
    rig.store.sweep()
    assert rig.names() == {new.name}


def test_a_short_write_is_not_kept(rig: Rig) -> None:
    draft = rig.store.draft()
    (rig.folder / f"{draft}.kv").write_bytes(b"x" * 10)
    assert not rig.store.keep(draft, page(1), tokens=TOKENS, written_bytes=20)
    assert rig.names() == set()


def test_a_draft_that_is_elsewhere_is_an_error(rig: Rig) -> None:
    with pytest.raises(FileNotFoundError):
        rig.store.keep(rig.store.draft(), page(1), tokens=TOKENS, written_bytes=SIZE)
