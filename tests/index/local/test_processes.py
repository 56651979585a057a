"""One writer, many readers, in other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from reference.index import near_codes, of_codes
from support.budgets import budget

import neardup as nd

SECONDS = budget(3, 60)

READER = """
import json, sys, time
import neardup as nd
from neardup.index.local import session

path, seconds = sys.argv[1], float(sys.argv[2])
rounds = states = 0
with nd.Index(path, mode="read") as index:
    print("open", flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end or not states:
        assert time.monotonic() < end + 300, "nothing changed"
        # Every change keeps these true: pages come and go in pairs, equal and under one keeper.
        entries = {entry.id: entry for entry in index.documents()}
        for id, entry in entries.items():
            twin = id[:-1] + ("b" if id.endswith("a") else "a")
            assert twin in entries, f"half a change: {id}"
            assert entries[twin].text == entry.text and entries[twin].keeper == entry.keeper, id
        for id, entry in list(entries.items())[:3]:
            found = {hit.id for hit in index.search(entry.text)}
            assert {other for other, its in entries.items() if its.text == entry.text} <= found
        assert len(entries) == len(index)
        rounds += 1
        states += index.refresh()
    assert index.verify().sound
print(json.dumps({"rounds": rounds, "states": states}))
"""


def run_python(script: str, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def text(page: int, version: int) -> str:
    return f"page {page} in its version {version} " + " ".join(f"word{page}x{n}" for n in range(40))


@pytest.mark.process
@pytest.mark.slow
def test_readers_see_whole_states(tmp_path):
    readers_many = budget(3, 8)
    with nd.Index(tmp_path / "i") as index:
        index.seen([nd.Document("0a", text(0, 0)), nd.Document("0b", text(0, 0))])
        readers = [run_python(READER, str(tmp_path / "i"), str(SECONDS)) for _ in range(readers_many)]
        for reader in readers:
            assert reader.stdout.readline() == "open\n", reader.stderr.read()
        end, version = time.monotonic() + SECONDS, 0
        while time.monotonic() < end or any(reader.poll() is None for reader in readers):
            version += 1
            page = version % 17
            pair = [
                nd.Document(f"{page}a", text(page, version)),
                nd.Document(f"{page}b", text(page, version)),
            ]
            index.seen(pair)
            if version % 5 == 0:
                index.remove([f"{(page + 3) % 17}a", f"{(page + 3) % 17}b"])
            if version % 40 == 0:
                index.compact()
        for reader in readers:
            out, err = reader.communicate(timeout=300)
            assert reader.returncode == 0, err
            reported = json.loads(out)
            assert reported["rounds"] > 0 and reported["states"] > 0


@pytest.mark.process
def test_a_second_writer_is_refused_by_name(tmp_path):
    with nd.Index(tmp_path / "i"):
        with pytest.raises(nd.DataError, match=f"process {os.getpid()} has this index open"):
            nd.Index(tmp_path / "i")
        other = run_python("import sys, neardup as nd; nd.Index(sys.argv[1])", str(tmp_path / "i"))
        _, err = other.communicate(timeout=300)
        assert other.returncode == 1 and f"process {os.getpid()}" in err
    with nd.Index(tmp_path / "i"):
        pass


def test_a_reader_sees_its_snapshot_until_it_refreshes(tmp_path):
    codes = near_codes(3, 60)
    with of_codes(tmp_path / "i") as index:
        index.add_prints([str(n) for n in range(20)], codes.take(slice(0, 20)))
        with nd.Index(tmp_path / "i", mode="read") as reader:
            index.add_prints([str(n) for n in range(20, 60)], codes.take(slice(20, 60)))
            index.remove(["0", "1"])
            assert len(reader) == 20 and reader.get("0") is not None and "30" not in reader
            assert len(reader.search_prints(codes)[0]) >= 1
            assert reader.refresh() and not reader.refresh()
            assert len(reader) == 58 and reader.get("0") is None
            assert reader.search_prints(codes) == index.search_prints(codes)
            assert reader.verify().sound
            with pytest.raises(nd.ConfigError, match="reading"):
                reader.remove("5")
            with pytest.raises(nd.ConfigError, match="reading"):
                reader.add_prints(["x"], codes.take(slice(0, 1)))


def test_a_reader_far_behind_the_log_loads_again(tmp_path, monkeypatch, eager):
    from neardup.index.local import cache

    monkeypatch.setattr(cache, "LOG_KEPT", 0)
    codes = near_codes(4, 40)
    ids = [str(n) for n in range(40)]
    with of_codes(tmp_path / "i") as index:
        index.add_prints(ids, codes)
        with nd.Index(tmp_path / "i", mode="read") as reader:
            index.remove(ids[:10])
            index.compact()
            index.remove(ids[10:12])
            assert reader.refresh()
            assert reader.search_prints(codes) == index.search_prints(codes)
            assert reader.verify().sound


def test_searches_beside_a_writer_in_one_process(tmp_path):
    """Threads that search while others add and remove: every pair is found whole or not at all."""
    stop, failures = threading.Event(), []
    with nd.Index(tmp_path / "i", nd.Config(near=False), store="none") as index:

        def look() -> None:
            while not stop.is_set():
                for page in range(5):
                    found = sorted(hit.id for hit in index.search(f"page {page}"))
                    if found not in ([], [f"{page}a", f"{page}b"]):
                        failures.append(found)

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for step in range(60):
            page = step % 5
            index.seen([nd.Document(f"{page}a", f"page {page}"), nd.Document(f"{page}b", f"page {page}")])
            index.remove([f"{(page + 2) % 5}a", f"{(page + 2) % 5}b"])
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


@pytest.mark.process
def test_nothing_acknowledged_is_lost_to_kill(tmp_path):
    script = Path(__file__).parents[3] / "tools" / "crash_test.py"
    kills = budget(20, 1000)
    done = subprocess.run(
        [sys.executable, str(script), "--kills", str(kills)],
        capture_output=True,
        text=True,
        timeout=budget(600, 3600),
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["kills"] == kills and reported["operations"] > 0 and reported["under_way"] > 0


def test_a_page_that_is_fetched_again_and_again_is_always_there(tmp_path):
    """Each time a new row takes the place of the old one. A search that used the old tables and then the new database,
    or the other way round, would find nothing, or two."""
    stop, failures, looked = threading.Event(), [], []
    with nd.Index(tmp_path / "i", nd.Config(near=False), store="none") as index:
        page = nd.Document("steady", "the same page, whenever it is fetched")
        index.seen([page])

        def look() -> None:
            while not stop.is_set():
                try:
                    found = [hit.id for hit in index.search(page.text)]
                except Exception as error:
                    found = [repr(error)]
                looked.append(1)
                if found != ["steady"]:
                    failures.append(found)
                    return

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        end = time.monotonic() + 1.5
        while (time.monotonic() < end or len(looked) <= 20) and not failures:
            index.seen([page])
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
