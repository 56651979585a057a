"""Random damage to the files of an index, an export or a findings folder, and to the values of a shared index; each
case in a child that may die.

    python -m support.damaged_files index 0 500

A file is cut, a bit of it flipped, or a range of it zeroed. Whatever is asked of it then must be answered as before, or
refused by a NeardupError or an OSError with words. A child that dies, hangs, raises anything else or answers otherwise
is a failure; its case has a number, so that it can be run again alone.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reference.redis import Server

import neardup as nd
from neardup.findings import (
    DecisionLog,
    explain_pair,
    list_clusters,
    list_protected,
    read_decisions,
    summarize,
)
from neardup.findings.audit import audited, draw_removals, record
from neardup.index.rebuild import import_index, recover_index, reindex
from support.child_cases import run_cases

__all__ = ["KINDS", "run_damage"]

SECONDS = 60  # far more than a case takes
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ale", "ore", "ine", "uth", "ask", "elt")]
LOGS = ("decisions.jsonl", "audit.jsonl")
FOREVER = 10_000  # documents; there are far fewer


def text_of(number: int) -> str:
    """Most are short, and stored as they are: what is compressed has a checksum of its own."""
    family, own = random.Random(number % 20), random.Random(number)
    words = family.choices(WORDS, k=18 if number % 20 else 60)
    if own.randrange(3):
        words[own.randrange(len(words))] = own.choice(WORDS)
    return " ".join(words)


def damage(path: Path, rng: random.Random) -> str:
    """Cut, flip or zero; what was done, in words."""
    data, done = damaged(path.read_bytes(), rng)
    path.write_bytes(data)
    return f"{done[0]} of {path.name} at {done[1]}"


def damaged(sound: bytes, rng: random.Random) -> tuple[bytes, tuple[str, int]]:
    """The damaged data, and what was done where."""
    data = bytearray(sound)
    if not data:
        return sound, ("nothing", 0)
    place, kind = rng.randrange(len(data)), rng.choice(("cut", "flip", "flip", "zero"))
    if kind == "cut":
        place = rng.choice((place, max(len(data) - rng.randrange(1, 9000), 0)))
        del data[place:]
    elif kind == "flip":
        place = rng.choice((place, rng.randrange(min(len(data), 200)), place))
        data[place] ^= 1 << rng.randrange(8)
    else:
        size = min(rng.choice((1, 16, 512, 4096, 8192)), len(data) - place)
        data[place : place + size] = bytes(size)
    return bytes(data), (kind, place)


class Wrong(Exception):
    """An answer that is not what the sound files give."""


def tried(call: Callable[[], Any]) -> Any:
    """The answer, or None if it was refused in words that say something."""
    try:
        return call()
    except (nd.errors.NeardupError, OSError) as error:
        if not str(error).strip():
            raise Wrong(f"{type(error).__name__} without a word") from None
        return None


def same(what: str, found: Any, expected: Any) -> None:
    if found is not None and found != expected:
        raise Wrong(f"{what} is not as it was: {str(found)[:150]} instead of {str(expected)[:150]}")


def plain(entries: Iterator[Any]) -> list[Any]:
    listed = []
    for entry in entries:
        listed.append((entry.id, entry.keeper, entry.meta, entry.text, entry.fingerprint))
        if len(listed) > FOREVER:
            raise Wrong("documents without an end")
    return listed


class IndexCase:
    """An index with its cache."""

    def __init__(self, folder: Path) -> None:
        self.sound = folder / "sound"
        with nd.Index(self.sound, seed=7) as index:
            index.add([nd.Document(f"d{n}", text_of(n), {"n": n}) for n in range(150)])
            index.compact()
            index.remove([f"d{n}" for n in range(0, 30, 3)])
            index.add(
                [nd.Document(f"e{n}", text_of(n + 40)) for n in range(20)]
                + [nd.Document("long", " ".join(text_of(n) for n in range(400)))]
            )
        self.queries = [text_of(n) for n in range(0, 150, 40)]
        self.ids = [f"d{n}" for n in range(0, 150, 29)] + ["e3", "long", "none"]
        self.expected = self.answers(self.sound)
        self.documents = {entry[0]: entry for entry in self.expected["documents"]}
        assert all(value is not None for value in self.expected.values())

    def answers(self, folder: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        with nd.Index(folder, mode="read") as index:
            found["sound"] = tried(lambda: index.verify().sound)
            found["documents"] = tried(lambda: plain(index.documents()))
            found["search"] = tried(lambda: index.search(self.queries))
            found["get"] = tried(lambda: plain(entry for entry in index.get_all(self.ids) if entry))
            found["cluster"] = tried(lambda: [index.cluster(id) for id in self.ids])
            found["count"] = tried(lambda: len(index))
        return found

    def run(self, folder: Path, rng: random.Random) -> str:
        copy = folder / "copy"
        shutil.copytree(self.sound, copy)
        files = [copy / "index.sqlite"] * 3 + sorted((copy / "cache").iterdir())
        said = damage(rng.choice(files), rng)
        found = tried(lambda: self.answers(copy)) or {}
        if found.get("sound"):
            for name, expected in self.expected.items():
                if found[name] is None:
                    raise Wrong(f"{said}: {name} is refused, and verify finds nothing")
                same(f"{said}: {name}", found[name], expected)
        found.pop("sound", None)
        for name, value in found.items():
            # Which rows follow a keeper is an index of SQLite's, which verify checks.
            if name != "cluster":
                same(f"{said}: {name}", value, self.expected[name])
        slow = rng.choice(("recover", "export", "reindex", "write", "backup", "nothing"))
        done = tried(lambda: recover_index(copy, folder / "saved")) if slow == "recover" else None
        if done is not None:
            with nd.Index(folder / "saved", mode="read") as saved:
                for entry in plain(saved.documents()):
                    known = self.documents.get(entry[0])
                    if known is None or (entry[0], *entry[2:]) != (known[0], *known[2:]):
                        raise Wrong(f"{said}: recover gives {str(entry)[:100]}")
        if slow not in ("recover", "nothing"):
            self.others(copy, folder, slow, said)
        return said

    def others(self, copy: Path, folder: Path, kind: str, said: str) -> None:
        """One of the slower calls."""
        opened = tried(lambda: nd.Index(copy, mode="write" if kind == "write" else "read"))
        if opened is None:
            return
        with opened as index:
            if kind == "export":
                count = tried(lambda: index.export(folder / "out.jsonl"))
                same(f"{said}: export", count, self.expected["count"])
            elif kind == "reindex":
                count = tried(lambda: reindex(index, folder / "again"))
                same(f"{said}: reindex", count, self.expected["count"])
            elif kind == "backup":
                tried(lambda: index.backup(folder / "backup"))
            else:
                tried(lambda: index.seen(text_of(999), id="new"))
                tried(lambda: index.remove(["d1", "d2"]))
                tried(index.compact)


class ExportCase:
    """An export with its key."""

    def __init__(self, folder: Path) -> None:
        with nd.Index(folder / "i", seed=7) as index:
            index.add([nd.Document(f"d{n}", text_of(n), {"n": n}) for n in range(60)])
            self.expected = plain(index.documents())
            for name in ("a.jsonl", "a.parquet"):
                index.export(folder / name)
        self.folder = folder

    def run(self, folder: Path, rng: random.Random) -> str:
        name = rng.choice(("a.jsonl", "a.parquet"))
        for file in (name, f"{name}.key"):
            shutil.copyfile(self.folder / file, folder / file)
        said = damage(folder / rng.choice((name, name, f"{name}.key")), rng)
        count = tried(lambda: import_index(folder / "made", str(folder / name)))
        if count is not None:
            with nd.Index(folder / "made", mode="read") as index:
                same(said, plain(index.documents()), self.expected)
        elif (folder / "made" / "index.sqlite").exists():
            raise Wrong(f"{said}: half an index was made")
        return said


class FindingsCase:
    """The findings of a scan with decisions and audited removals: what `apply` writes by them, and the other
    answers."""

    def __init__(self, folder: Path) -> None:
        self.input = folder / "in.jsonl"
        rows = ({"id": f"d{n}", "text": text_of(n)} for n in range(150))
        self.input.write_text(
            "".join(json.dumps(row) + "\n" for row in (*rows, {"id": "none", "text": True}))
        )
        self.sound = folder / "sound.findings"
        found = nd.scan(self.input, self.sound)
        for pair in range(0, 12, 4):
            DecisionLog(found).add("reject", int(found.pairs.left[pair]), int(found.pairs.right[pair]))
        for drawn in draw_removals(found, found.cut(), 3):
            record(found, drawn, "right")
        self.pair = found.ids(found.pairs.left[:1])[0], found.ids(found.pairs.right[:1])[0]
        nd.apply(self.sound, folder / "out.jsonl", allow_mass_removal=True)
        self.expected = (folder / "out.jsonl").read_bytes()
        self.answers = self.asked(self.sound)
        assert all(answer is not None for answer in self.answers)

    def asked(self, folder: Path) -> list[Any]:
        """What is asked of findings; each question opens them again."""

        def cut(ask: Callable[[nd.Findings, Any], Any]) -> Any:
            found = nd.Findings(folder)
            return ask(found, found.cut())

        return [
            tried(lambda: summarize(nd.Findings(folder)).to_json()),
            tried(lambda: cut(list_clusters)),
            tried(lambda: explain_pair(nd.Findings(folder), *self.pair)),
            tried(lambda: [decision.to_json() for decision in read_decisions(nd.Findings(folder))]),
            tried(lambda: cut(audited)),
            tried(lambda: cut(list_protected)),
        ]

    def run(self, folder: Path, rng: random.Random) -> str:
        copy = folder / "copy.findings"
        shutil.copytree(self.sound, copy)
        files = [copy / "manifest.json"] * 3
        files += sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size)
        file = rng.choice(files)
        said = damage(file, rng)
        expected, answers = self.expected, self.answers
        if file.name in LOGS and not said.startswith("flip"):
            expected, answers = self.with_lines(folder, file)
        out = folder / "out.jsonl"
        if tried(lambda: nd.apply(copy, out, allow_mass_removal=True)):
            same(said, out.read_bytes(), expected)
        elif out.exists():
            raise Wrong(f"{said}: refused, and an output is there")
        for number, (answer, right) in enumerate(zip(self.asked(copy), answers, strict=True)):
            same(f"{said}: answer {number}", answer, right)
        return said

    def with_lines(self, folder: Path, log: Path) -> tuple[bytes, list[Any]]:
        """A log that lost its end is as after a crash: what is expected of the lines that are still complete."""
        whole = folder / "whole.findings"
        shutil.copytree(self.sound, whole)
        sound, data = (whole / log.name).read_bytes().splitlines(True), log.read_bytes()
        lines = [line for number, line in enumerate(sound) if data.startswith(b"".join(sound[: number + 1]))]
        (whole / log.name).write_bytes(b"".join(lines))
        nd.apply(whole, folder / "whole.jsonl", allow_mass_removal=True)
        return (folder / "whole.jsonl").read_bytes(), self.asked(whole)


class SharedCase:
    """An index in Redis. Its server checks what it writes to disk, and its values have no digests: so a changed value
    may give another answer, and must give no other error, no crash and no hang."""

    def __init__(self, folder: Path) -> None:
        self.server = Server(shutil.which("redis-server") or "redis-server", folder / "redis").start()
        atexit.register(self.server.kill)
        self.address = f"{self.server.url}?name=case&expected=200&patience=0.05"
        with nd.Index(self.address, seed=7) as index:
            index.add([nd.Document(f"d{n}", text_of(n), {"n": n}) for n in range(150)])
            index.remove([f"d{n}" for n in range(0, 30, 3)])
        self.client = self.server.client()
        self.sound = {key: self.client.dump(key) for key in self.client.scan_iter(count=1000)}
        assert len(self.sound) > 50

    def run(self, folder: Path, rng: random.Random) -> str:
        pipe = self.client.pipeline()
        pipe.flushdb()
        for key, value in self.sound.items():
            pipe.restore(key, 0, value)
        pipe.execute()
        key = rng.choice(sorted(self.sound) + [b"{case}"] * 20)
        kind = self.client.type(key)
        if kind == b"hash":
            field, value = rng.choice(sorted(self.client.hgetall(key).items()))
            changed, (how, place) = damaged(value, rng)
            self.client.hset(key, field, changed)
        elif kind == b"string":
            changed, (how, place) = damaged(self.client.get(key), rng)
            self.client.set(key, changed)
        else:
            self.client.delete(key)
            how, place = "removal", 0
        said, ids = f"{how} of {key!r} at {place}", [f"d{n}" for n in range(0, 150, 7)]
        for mode in ("read", "write"):
            opened = tried(lambda mode=mode: nd.Index(self.address, mode=mode))
            if opened is None:
                continue
            with opened as index:
                tried(lambda: plain(index.documents()))
                tried(lambda: index.search([text_of(n) for n in range(0, 150, 7)]))
                tried(lambda: index.get_all(ids))
                tried(lambda: [index.cluster(id) for id in ids])
                tried(lambda: len(index))
                tried(lambda: index.stats())
                tried(lambda: index.verify())
                if mode == "write":
                    tried(lambda: index.add([nd.Document(f"f{n}", text_of(n)) for n in range(0, 60, 3)]))
                    tried(lambda: index.remove(ids[:9]))
                    tried(lambda: index.compact())
        return said


KINDS: dict[str, Callable[[Path], Any]] = {
    "index": IndexCase,
    "export": ExportCase,
    "findings": FindingsCase,
    "shared index": SharedCase,
}


def _child(kind: str, first: int, count: int) -> None:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nothing here waits for a disk
    with tempfile.TemporaryDirectory(dir=memory) as place:
        case = KINDS[kind](Path(place))
        for number in range(first, first + count):
            os.write(1, b"\n%d" % number)
            folder = Path(place) / "case"
            folder.mkdir()
            signal.alarm(SECONDS)
            try:
                case.run(folder, random.Random(f"{kind} {number}"))
            except Exception as error:
                os.write(1, f" {type(error).__name__}: {str(error)[:400]!r}".encode())
            shutil.rmtree(folder)
        signal.alarm(0)
        os.write(1, b"\nend\n")


def run_damage(kind: str, first: int, count: int) -> list[str]:
    """What went wrong, a line for each case that did."""
    return run_cases("support.damaged_files", kind, first, count)


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
