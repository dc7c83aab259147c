"""The index under kills, floods of new ones, broken files and full disks: what is in service stays whole."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.containers.conftest import Figure
from tests.containers.stack import Stack, docker, eventually

KILLS = 50
SEED = 7
PUBLISHED = 20
NOTICE_SECONDS = 60.0
"""The bot looks at the pointer each 2 s; the rest is for machines with other work."""
FIXED_QUESTION = "Which projects are there?"
UNUSABLE = (
    "truncated", "truncated, sum of what is there", "0 bytes", "one bit", "other schema",
    "no row of a passage", "foreign SQLite file", "no SQLite file", "pointer to nothing",
    "pointer out of the folder", "pointer of garbage",
)  # fmt: skip
DISK = "24m"
"""Room for six indexes of the sample site: the one in service, two old ones, a new one, and some."""
FREE_KIBIBYTES = (0, 64, 512, 2048)
"""Room on the full disk: none, for the first page, for some, for most of a new index."""
# Only what is in service: the old ones kept beside it would fill the disk.
COPY = r"""name=$(sed 's/.*"index":"\([^"]*\)".*/\1/' /index/current.json)
cp "/index/$name" /index/current.json /small/"""

pytestmark = pytest.mark.faults


def in_service(stack: Stack) -> dict[str, object]:
    """What the bot says of its index."""
    store = stack.health()[1]["components"]["store"]
    return {"status": store["status"], **store["details"]}


def taken_up(stack: Stack) -> None:
    """Wait until the bot has what the pointer names."""
    last = json.loads(stack.execute("bot", "cat", "/index/current.json").stdout)["built_at"]
    eventually(lambda: in_service(stack)["built_at"] == last, "swap", seconds=NOTICE_SECONDS)


@pytest.fixture
def own_index(stack: Stack) -> Iterator[None]:
    """Whatever the test publishes, the content of the stack is in service at its end."""
    yield
    stack.indexer()
    taken_up(stack)


def test_d1_the_indexer_is_killed_at_random_moments(
    stack: Stack, own_index: None, figure: Figure
) -> None:
    said = stack.indexer("python", "/inside/indexer_runs.py", "kill", str(KILLS), str(SEED))
    found = json.loads(said.stdout)
    assert found["bad"] == []
    assert found["kills"] == KILLS
    assert found["old"] > 0, "no kill came before the publishing: they test nothing"
    assert found["unfinished"] > 0, "no kill met a file that was being written"
    assert in_service(stack)["status"] == "healthy"
    assert stack.ask(FIXED_QUESTION).last == "done"
    figure("D1 indexer killed", f"{found['kills']} kills in {found['seconds']} s: old index "
           f"{found['old']} x, new one {found['new']} x, half written {found['unfinished']} x, "
           f"bad states {len(found['bad'])}, nothing left after the next good run")  # fmt: skip


def index_handles(stack: Stack) -> int:
    """Index files that the bot's processes hold open."""
    listed = stack.execute("bot", "sh", "-c", "ls -l /proc/[0-9]*/fd 2>/dev/null").stdout
    return listed.count("/index/index-")


def test_d3_new_indexes_while_visitors_ask(stack: Stack, own_index: None, figure: Figure) -> None:
    failed: list[str] = []
    asked = looked = 0
    ended: list[float] = []

    def publish() -> None:
        stack.indexer("python", "/inside/indexer_runs.py", "publish", str(PUBLISHED))
        ended.append(time.monotonic())

    publisher = threading.Thread(target=publish)
    publisher.start()
    while publisher.is_alive():
        status, report = stack.health()
        if status != 200 or report["components"]["store"]["status"] != "healthy":
            failed.append(f"health {status}: {report['components']['store']}")
        looked += 1
        reply = httpx.post(
            f"{stack.url}/api/chat",
            json={"messages": [{"role": "user", "content": FIXED_QUESTION}], "stream": False},
            timeout=60,
        )
        if reply.status_code != 429:
            asked += 1
            if reply.status_code != 200 or not reply.json()["sources"]:
                failed.append(f"answer {reply.status_code}: {reply.text[:200]}")
        time.sleep(0.2)
    publisher.join()
    assert ended, "the publisher failed"
    assert failed == []
    taken_up(stack)
    late = time.monotonic() - ended[0]
    handles = eventually(lambda: index_handles(stack) == 1, "old files closed") and 1
    assert asked > 5
    figure("D3 swaps", f"{PUBLISHED} indexes published, {asked} answers and {looked} looks meanwhile, errors "
           f"{len(failed)}; the last in service {late:.1f} s later, {handles} index file open")  # fmt: skip


@pytest.fixture(scope="module")
def spoil(stack: Stack) -> Iterator[object]:
    """Runs `inside/spoilt_index.py` in one container of the indexer that stays."""
    with stack.another("indexer", command=("sleep", "3600")) as execute:

        def run(case: str) -> None:
            execute("python", "/inside/spoilt_index.py", case)

        yield run
        run("restore")


def test_d4_a_broken_index_is_not_put_into_service(
    stack: Stack, spoil: object, figure: Figure
) -> None:
    assert callable(spoil)
    good = in_service(stack)
    told = []
    for case in UNUSABLE:
        spoil(case)
        eventually(lambda: "problem" in in_service(stack), case, seconds=NOTICE_SECONDS)
        found = in_service(stack)
        told.append(str(found["problem"]))
        assert (found["chunks"], found["built_at"]) == (good["chunks"], good["built_at"]), case
        assert stack.health()[0] == 200
        spoil("restore")
        eventually(lambda: in_service(stack) == good, f"healed: {case}", seconds=NOTICE_SECONDS)
    assert stack.ask(FIXED_QUESTION).last == "done"
    assert all(len(line) > 20 for line in told), told
    figure("D4 broken index", f"{len(told)} kinds: the old one stays in service, health says why")


def test_d4_an_index_of_another_model_is_searched_by_keywords(stack: Stack, spoil: object) -> None:
    assert callable(spoil)
    spoil("other embedding model")
    eventually(lambda: in_service(stack)["dense"] is False, "told", seconds=NOTICE_SECONDS)
    found = in_service(stack)
    assert found["status"] == "degraded"
    assert "another-model" in str(found["problem"])
    assert stack.ask(FIXED_QUESTION).last == "done"
    spoil("restore")
    eventually(lambda: in_service(stack)["dense"] is True, "healed", seconds=NOTICE_SECONDS)


def test_d5_stale_companions_are_not_read(stack: Stack, spoil: object, figure: Figure) -> None:
    """A -wal of another database beside a file made SQLite read wrong rows and say "ok" (measured)."""
    assert callable(spoil)
    good = in_service(stack)
    spoil("stale companions")
    stack.run("restart", "bot")
    stack.wait_until_good()
    assert in_service(stack) == good
    assert stack.ask(FIXED_QUESTION).last == "done"
    spoil("restore")
    figure("D5 companions", "-wal, -shm and -journal of garbage beside the file: not read")


def test_d6_of_two_indexers_one_works(stack: Stack, own_index: None, figure: Figure) -> None:
    """The first is held in its embedding by a server that does not answer, so that they do meet."""
    page = stack.data / "projects/two.md"
    page.write_text("# Two\n\nA page that has to be embedded, and the server pauses.\n")
    embed = stack.container("embed")
    docker("pause", embed)
    first = subprocess.Popen(
        [*stack.compose.docker_compose_command(), "run", "--rm", "--no-deps", "-T", "indexer",
         "chat-bot-index", "--json-only"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        busy = "import fcntl, sys\nf = open('/index/.indexer.lock')\n" \
            "try: fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)\nexcept OSError: sys.exit(1)"  # fmt: skip
        eventually(
            lambda: stack.execute("bot", "python", "-c", busy).returncode == 1, "the first holds it"
        )
        second = stack.indexer(check=False)
        assert second.returncode == 7, second.stderr
        assert "another indexer" in second.stderr
    finally:
        docker("unpause", embed)
        said, problems = first.communicate(timeout=300)
        page.unlink()
    assert first.returncode == 0, problems
    assert json.loads(said)["changed"] is True
    figure("D6 two indexers", "the second leaves with code 7 and one line, the first publishes")


def test_d7_a_reader_needs_no_rights(stack: Stack, figure: Figure) -> None:
    program = (
        "from pathlib import Path\nfrom corpus.reader import open_index\n"
        "index = open_index(Path('/index'))\nprint(len(index), index.has_vectors)"
    )
    volume = f"{stack.environment['COMPOSE_PROJECT_NAME']}_index:/index:ro"
    said = docker("run", "--rm", "--network", "none", "--user", "65532:65532", "--read-only",
                  "--cap-drop", "ALL", "--volume", volume, "--entrypoint", "python",
                  "portfolio-bot/bot:local", "-c", program).stdout  # fmt: skip
    assert said.split() == [str(in_service(stack)["chunks"]), "True"]
    figure("D7 reader", "uid 65532, volume and disk read-only: opens and reads all passages")


def test_f20_the_disk_is_full(stack: Stack, figure: Figure) -> None:
    """A bot of its own over a small disk: it answers from the old index whatever the indexer meets (D2)."""
    disk = f"{stack.environment['COMPOSE_PROJECT_NAME']}-small"
    docker("volume", "rm", "--force", disk)
    docker("volume", "create", "--driver", "local", "--opt", "type=tmpfs", "--opt", "device=tmpfs",
           "--opt", f"o=size={DISK},uid=10001,gid=10001", disk)  # fmt: skip
    page = stack.data / "projects/full.md"
    options = ("--volume", f"{disk}:/small", "-e", "PORTFOLIO_BOT__RAG__INDEX_PATH=/small")
    page.write_text("# Full\n\nA page of the first index.\n")
    codes = []
    try:
        # The bot holds the disk: what is on a tmpfs goes with its last user.
        with stack.another("bot", "--volume", f"{disk}:/small:ro", "-e",
                           "PORTFOLIO_BOT__RAG__INDEX_PATH=/small") as execute:  # fmt: skip

            def answers() -> bool:
                said = execute("chat-bot", "ask", "--json", FIXED_QUESTION, check=False)
                return said.returncode == 0 and bool(json.loads(said.stdout)["passages"])

            stack.indexer("sh", "-c", COPY, options=options)
            stack.indexer(options=options)
            eventually(answers, "the first answer", seconds=NOTICE_SECONDS)
            kept = execute("cat", "/small/current.json").stdout
            for free in FREE_KIBIBYTES:
                page.write_text(f"# Full\n\nA page of which there is room for {free} KiB.\n")
                fill = "rm -f /small/filler; cat /dev/zero >/small/filler 2>/dev/null; " \
                    f"truncate -s -{free}K /small/filler; exec chat-bot-index"  # fmt: skip
                failed = stack.indexer("sh", "-c", fill, options=options, check=False)
                codes.append(failed.returncode)
                assert "can't be written" in failed.stderr, failed.stderr
                assert "the old index is kept" in failed.stderr
                assert execute("cat", "/small/current.json").stdout == kept
                assert answers()
            stack.indexer("sh", "-c", "rm /small/filler; exec chat-bot-index", options=options)
            assert execute("cat", "/small/current.json").stdout != kept
            left = execute("sh", "-c", "ls -A /small").stdout.split()
            assert not [name for name in left if name.startswith((".building", ".current"))], left
    finally:
        page.unlink()
        docker("volume", "rm", "--force", disk, check=False)
    assert set(codes) == {8}
    figure("F20 disk full", f"{len(codes)} runs with {', '.join(map(str, FREE_KIBIBYTES))} KiB free: "
           "exit code 8, the bot answers from the old index; with room again the next is good")  # fmt: skip
