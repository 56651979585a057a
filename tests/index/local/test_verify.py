"""`verify` beside a writer: files that it replaces are no damage, and damage is found however busy it is."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reference.index import near_codes, of_codes

import neardup as nd
from neardup.index.local.cache import LOOKS, Cache

CODES = near_codes(9, 300)
IDS = [str(n) for n in range(300)]

WRITER = """
import itertools, sys
import neardup as nd

with nd.Index(sys.argv[1]) as index:
    print("ready", flush=True)
    for n in itertools.count():
        index.seen([nd.Document(f"new-{n % 50}", f"page {n}")])
        if n % 3 == 0:
            index.remove([f"new-{(n + 7) % 50}"])
        with index._store.session.writer:
            index._store.session.save()
        if n % 10 == 0:
            index.compact()
"""


@contextlib.contextmanager
def busy_writer(path: Path) -> Iterator[None]:
    """A process that adds, removes and writes cache files as fast as it can."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        yield
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()


@pytest.fixture
def pages(tmp_path) -> Path:
    """An index whose first cache file is so large that a busy writer leaves it alone."""
    with nd.Index(tmp_path / "i", nd.Config(near=False), store="none") as index:
        index.add(nd.Document(f"old-{n}", f"old page {n}") for n in range(3000))
        index.compact()
    return tmp_path / "i"


@pytest.mark.parametrize("changes", [True, False])
def test_files_that_were_replaced_are_no_damage(tmp_path, changes):
    with of_codes(tmp_path / "i") as index:
        index.add_prints(IDS[:100], CODES.take(slice(0, 100)))
        index.compact()
        with nd.Index(tmp_path / "i", mode="read") as reader:
            before = {path.name for path in (tmp_path / "i" / "cache").iterdir()}
            if changes:
                index.add_prints(IDS[100:], CODES.take(slice(100, 300)))
                index.remove(IDS[:10])
            index.compact()
            after = {path.name for path in (tmp_path / "i" / "cache").iterdir()}
            assert before - after
            health = reader.verify()
            assert health.problems == () and health.documents == 100
            # `verify` keeps its snapshot: only `refresh` moves it.
            assert len(reader) == 100 and reader.get("0") is not None
            assert reader.refresh() == changes
            assert reader.verify().documents == len(index) == (290 if changes else 100)


def test_a_reader_behind_sees_damage_to_newer_files(tmp_path):
    with of_codes(tmp_path / "i") as index:
        index.add_prints(IDS[:100], CODES.take(slice(0, 100)))
        index.compact()
        with nd.Index(tmp_path / "i", mode="read") as reader:
            index.add_prints(IDS[100:], CODES.take(slice(100, 300)))
            index.compact()
            for path in (tmp_path / "i" / "cache").iterdir():
                whole = path.read_bytes()
                path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
                for one in (reader, index):
                    problems = one.verify().problems
                    assert len(problems) == 1 and path.name in problems[0]
                path.unlink()
                assert path.name in reader.verify().problems[0] and path.name in index.verify().problems[0]
                path.write_bytes(whole)
            assert reader.verify().sound and index.verify().sound


def test_tables_that_are_wrong_are_noticed(tmp_path):
    with of_codes(tmp_path / "i") as index:
        index.add_prints(IDS[:100], CODES.take(slice(0, 100)))
        index.compact()
        with nd.Index(tmp_path / "i", mode="read") as reader:
            reader._store.session.state.tables.remove(np.array([5]))
            assert {said.split(": ")[1] for said in reader.verify().problems} == {
                "ids are missing from the tables",
                "fingerprints are missing from the tables",
            }
        with index._store.session.database.transaction():
            index._store.session.database.run("DELETE FROM documents WHERE row = 7")
        said = " ".join(index.verify().problems)
        assert (
            "tables disagree on which rows are deleted" in said
            and "cache disagree on which rows are deleted" in said
        )
        assert "the counter says 100 documents, and 99 are stored" in said


@pytest.mark.process
def test_verify_beside_a_busy_writer(pages):
    with busy_writer(pages), nd.Index(pages, mode="read") as reader:
        assert reader.rebuilt == ()
        end = time.monotonic() + 3
        for step in itertools.count():
            if step > 5 and time.monotonic() > end:
                break
            assert reader.verify().problems == ()
            if step % 2:
                reader.refresh()
        with nd.Index(pages, mode="read") as another:
            assert another.rebuilt == ()


@pytest.mark.process
@pytest.mark.parametrize("how", ["flipped", "missing"])
def test_damage_beside_a_busy_writer_is_reported(pages, how):
    with busy_writer(pages), nd.Index(pages, mode="read") as reader:
        large = max((pages / "cache").glob("rows-0-*"), key=lambda path: path.stat().st_size)
        whole = large.read_bytes()
        if how == "flipped":
            large.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        else:
            large.unlink()
        for _ in range(5):
            assert [problem for problem in reader.verify().problems if large.name in problem]
            reader.refresh()
        with nd.Index(pages, mode="read") as another:
            assert [problem for problem in another.rebuilt if large.name in problem]


def test_a_reader_opens_although_its_files_are_always_replaced(tmp_path, monkeypatch):
    """Every time the files are looked for, a writer has just replaced them: the database takes their place."""
    with of_codes(tmp_path / "i") as index:
        index.add_prints(IDS[:100], CODES.take(slice(0, 100)))
        index.compact()
        listed, looks = Cache._listed, itertools.count()

        def and_replaced(self, store):
            files = listed(self, store)
            if self is not index._store.session.cache and store._connection.in_transaction:
                next(looks)
                index.compact()
            return files

        monkeypatch.setattr(Cache, "_listed", and_replaced)
        with nd.Index(tmp_path / "i", mode="read") as reader:
            assert next(looks) == LOOKS
            assert reader.rebuilt == () and len(reader) == 100
            assert reader.search_prints(CODES) == index.search_prints(CODES)
            assert reader.verify().sound
