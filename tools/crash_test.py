"""Kill a process that writes to an index, again and again, and see what is left.

A child opens the index and does random things to it: batches of documents, updates, removals, compaction. It says what
it is about to do and, once the call has returned, that it is done. At a random moment it is killed with SIGKILL. Then
the index must open and be sound; everything said to be done must be there, and what was under way wholly or not at all;
and a copy without its cache must give the same answers. Exit code 0 if all of that held every time.

    python tools/crash_test.py --kills 1000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import neardup as nd
from neardup.index.local import session

IDS = 60
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ale", "ore", "ine", "uth", "ask", "elt")]


def text_of(id: str, version: int) -> str:
    """Documents come in families of near-duplicates: versions of a family differ in one or two words."""
    family = random.Random(int(id[1:]) % 7)
    words = family.choices(WORDS, k=60)
    change = random.Random(f"{id} {version}")
    for _ in range(change.randrange(3)):
        words[change.randrange(len(words))] = change.choice(WORDS)
    return " ".join(words)


def operations(seed: str):
    """The work of a child, which never ends."""
    rng = random.Random(seed)
    while True:
        kind = rng.choices(["seen", "remove", "compact", "save"], [12, 5, 1, 1])[0]
        if kind == "seen":
            ids = rng.sample(range(IDS), rng.choice([1, 3, 20]))
            yield {"do": "seen", "documents": [[f"d{i}", rng.randrange(1000)] for i in ids]}
        elif kind == "remove":
            yield {"do": "remove", "ids": [f"d{i}" for i in rng.sample(range(IDS), rng.choice([1, 4]))]}
        else:
            yield {"do": kind}


def work(folder: Path, seed: str, tell: int) -> None:
    """The child: open, and do things until killed."""
    session.ROWS_BEFORE_SAVE, session.FEW_ROWS = 25, 1

    def say(line: dict) -> None:
        os.write(tell, (json.dumps(line) + "\n").encode())

    index = nd.Index(folder)
    say({"open": True})
    for operation in operations(seed):
        say(operation)
        if operation["do"] == "seen":
            index.seen([nd.Document(id, text_of(id, version)) for id, version in operation["documents"]])
        elif operation["do"] == "remove":
            index.remove(operation["ids"])
        elif operation["do"] == "compact":
            index.compact()
        else:
            with index._store.session.writer:
                index._store.session.save()
        say({"done": True})


def applied(state: dict[str, int], operation: dict | None) -> dict[str, int]:
    after = dict(state)
    for id, version in (operation or {}).get("documents", ()):
        after[id] = version
    for id in (operation or {}).get("ids", ()):
        after.pop(id, None)
    return after


def run_and_kill(folder: Path, seed: str, rng: random.Random, state: dict[str, int]):
    """One child, killed; gives the acknowledged state, the operation under way, and how many were done."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(hear)
            work(folder, seed, tell)
        finally:
            os._exit(1)  # only reached by an error
    os.close(tell)
    # One in eight dies while it opens the index, the others while they work.
    doomed = time.monotonic() + (0.03 * rng.random() if rng.random() < 1 / 8 else 30)
    heard, killed = b"", False
    while True:
        ready, _, _ = select.select([hear], [], [], max(0.0, doomed - time.monotonic()))
        if not ready and not killed:
            os.kill(child, signal.SIGKILL)
            killed = True
            doomed = time.monotonic() + 60
            continue
        part = os.read(hear, 1 << 16)
        if not part:
            break
        if not killed and b'"open"' in part:
            doomed = time.monotonic() + 0.15 * rng.random()
        heard += part
    os.close(hear)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"the child ended by itself: {status}")
    under_way, done = None, 0
    for line in heard.split(b"\n")[:-1]:
        said = json.loads(line)
        if "done" in said:
            state, under_way, done = applied(state, under_way), None, done + 1
        elif "do" in said:
            under_way = said
    return state, under_way, done


def answers(index: nd.Index) -> tuple:
    """All that can be asked of an index."""
    texts = [text_of(f"d{i}", 0) for i in range(14)]
    found = [[(h.id, h.distance, h.similarity) for h in hits] for hits in index.search(texts)]
    keepers = {entry.id: (entry.row, entry.keeper) for entry in index.documents()}
    return found, keepers


def check(folder: Path, state: dict[str, int], under_way: dict | None) -> dict[str, int]:
    """Open what was left behind; gives the state found, or raises."""
    with nd.Index(folder, mode="read") as index:
        entries = list(index.documents())
        texts = {entry.id: entry.text for entry in entries}
        if len(texts) != len(entries):
            raise SystemExit("a document is there twice")
        possible = [state, applied(state, under_way)]
        for candidate in possible:
            if texts == {id: text_of(id, version) for id, version in candidate.items()}:
                break
        else:
            raise SystemExit(
                f"neither the acknowledged state nor the next: {sorted(texts)} {sorted(state)} {under_way}"
            )
        health = index.verify()
        if not health.sound:
            raise SystemExit(f"not sound: {health.problems}")
        here = answers(index)
    copy = folder.with_name("rebuilt")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("cache"))
    with nd.Index(copy, mode="read") as index:
        if answers(index) != here:
            raise SystemExit("a rebuilt index gives other answers")
    return candidate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = random.randrange(2**32) if arguments.seed is None else arguments.seed
    rng, start = random.Random(seed), time.monotonic()
    state: dict[str, int] = {}
    done = kept = idle = 0
    parent = tempfile.mkdtemp()
    try:
        folder = Path(parent) / "index"
        for kill in range(arguments.kills):
            acknowledged, under_way, count = run_and_kill(folder, f"{seed} {kill}", rng, state)
            done, idle = done + count, idle + (under_way is None)
            if (folder / "index.sqlite").exists():
                state = check(folder, acknowledged, under_way)
                kept += under_way is not None and state != acknowledged
            elif acknowledged:
                raise SystemExit("the database is gone")
    except BaseException:
        print(f"seed {seed}", file=sys.stderr)
        raise
    finally:
        shutil.rmtree(parent, ignore_errors=True)
    result = {
        "kills": arguments.kills,
        "operations": done,
        "under_way": arguments.kills - idle,
        "under_way_kept": int(kept),
        "seconds": round(time.monotonic() - start, 1),
        "seed": seed,
        "numpy": np.__version__,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
