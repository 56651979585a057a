"""Files appear whole or not at all; one process has a lock; rows beyond memory come back as they were."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import DataError
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.lock import FileLock
from neardup.storage.spill import PARTITIONS, Shelf, Spill


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_appears_when_it_is_whole(tmp_path: Path, durable: bool) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")
    with AtomicFile(target, durable=durable) as file:
        file.write(b"new")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]
    with pytest.raises(RuntimeError), AtomicFile(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


def test_a_secret_file_is_its_owners_alone(tmp_path: Path) -> None:
    with AtomicFile(tmp_path / "key", secret=True) as file:
        file.write(b"x")
        assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()] == [0o600]
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        AtomicFile(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        AtomicFile(tmp_path / "none" / "file")


@pytest.mark.process
def test_a_lock_is_one_process_s_and_is_freed_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import sys, time; from pathlib import Path; from neardup.storage.lock import FileLock\n"
        f"lock = FileLock(Path({str(path)!r}), note=b'the other'); print('held', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    try:
        with pytest.raises(DataError, match="the other"):
            FileLock(path, lambda note: DataError(note.decode()))
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    with FileLock(path, lambda note: DataError(note.decode()), b"mine") as lock:
        assert lock.holds() and path.read_bytes() == b"mine"
        path.unlink()
        assert not lock.holds()
        path.touch()
        assert not lock.holds()


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=30), max_size=6), st.integers(1, 40), st.data())
def test_rows_beyond_memory_come_back_by_partition(tmp_path_factory, batches, most, data) -> None:
    memory = data.draw(st.sampled_from([0, 200, 1 << 20]))
    folder = tmp_path_factory.mktemp("spill") / "rows" if data.draw(st.booleans()) else None
    spill = Spill((np.uint64, np.int64), lambda columns: columns[0] % np.uint64(PARTITIONS), folder, memory)
    added = []
    for batch in batches:
        rows = np.arange(len(added), len(added) + len(batch))
        spill.add(np.array(batch, np.uint64), rows)
        added += batch
    parts = [spill.read(files) for files in spill.parts(most)]
    keys = [int(key) for part in parts for key in part[0]]
    rows = [int(row) for part in parts for row in part[1]]
    assert sorted(rows) == list(range(len(added))) and all(
        added[row] == key for key, row in zip(keys, rows, strict=True)
    )
    if spill.bytes_written:
        assert [key % PARTITIONS for key in keys] == sorted(key % PARTITIONS for key in added)
        held = [{key % PARTITIONS for key in part[0].tolist()} for part in parts]
        assert sum(map(len, held)) == len(set().union(*held))  # no partition is cut
    else:
        assert keys == added
    assert [column.tolist() for part in spill for column in part[:1]] == [
        part[0].tolist() for part in map(spill.read, spill.parts())
    ]


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_shelf_gives_columns_back_in_order(tmp_path: Path, on_disk: bool) -> None:
    shelf = Shelf(tmp_path / "shelf" if on_disk else None)
    given_ = [[np.arange(n), np.arange(2 * n)] for n in (3, 0, 5)]
    for columns in given_:
        shelf.put(columns)
    assert [[c.tolist() for c in columns] for columns in shelf] == [
        [c.tolist() for c in columns] for columns in given_
    ]
