"""Prompt states against a server with the slot API: reused where right, never where wrong."""

from __future__ import annotations

import asyncio
import logging
import random
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from bot.adapters.llamacpp import LlamaServer
from bot.adapters.states.disk import REST_SECONDS
from bot.adapters.states.folder import StatesFolder
from bot.adapters.states.slot import SlotServer
from bot.adapters.states.slot_states import SlotStates
from bot.adapters.states.store import FIRST_GUESS_BYTES, StateStore
from bot.chat.errors import ContextOverflow, ModelError, ModelUnavailable
from bot.chat.ports.model import Finished, Message, PromptProgress
from bot.chat.ports.states import Prefix, Restored, Warmed
from corpus.settings import ProviderSettings
from tests.clock import Clock
from tests.fake_llama import FakeLlama, Reply
from tests.fake_slots import FakeSlot

pytestmark = pytest.mark.anyio
PAGE = Prefix(text="rules " * 20 + "the page about shops " * 20)
OTHER = Prefix(text="rules " * 20 + "the page about boats " * 20)
PAGE_TOKENS = len(PAGE.text.split()) + 3  # <system>, <end>, <user>
SAVE = "POST /slots/0?action=save"
TTL_SECONDS = 600.0


class Bot:
    """States and model of one bot process."""

    def __init__(self, states: SlotStates, model: LlamaServer, clock: Clock) -> None:
        self.states = states
        self.model = model
        self.clock = clock
        self.restored = Restored(kind="miss")
        self.evaluated = 0
        """Tokens the last answer evaluated, its warming included."""

    async def warm(self, prefix: Prefix = PAGE, *, make_room: bool = True) -> Warmed:
        async with aclosing(self.states.warm(prefix, make_room=make_room)) as events:
            found = [event async for event in events]
        assert all(isinstance(event, PromptProgress) for event in found[:-1])
        assert isinstance(found[-1], Warmed)
        return found[-1]

    async def ask(
        self,
        question: str = "what is sold",
        conversation: str | None = None,
        prefix: Prefix = PAGE,
        past: tuple[Message, ...] = (),
    ) -> Literal["hit", "partial", "miss"]:
        """As the chat service does it: restore, answer, judge."""
        self.restored = await self.states.restore(prefix, conversation)
        messages = (
            Message(role="system", content=prefix.text), *past,
            Message(role="user", content=question),
        )  # fmt: skip
        async with aclosing(self.model.stream(messages)) as events:
            finished = [event async for event in events][-1]
        assert isinstance(finished, Finished)
        self.evaluated = finished.evaluated_tokens
        return self.states.answered(self.restored, finished, prefix, conversation)


@asynccontextmanager
async def started(
    fake: FakeLlama,
    folder: Path,
    *,
    cap_bytes: int = 10_000_000,
    sha256: str | None = None,
    action_seconds: float = 30.0,
) -> AsyncIterator[Bot]:
    """A bot process whose view of the states' folder is `folder`."""
    clock = Clock()
    provider = ProviderSettings(endpoint=fake.url, sha256=sha256)
    store = StateStore(folder, cap_bytes)
    async with (
        StatesFolder(store, ttl_seconds=TTL_SECONDS, clock=clock) as shared,
        SlotStates(SlotServer(provider, action_seconds=action_seconds), shared) as states,
        LlamaServer(provider, on_stream=states.used) as model,
    ):
        yield Bot(states, model, clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "states"
    made.mkdir()
    return made


@pytest.fixture
def slot(folder: Path) -> FakeSlot:
    return FakeSlot(folder)


@pytest.fixture
def fake(slot: FakeSlot) -> Iterator[FakeLlama]:
    with FakeLlama(slot=slot) as server:
        yield server


@pytest.fixture
async def bot(fake: FakeLlama, folder: Path) -> AsyncIterator[Bot]:
    async with started(fake, folder) as one:
        yield one


def pages(folder: Path) -> list[Path]:
    return sorted(folder.glob("p-*.kv"))


def conversations(folder: Path) -> list[Path]:
    return sorted(folder.glob("c-*.kv"))


def everything(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def sizes(folder: Path) -> list[int]:
    return [path.stat().st_size for path in folder.iterdir()]


async def evaluating(fake: FakeLlama) -> None:
    """Return once the server has begun with a prefix."""
    assert await asyncio.to_thread(fake.wait_until, lambda: fake.open_streams == 1, 10.0)


async def test_a_warmed_page_is_restored_and_only_the_question_is_evaluated(
    bot: Bot, slot: FakeSlot
) -> None:
    assert await bot.warm() == Warmed(tokens=PAGE_TOKENS, saved=True)
    assert await bot.warm(OTHER) == Warmed(tokens=PAGE_TOKENS, saved=True)
    assert bot.states.has(PAGE)
    assert bot.states.has(OTHER)
    assert await bot.ask() == "hit"
    assert (bot.restored.kind, bot.restored.source) == ("hit", "page")
    assert bot.evaluated <= 10
    stats = bot.states.stats()
    assert (stats.pages, stats.hits, stats.misses, stats.partials) == (2, 1, 0, 0)
    assert stats.bytes == sum(path.stat().st_size for path in pages(slot.folder or Path()))


async def test_what_the_slot_holds_is_not_read_from_disk_again(bot: Bot, slot: FakeSlot) -> None:
    await bot.warm()
    for conversation in (None, "a", None):
        assert await bot.ask(conversation=conversation) == "hit"
        assert bot.restored.kind == "held"
    assert "restore" not in slot.actions


async def test_without_a_state_the_prompt_is_evaluated(bot: Bot, slot: FakeSlot) -> None:
    assert await bot.ask() == "miss"
    assert bot.evaluated > PAGE_TOKENS
    assert bot.states.stats().misses == 1
    assert slot.actions == []


async def test_states_outlive_a_restart_of_the_bot(fake: FakeLlama, folder: Path) -> None:
    async with started(fake, folder) as first:
        await first.warm()
    async with started(fake, folder) as second:
        assert not second.states.has(PAGE)  # nobody has asked which model is served
        assert await second.states.connect()
        assert second.states.has(PAGE)
        assert await second.ask() == "hit"


async def test_a_restarted_server_is_noticed_and_gets_its_state_back(
    bot: Bot, slot: FakeSlot
) -> None:
    await bot.warm()
    assert await bot.ask() == "hit"
    slot.restart()
    assert await bot.ask() == "hit"
    assert bot.restored.kind == "hit"
    assert bot.evaluated <= 10


async def test_another_model_of_the_same_name_shape_and_size_gets_no_foreign_state(
    bot: Bot, slot: FakeSlot
) -> None:
    await bot.warm()
    slot.restart("fake-other")
    assert await bot.ask() == "miss"
    assert not bot.states.has(PAGE)
    await bot.warm()
    await bot.warm(OTHER)
    assert await bot.ask() == "hit"
    slot.restart("fake-model")
    assert await bot.ask() == "hit"
    assert slot.foreign_restores == 0


@pytest.mark.parametrize(
    "change", ["hash", "window", "template", "build", "file", "weights", "cache type"]
)  # fmt: skip
async def test_anything_that_makes_a_state_wrong_makes_it_another(
    fake: FakeLlama, slot: FakeSlot, folder: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started(fake, folder, sha256="a" * 64) as first:
        await first.warm()
    props = slot.props()
    if change == "window":
        slot.window = 2048
    elif change == "weights":
        slot.weights = slot.weights[::-1]
    elif change == "cache type":
        slot.confidence = -1.01
    elif change != "hash":
        key = {"template": "chat_template", "build": "build_info", "file": "model_path"}[change]
        monkeypatch.setattr(slot, "props", lambda: {**props, key: "another"})
    async with started(fake, folder, sha256=("b" if change == "hash" else "a") * 64) as second:
        assert await second.ask() == "miss"
        assert not second.states.has(PAGE)
    assert "restore" not in slot.actions


@pytest.mark.parametrize("damage", ["truncated", "swapped", "empty", "foreign"])
async def test_damaged_states_never_reach_the_server(
    bot: Bot, slot: FakeSlot, folder: Path, damage: str
) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    one, two = pages(folder)
    first, second = one.read_bytes(), two.read_bytes()
    if damage == "truncated":
        one.write_bytes(first[:-100])
        two.write_bytes(second[:-100])
    elif damage == "swapped":
        one.write_bytes(second)
        two.write_bytes(first)
    elif damage == "empty":
        one.write_bytes(b"")
        two.write_bytes(b"")
    else:
        one.write_bytes(first.replace(b"fake-model", b"fake-other"))
        two.write_bytes(second.replace(b"fake-model", b"fake-other"))
    assert await bot.ask() == "miss"
    assert await bot.ask(prefix=OTHER) == "miss"
    assert pages(folder) == []
    assert "restore" not in slot.actions
    await bot.warm()
    assert await bot.ask() == "hit"


async def test_a_server_that_dies_of_a_state_does_not_meet_it_again(
    bot: Bot, slot: FakeSlot, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    slot.die_in = "restore"
    with caplog.at_level(logging.WARNING, "bot.states"):
        assert await bot.ask() == "miss"
    assert len(caplog.records) == 1
    assert len(pages(folder)) == 1
    assert await bot.ask(prefix=OTHER) == "hit"


async def test_a_server_that_dies_while_it_saves_leaves_no_state(
    bot: Bot, slot: FakeSlot, folder: Path
) -> None:
    slot.die_in = "save"
    assert await bot.warm() == Warmed(tokens=PAGE_TOKENS, saved=False)
    assert await bot.ask() == "miss"
    assert everything(folder) == []
    assert (await bot.warm()).saved


async def test_a_full_disk_is_one_line_and_a_rest(
    bot: Bot, slot: FakeSlot, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await bot.warm(OTHER)
    slot.disk_full = True
    with caplog.at_level(logging.WARNING, "bot.states"):
        for _ in range(3):
            assert await bot.warm() == Warmed(tokens=PAGE_TOKENS, saved=False)
            assert await bot.ask() == "hit"  # it lies in the slot all the same
    assert len(caplog.records) == 1
    assert slot.actions.count("save") == 2
    assert bot.states.stats().problem is not None
    assert bot.states.enabled
    assert len(everything(folder)) == 2
    assert await bot.ask(prefix=OTHER) == "hit"  # what is there serves on
    slot.disk_full = False
    bot.clock.now += REST_SECONDS
    assert (await bot.warm()).saved
    assert bot.states.stats().problem is None


async def test_a_folder_that_vanishes_costs_the_states_only(
    bot: Bot, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    shutil.rmtree(folder)
    with caplog.at_level(logging.WARNING, "bot.states"):
        assert await bot.ask() == "miss"
        assert not (await bot.warm()).saved
        assert not (await bot.warm()).saved
    assert len(caplog.records) == 1
    bot.clock.now += REST_SECONDS
    assert (await bot.warm()).saved
    assert await bot.ask() == "hit"


async def test_a_folder_that_is_not_the_servers_is_said(
    fake: FakeLlama, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with started(fake, tmp_path / "elsewhere") as bot:
        with caplog.at_level(logging.WARNING, "bot.states"):
            assert not (await bot.warm()).saved
        assert await bot.ask() == "hit"
    assert "--slot-save-path" in caplog.text


@pytest.mark.parametrize("unfit", ["no folder", "two slots", "no slot API", "old"])
async def test_an_unfit_server_switches_states_off_with_one_line(
    folder: Path, unfit: str, caplog: pytest.LogCaptureFixture
) -> None:
    slot = FakeSlot(None if unfit == "no folder" else folder)
    slot.slots = 2 if unfit == "two slots" else 1
    slot.marker = "<__media__>" if unfit == "old" else slot.marker
    with FakeLlama(slot=None if unfit == "no slot API" else slot) as fake:
        async with started(fake, folder) as bot:
            with caplog.at_level(logging.WARNING, "bot.states"):
                for _ in range(2):
                    assert await bot.ask() == "miss"
                    assert await bot.warm() == Warmed(tokens=0, saved=False)
            assert not bot.states.enabled
            assert len(caplog.records) == 1
            assert bot.states.stats().problem is not None


async def test_a_server_that_gets_the_slot_api_gets_states(fake: FakeLlama, folder: Path) -> None:
    assert fake.slot is not None
    fake.slot.folder = None
    async with started(fake, folder) as bot:
        assert not await bot.states.connect()
        assert not bot.states.enabled
        fake.slot.folder = folder
        fake.slot.restart()
        assert await bot.states.connect()
        assert bot.states.enabled


async def test_a_model_that_does_not_reuse_states_is_found_out(
    bot: Bot, slot: FakeSlot, caplog: pytest.LogCaptureFixture
) -> None:
    """A sliding window: without this, pages would be warmed and thrown away for ever."""
    slot.reuses = False
    for _ in range(3):
        await bot.warm()
        await bot.warm(OTHER)
        assert await bot.ask() == "miss"
    assert not bot.states.enabled
    assert await bot.ask() == "miss"
    assert slot.actions.count("restore") == 3


async def test_a_state_that_is_reused_in_part_is_counted_and_deleted(
    bot: Bot, slot: FakeSlot
) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    restored = await bot.states.restore(PAGE)
    finished = Finished(
        finish_reason="stop", input_tokens=PAGE_TOKENS + 5, output_tokens=1,
        cached_tokens=PAGE_TOKENS - 40,
    )  # fmt: skip
    assert bot.states.answered(restored, finished, PAGE, None) == "partial"
    await bot.states.retain([PAGE, OTHER])  # waits for the deletion before it
    assert not bot.states.has(PAGE)
    assert bot.states.has(OTHER)
    assert bot.states.stats().partials == 1


async def test_the_cap_holds_while_pages_are_warmed(
    fake: FakeLlama, slot: FakeSlot, folder: Path
) -> None:
    slot.bytes_a_token = FIRST_GUESS_BYTES
    cap = int(PAGE_TOKENS * FIRST_GUESS_BYTES * 2.5)
    async with started(fake, folder, cap_bytes=cap) as bot:
        for number in range(6):
            await bot.warm(Prefix(text=f"{PAGE.text} {number}"))
            assert sum(sizes(folder)) <= cap + 2000  # the notes
        assert bot.states.stats().pages == 2
        assert await bot.warm(OTHER, make_room=False) == Warmed(tokens=0, saved=False)
        assert bot.states.stats().pages == 2
        assert fake.pieces == 6 * 2


async def test_two_visitors_take_turns_and_each_evaluates_only_the_new_turn(
    bot: Bot, slot: FakeSlot
) -> None:
    await bot.warm()
    past: dict[str, tuple[Message, ...]] = {"ana": (), "ben": ()}
    for turn in range(3):
        for who in ("ana", "ben"):
            question = f"{who} asks {turn}"
            assert await bot.ask(question, who, past=past[who]) == "hit"
            assert bot.evaluated <= 12
            past[who] += (
                Message(role="user", content=question),
                Message(role="assistant", content="Hello world."),
            )
    assert bot.restored.source == "conversation"
    assert bot.states.stats().conversations == 2


async def test_a_conversation_is_saved_after_its_answer_and_nobody_waits_for_it(
    bot: Bot, slot: FakeSlot
) -> None:
    await bot.warm()
    await bot.ask("one", "ana")
    await bot.states.settled()
    assert bot.states.stats().conversations == 1
    slot.actions.clear()
    await bot.ask("two", "ben", OTHER)
    assert "save" not in slot.actions[:1]
    past = (Message(role="user", content="one"), Message(role="assistant", content="Hello world."))
    assert await bot.ask("three", "ana", past=past) == "hit"
    assert bot.restored.source == "conversation"


@pytest.mark.parametrize("meanwhile", ["forgotten", "slot used"])
async def test_what_changes_while_a_conversation_is_saved_leaves_nothing_of_it(
    bot: Bot, fake: FakeLlama, slot: FakeSlot, folder: Path, meanwhile: str
) -> None:
    """After another use the file might hold somebody else's words under the first one's conversation."""
    await bot.warm()
    saves = fake.paths.count(SAVE)
    slot.hold = threading.Event()
    # The page lies in the slot, so that the save is the first action.
    await bot.ask("my secret is xyzzy", "ana")
    assert await asyncio.to_thread(fake.wait_until, lambda: fake.paths.count(SAVE) > saves, 10.0)
    if meanwhile == "forgotten":
        await bot.states.forget("ana")
    else:
        bot.states.used()
    slot.hold.set()
    slot.hold = None
    await bot.states.settled()
    await bot.states.retain([PAGE])  # waits for the deletions before it
    assert conversations(folder) == []
    assert bot.states.stats().conversations == 0


async def test_no_words_of_a_visitor_get_into_a_page_or_a_name(bot: Bot, folder: Path) -> None:
    await bot.warm()
    await bot.ask("my secret is xyzzy", "conversation-of-ana")
    await bot.warm(OTHER)  # drives ana out: her state is saved
    await bot.ask("something", "ben", OTHER)
    kept = conversations(folder)
    assert len(kept) == 1
    assert b"xyzzy" in kept[0].read_bytes()
    assert all(b"xyzzy" not in path.read_bytes() for path in pages(folder))
    assert all("ana" not in path.name for path in everything(folder))
    assert await bot.ask("and", "conversation-of-cleo") == "hit"
    assert bot.restored.source == "page"  # not ana's, although the page is the same


async def test_a_use_of_the_slot_in_between_keeps_the_page_from_being_saved(
    bot: Bot, fake: FakeLlama, folder: Path
) -> None:
    """Were it saved, the page's state would hold the other visitor's question."""
    held = Reply(hold="prompt")
    fake.enqueue_prefix(held)
    warming = asyncio.create_task(bot.warm())
    await evaluating(fake)
    await bot.ask("secret")
    held.gate.set()
    assert not (await warming).saved
    assert pages(folder) == []


async def test_a_second_bot_on_the_same_slot_is_noticed_too(
    bot: Bot, slot: FakeSlot, fake: FakeLlama, folder: Path
) -> None:
    held = Reply(hold="prompt")
    fake.enqueue_prefix(Reply(), held)
    warming = asyncio.create_task(bot.warm())
    await asyncio.to_thread(fake.wait_until, lambda: fake.pieces == 2)  # the last one
    slot.words += ["secret", "of", "another", "bot"]
    held.gate.set()
    assert not (await warming).saved
    assert everything(folder) == []


async def test_conversations_die_with_their_ttl_and_when_forgotten(bot: Bot, folder: Path) -> None:
    await bot.warm()
    await bot.ask("one", "ana")
    await bot.ask("two", "ben", OTHER)
    await bot.ask("three", "cleo")
    assert len(conversations(folder)) == 2
    await bot.states.forget("ben")
    assert len(conversations(folder)) == 1
    bot.clock.now += TTL_SECONDS
    await bot.ask("four", "ana", past=(Message(role="user", content="one"),))
    assert bot.restored.source == "page"
    await bot.states.retain([PAGE, OTHER])  # waits for the deletions before it
    kept = conversations(folder)
    assert len(kept) == 1
    assert b"three" in kept[0].read_bytes()


async def test_a_conversation_whose_page_changed_takes_the_page(bot: Bot) -> None:
    await bot.warm(OTHER)
    await bot.warm()
    await bot.ask("one", "ana")
    await bot.ask("two", "ben", OTHER)
    assert await bot.ask("three", "ana", OTHER) == "hit"
    assert bot.restored.source == "page"


async def test_a_failed_answer_leaves_the_slot_unknown(bot: Bot, fake: FakeLlama) -> None:
    await bot.warm()
    fake.enqueue(Reply(cut_after=10))
    with pytest.raises(ModelError):
        await bot.ask(conversation="ana")
    assert await bot.ask(conversation="ana") == "hit"
    assert (bot.restored.kind, bot.restored.source) == ("hit", "page")


async def test_warming_that_is_left_frees_the_server(bot: Bot, fake: FakeLlama) -> None:
    held = Reply(hold="prompt")
    fake.enqueue_prefix(held)
    warming = asyncio.create_task(bot.warm())
    await evaluating(fake)
    warming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await warming
    assert await asyncio.to_thread(fake.wait_until, lambda: fake.aborted == 1, 5.0)
    assert fake.pieces == 1  # what was not asked for can't be read for nobody
    assert not bot.states.has(PAGE)
    assert (await bot.warm()).saved


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Reply(status=500, body=b"{}"), ModelUnavailable),
        (Reply(drop=True), ModelUnavailable),
        (Reply(body=b"not json"), ModelUnavailable),
        (
            Reply(status=400, body=b'{"error":{"type":"exceed_context_size_error"}}'),
            ContextOverflow,
        ),
    ],
)
async def test_a_piece_that_fails_ends_the_warming(
    bot: Bot, fake: FakeLlama, failure: Reply, error: type[Exception]
) -> None:
    fake.enqueue_prefix(Reply(), failure)
    with pytest.raises(error):
        await bot.warm()
    assert not bot.states.has(PAGE)
    assert (await bot.warm()).saved


@pytest.mark.parametrize("moment", ["save", "restore"])
async def test_leaving_while_a_state_moves_harms_nothing(
    bot: Bot, fake: FakeLlama, slot: FakeSlot, moment: str
) -> None:
    await bot.warm(OTHER)
    if moment == "restore":
        await bot.warm()
        await bot.warm(OTHER)
    slot.hold = threading.Event()
    work = bot.states.restore(PAGE) if moment == "restore" else bot.warm()
    task = asyncio.ensure_future(work)
    asked, before = f"POST /slots/0?action={moment}", len(slot.actions)
    paths = fake.paths[:]
    assert await asyncio.to_thread(
        fake.wait_until, lambda: fake.paths.count(asked) > paths.count(asked), 10.0
    )
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(slot.actions) == before
    slot.hold.set()
    slot.hold = None
    if moment == "save":
        assert (await bot.warm()).saved
    assert await bot.ask() == "hit"


async def test_a_slot_that_stays_busy_is_a_miss_after_a_while(
    bot: Bot, fake: FakeLlama, slot: FakeSlot, folder: Path
) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    async with started(fake, folder, action_seconds=0.3) as hasty:
        await hasty.states.connect()
        slot.hold = threading.Event()
        assert (await hasty.states.restore(PAGE)).kind == "miss"
        slot.hold.set()
        slot.hold = None
    assert await bot.ask() == "hit"


async def test_calls_at_once_do_not_disturb_each_other(bot: Bot) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    found = await asyncio.gather(*(bot.states.restore(p) for p in (PAGE, OTHER) * 10))
    assert all(restored.kind in ("hit", "held") for restored in found)
    assert await bot.ask() == "hit"


async def test_a_server_that_is_away_is_a_miss_and_deletes_nothing(folder: Path) -> None:
    slot = FakeSlot(folder)
    with FakeLlama(slot=slot) as fake:
        async with started(fake, folder) as bot:
            await bot.warm()
            fake.loading = True
            assert (await bot.states.restore(PAGE)).kind == "miss"
            assert await bot.warm() == Warmed(tokens=0, saved=False)
            fake.loading = False
            assert await bot.ask() == "hit"
            fake.close()
            assert (await bot.states.restore(PAGE)).kind == "miss"
            assert bot.states.enabled
    assert len(pages(folder)) == 1


async def test_retain_keeps_what_the_new_index_has(bot: Bot) -> None:
    await bot.warm()
    await bot.warm(OTHER)
    await bot.states.retain([OTHER])
    assert not bot.states.has(PAGE)
    assert bot.states.has(OTHER)


class Chaos:
    """What an unkind world does to files and servers, from a seed."""

    def __init__(self, seed: int, slot: FakeSlot, folder: Path) -> None:
        self.random = random.Random(seed)
        self._slot = slot
        self._folder = folder

    def strike(self) -> None:
        files = [path for path in everything(self._folder) if path.suffix == ".kv"]
        deed = self.random.randrange(12)
        if deed == 0 and files:
            victim = self.random.choice(files)
            victim.write_bytes(victim.read_bytes()[: self.random.randrange(1, 5000)])
        elif deed == 1 and len(files) > 1:
            one, two = self.random.sample(files, 2)
            content = one.read_bytes()
            one.write_bytes(two.read_bytes())
            two.write_bytes(content)
        elif deed == 2 and files:
            self.random.choice(everything(self._folder)).unlink()
        elif deed == 3:
            self._slot.restart()
        elif deed == 4:
            self._slot.restart(self.random.choice(["fake-model", "fake-other"]))
        elif deed == 5:
            self._slot.die_in = self.random.choice(["save", "restore"])
        elif deed == 6:
            self._slot.disk_full = not self._slot.disk_full


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_that_happens_to_files_and_servers_makes_an_answer_wrong(
    fake: FakeLlama, slot: FakeSlot, folder: Path, seed: int
) -> None:
    chaos = Chaos(seed, slot, folder)
    made = [Prefix(text=f"{PAGE.text} {number}") for number in range(4)]
    cap = 20_000_000
    for _ in range(3):
        async with started(fake, folder, cap_bytes=cap) as bot:
            for _ in range(25):
                bot.clock.now += chaos.random.choice([0, 1, REST_SECONDS])
                chaos.strike()
                prefix = chaos.random.choice(made)
                if chaos.random.random() < 0.5:
                    await bot.warm(prefix)
                outcome = await bot.ask("a secret", chaos.random.choice(["ana", None]), prefix)
                assert outcome in ("hit", "miss")
                page = ["<system>", *prefix.text.split(), "<end>"]
                assert slot.words[: len(page)] == page
                assert slot.foreign_restores == slot.deaths == 0
                assert sum(sizes(folder)) <= cap + 10_000
    assert bot.states.enabled
    leftovers = [path.read_bytes() for path in pages(folder)]
    assert all(b"secret" not in content for content in leftovers)


async def test_no_folder_or_no_room_is_off(tmp_path: Path) -> None:
    from bot.adapters.states.build import open_states
    from corpus.settings import Settings

    provider = ProviderSettings(states_path=str(tmp_path / "s"))
    for off in (replace(provider, states_path=""), replace(provider, states_megabytes=0)):
        async with open_states(Settings(providers=(off,))) as states:
            assert states == ()
    assert not (tmp_path / "s").exists()
    async with open_states(Settings(providers=(provider,))) as (states,):
        assert states.enabled
        assert states.stats().cap_bytes == 4_096_000_000


class Pair:
    """Two chat servers of one model, one folder, one bot."""

    def __init__(self, slots: list[FakeSlot], bots: list[Bot]) -> None:
        self.slots = slots
        self.bots = bots


@pytest.fixture
async def pair(folder: Path) -> AsyncIterator[Pair]:
    slots = [FakeSlot(folder), FakeSlot(folder)]
    clock = Clock()
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(
            StatesFolder(StateStore(folder, 10_000_000), ttl_seconds=TTL_SECONDS, clock=clock)
        )
        bots = []
        for slot in slots:
            provider = ProviderSettings(endpoint=stack.enter_context(FakeLlama(slot=slot)).url)
            states = await stack.enter_async_context(SlotStates(SlotServer(provider), shared))
            model = LlamaServer(provider, on_stream=states.used)
            bots.append(Bot(states, await stack.enter_async_context(model), clock))
        yield Pair(slots, bots)


async def test_a_page_evaluated_by_one_server_is_warm_at_the_other(pair: Pair) -> None:
    first, second = pair.bots
    await first.warm()
    assert first.states.held_tokens(PAGE) == PAGE_TOKENS
    assert second.states.held_tokens(PAGE) == 0
    assert await second.ask() == "hit"
    assert second.restored.kind == "hit"
    assert second.states.held_tokens(PAGE) == PAGE_TOKENS
    assert second.states.held_tokens(OTHER) == 0


async def test_a_conversation_that_left_one_slot_goes_on_at_the_other(pair: Pair) -> None:
    first, second = pair.bots
    await first.warm()
    await first.ask("what is sold", "ana")
    held = first.states.held_tokens(PAGE, "ana")
    assert held > PAGE_TOKENS
    assert first.states.held_tokens(PAGE, "ben") == PAGE_TOKENS
    await first.ask("and where", "ben")
    assert first.states.held_tokens(PAGE, "ana") == PAGE_TOKENS
    past = (Message(role="user", content="what is sold"), Message(role="assistant", content="ok"))
    assert await second.ask("how much", "ana", past=past) == "hit"
    assert (second.restored.kind, second.restored.source) == ("hit", "conversation")
    assert second.restored.tokens == held
    assert second.states.held_tokens(PAGE, "ana") > held


async def test_a_conversation_of_another_model_is_not_taken_over(pair: Pair) -> None:
    first, second = pair.bots
    pair.slots[1].restart("fake-other")
    await first.warm()
    await first.ask("what is sold", "ana")
    await first.ask("and where", "ben")
    assert await second.ask("how much", "ana") == "miss"
    assert [slot.foreign_restores for slot in pair.slots] == [0, 0]


async def test_every_address_is_a_chat_server_with_a_slot_of_its_own(tmp_path: Path) -> None:
    from bot.adapters.build import open_ports
    from corpus.settings import RagSettings, Settings

    provider = ProviderSettings(
        endpoint="http://127.0.0.1:9", more_endpoints=("http://127.0.0.1:10",),
        states_path=str(tmp_path / "s"),
    )  # fmt: skip
    rag = RagSettings(index_path=str(tmp_path / "index"))
    for states_path, count in ((str(tmp_path / "s"), 2), ("", 0)):
        providers = (replace(provider, states_path=states_path),)
        async with open_ports(Settings(providers=providers, rag=rag)) as ports:
            servers = ports.chat_servers
            assert len({id(server.model) for server in servers}) == 2
            assert len({id(server.states) for server in servers if server.states}) == count
