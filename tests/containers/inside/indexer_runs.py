"""Runs the real indexer again and again; run inside a container of the indexer. Prints one JSON line.

    python indexer_runs.py publish RUNS        one new index after the other
    python indexer_runs.py kill KILLS SEED     killed at random moments

Each run has new text to embed and a new index to publish. Every other kill waits until the new file is
being written: that part is short, and where a kill would do harm. After each kill a reader must find
exactly one whole version, the old or the new one; after each tenth, and at the end, a run that nobody
disturbs must leave nothing behind of the killed ones. The runs are forks of one process, so that Python
and its modules are loaded once.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from corpus.errors import CorpusError
from corpus.pointer import INDEX_PATTERN, KEPT_OLD_INDEXES, read_pointer
from corpus.reader import open_index
from indexer.cli import main

FOLDER = Path(os.environ["PORTFOLIO_BOT__RAG__INDEX_PATH"])
CONTENT = Path("/tmp/content")
PAGE = CONTENT / "projects/killed.md"
SECTIONS = 2
LONGEST_RUN_SECONDS = 120.0


def write_version(number: int) -> None:
    """A page that no earlier run has embedded."""
    sections = [f"## Part {part}\n\nversion{number} of part {part}: {number * 7919 + part} umbrellas, "
                f"sorted by a weather balloon on day {number}.\n" for part in range(SECTIONS)]  # fmt: skip
    PAGE.write_text(f"---\ntitle: Killed\nlang: en\n---\n# Killed\n\n{''.join(sections)}")


def start() -> int:
    """The indexer as a child that says nothing; its process id."""
    if pid := os.fork():
        return pid
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os._exit(main(["--json-only"]))


def undisturbed() -> tuple[float, float]:
    """A whole run: its seconds, and how long of it the new file was being written and published."""
    pid, begun, writing = start(), time.monotonic(), 0.0
    while not (done := os.waitpid(pid, os.WNOHANG))[0]:
        if not writing and any(FOLDER.glob(".building-*")):
            writing = time.monotonic()
        time.sleep(0.001)
    if code := os.waitstatus_to_exitcode(done[1]):
        raise SystemExit(f"a run that nobody disturbed ended with {code}")
    ended = time.monotonic()
    return ended - begun, ended - (writing or ended)


def killed(pid: int, moment: float, *, while_writing: bool) -> bool:
    """Kill it so many seconds after its start, or after it began to write; False: it was done before."""
    limit = time.monotonic() + LONGEST_RUN_SECONDS
    while while_writing and not any(FOLDER.glob(".building-*")) and time.monotonic() < limit:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        time.sleep(0.001)
    time.sleep(moment)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def seen(documents: int) -> set[int] | str:
    """Versions of the page in the index in service; a sentence where it is not whole."""
    try:
        index = open_index(FOLDER)
    except CorpusError as error:
        return str(error)
    try:
        if not index.has_vectors or len(index.documents) != documents:
            return f"{len(index.documents)} documents, vectors: {index.has_vectors}"
        passages = [index.passage(int(chunk)) for chunk in index.chunk_ids]
    finally:
        index.close()
    text = " ".join(p.chunk.text for p in passages if p.document.path.endswith(PAGE.name))
    words = [word for word in text.split() if word.startswith("version")]
    if len(words) < SECTIONS:
        return f"{len(words)} of {SECTIONS} parts of the page"
    return {int(word.removeprefix("version")) for word in words}


def leftovers() -> list[str]:
    """What a good run should have removed."""
    current = read_pointer(FOLDER).index
    old = sorted(path.name for path in FOLDER.glob(INDEX_PATTERN) if path.name != current)
    unfinished = [path.name for path in FOLDER.glob(".*") if path.name != ".indexer.lock"]
    return [*old[:-KEPT_OLD_INDEXES], *unfinished]


def torment(kills: int, seed: int) -> dict[str, object]:
    """So many kills, and what came of them."""
    chance = random.Random(seed)
    write_version(0)
    undisturbed()
    write_version(1)
    whole, writing = undisturbed()
    index = open_index(FOLDER)
    documents = len(index.documents)
    index.close()
    number = service = 1
    done, too_late, kept, moved, unfinished = 0, 0, 0, 0, 0
    bad: list[str] = []
    begun = time.monotonic()
    while done < kills and too_late <= 3 * kills:
        number += 1
        write_version(number)
        late = bool(done % 2)
        if not killed(start(), chance.uniform(0, writing if late else whole), while_writing=late):
            too_late += 1
            service = number
            continue
        done += 1
        unfinished += any(FOLDER.glob(".building-*"))
        found = seen(documents)
        if found not in ({service}, {number}):
            bad.append(f"kill {done}: {found}, expected {service} or {number}")
        elif found == {number}:
            service, moved = number, moved + 1
        else:
            kept += 1
        if done % 10 == 0 or done == kills:
            undisturbed()
            service = number
            bad += [f"after kill {done}: {name} was left" for name in leftovers()]
            if (found := seen(documents)) != {number}:
                bad.append(f"after a good run: {found}, expected {number}")
    return {"kills": done, "too_late": too_late, "old": kept, "new": moved, "unfinished": unfinished,
            "bad": bad, "run_seconds": round(whole, 2), "writing_seconds": round(writing, 3),
            "seconds": round(time.monotonic() - begun, 1)}  # fmt: skip


def publish(runs: int) -> dict[str, object]:
    """So many new indexes, as fast as the indexer can."""
    begun = time.monotonic()
    for number in range(runs):
        write_version(number)
        undisturbed()
    return {"published": runs, "seconds": round(time.monotonic() - begun, 1)}


if __name__ == "__main__":
    shutil.copytree("/app/data", CONTENT)
    for key, folder in (("DATA_PATH", "projects"), ("DOCS_PATH", "docs"), ("POSTS_PATH", "posts")):
        os.environ[f"PORTFOLIO_BOT__RAG__{key}"] = str(CONTENT / folder)
    numbers = [int(argument) for argument in sys.argv[2:]]
    print(json.dumps(publish(*numbers) if sys.argv[1] == "publish" else torment(*numbers)))
