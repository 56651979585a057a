"""Two drivers on one run's folder: the second is refused while the first runs, and continues after it has ended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import functions as F
from support.spark_runs import write_jsonl

import neardup as nd
import neardup.spark as ns
from neardup.errors import ConfigError, DataError
from neardup.spark import lease
from neardup.spark.storage import Folder
from neardup.storage.checked_json import read_checked, write_checked

LONG = 120.0
ROWS = [{"id": n, "text": f"one of two pages of number {n // 2}"} for n in range(6)]
EXACT = nd.Config.of("exact")
# Another driver, as far as the folder is concerned.
HOLDER = """
import sys
from types import SimpleNamespace
from neardup.spark.lease import Lease

held = Lease(SimpleNamespace(path=sys.argv[1], local=sys.argv[1], make=lambda: None))
held.hold()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_driver() -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Starts a process that has the lock of a folder until it ends."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLDER, str(folder)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def scanned(path: str, run: Any, spark: Any, **options: Any) -> Any:
    stages = ns.file_stages(path, str(run), EXACT, spark=spark, partitions=1, **options)
    stages.decisions()
    return stages


def kept(stages: Any) -> int:
    return stages.decisions().where("kept").count()


@pytest.mark.process
def test_a_second_driver_is_refused_until_the_first_has_ended(
    spark: Any, tmp_path: Path, other_driver: Any
) -> None:
    path, run = write_jsonl(tmp_path / "a.jsonl", ROWS)[0], tmp_path / "run"
    run.mkdir()
    first = other_driver(run)
    for overwrite in (False, True):
        with pytest.raises(
            DataError, match=rf"another driver is writing there \(process {first.pid} on .*wait"
        ):
            scanned(path, run, spark, overwrite=overwrite)
    assert [entry.name for entry in run.iterdir()] == [lease.LEASE], "nothing was written"
    first.kill()
    first.wait()
    stages = scanned(path, run, spark)
    assert kept(stages) == 3
    # It is finished, so that another may have it though this process lives, and this one may read on.
    second = other_driver(run)
    assert stages.decisions().where("not kept").count() == 3
    with pytest.raises(DataError, match="another driver"):
        scanned(path, run, spark)
    second.kill()
    second.wait()
    with pytest.raises(ConfigError, match="run of other config"):
        ns.file_stages(path, str(run), nd.Config(), spark=spark)
    third = other_driver(run)  # a run that was refused or failed holds nothing either
    assert third.poll() is None


@pytest.fixture
def afar(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder on a filesystem of Hadoop's own that has no locks. Drivers there give signs of life often, and wait long
    for one: on a busy machine a thread may not run for seconds."""
    monkeypatch.setattr(lease, "BEAT", 0.2)
    monkeypatch.setattr(lease, "PATIENCE", LONG)
    monkeypatch.setattr(lease, "SETTLE", 0.1)
    (tmp_path / "far").mkdir()
    name = f"far{abs(hash(str(tmp_path)))}"
    spark._jsc.hadoopConfiguration().set(f"fs.viewfs.mounttable.{name}.link./runs", f"file://{tmp_path}/far")
    return f"viewfs://{name}/runs/run"


def silenced(holder: Any) -> None:
    """As if its machine had failed: no more heartbeats, and no process to check."""
    holder._over.set()
    for thread in threading.enumerate():
        if thread.name == "neardup-lease":
            thread.join()


def test_a_lease_is_kept_alive(spark: Any, afar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder(spark, afar)
    assert folder.local is None
    first = lease._Heartbeat(folder)
    before = folder.state(lease.LEASE)
    with pytest.raises(DataError, match=rf"another driver is writing there \(process {os.getpid()} on "):
        lease._Heartbeat(folder)
    assert folder.state(lease.LEASE) != before, "the owner wrote a heartbeat"
    first.check()
    silenced(first)
    monkeypatch.setattr(lease, "PATIENCE", 1.0)
    began = time.monotonic()
    second = lease._Heartbeat(folder)
    assert time.monotonic() - began >= 1.0
    with pytest.raises(DataError, match="another driver has taken it over"):
        first.check()
    first.release()
    second.check()  # only its owner gives a lease back
    second.release()
    assert folder.state(lease.LEASE) is None


def test_a_process_of_this_machine_that_has_ended_is_not_waited_for(spark: Any, afar: str) -> None:
    folder = Folder(spark, afar)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    record = json.loads(lease._record(name="x", system=lease._system()))
    record |= {"process": process.pid, "started": lease._started(process.pid)}
    assert record["started"] and not lease._ended(json.dumps(record).encode())
    process.communicate(b"\n")
    folder.make()
    assert folder.create(lease.LEASE, json.dumps(record).encode())
    assert not folder.create(lease.LEASE, b"")
    began = time.monotonic()
    lease._Heartbeat(folder).release()
    assert time.monotonic() - began < LONG


def test_a_run_on_such_a_filesystem(spark: Any, afar: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)[0]
    other = lease._Heartbeat(Folder(spark, afar))
    with pytest.raises(DataError, match="another driver is writing there"):
        scanned(path, afar, spark)
    other.release()
    assert kept(scanned(path, afar, spark)) == 3
    assert Folder(spark, afar).state(lease.LEASE) is None


def here(folder: Path) -> Any:
    return SimpleNamespace(path=str(folder), local=str(folder), make=lambda: None)


def test_a_lock_that_cannot_be_looked_at_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / lease.LEASE).mkdir()  # no user may open it, as with a file of another one's
    with pytest.raises(DataError, match=r"\.driver: .*name another folder"):
        lease.Lease(here(tmp_path)).hold()
    assert os.listdir(tmp_path) == [lease.LEASE]


def test_a_folder_that_is_removed_or_made_again_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for renewed in (False, True):
        folder.mkdir()
        held = lease.Lease(here(folder))
        held.check()
        shutil.rmtree(folder)
        if renewed:
            folder.mkdir()
            (folder / lease.LEASE).touch()
        with pytest.raises(DataError, match="was removed while this driver wrote"):
            held.check()
        held.release()


def test_a_suspended_driver_looks_before_it_writes(
    spark: Any, afar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT", LONG)
    folder = Folder(spark, afar)
    folder.claim({"inputs": 1}, 1, False)
    folder.replace(lease.LEASE, lease._record(name="another"))  # before the next heartbeat
    with pytest.raises(DataError, match="another driver has taken it over"):
        folder.stage("rows", lambda: spark.range(3))
    assert not folder.exists("rows")
    folder.lease.release()


def test_a_stage_is_of_one_run_and_one_write_job(spark: Any, tmp_path: Path) -> None:
    counted = {"count": F.count("*")}
    run = tmp_path / "run"
    folder = Folder(spark, str(run))
    assert folder.claim({"inputs": 1}, 7, False) == 7
    for _ in range(2):  # a stage without its facts is not complete
        with pytest.raises(ZeroDivisionError):
            folder.stage("rows", lambda: spark.range(3), facts_of=lambda: {"count": 1 // 0})
        assert not folder.done("rows")
    assert folder.stage("rows", lambda: spark.range(3), counted)["count"] == 3
    for part in list((run / "rows").glob("part-*")):  # a driver that was believed dead finishes its own
        number, _, rest = part.name.removeprefix("part-").partition("-")
        shutil.copy(part, run / "rows" / f"part-{number}-{'0' * 8}{rest[8:]}")
    again = Folder(spark, str(run))
    assert again.claim({"inputs": 1}, 9, False) == 7
    assert again.read("rows").count() == 3 < spark.read.parquet(str(run / "rows")).count()
    with pytest.raises(DataError, match="two drivers wrote there"):
        again._write_job("rows")
    again.claim({"inputs": 2}, 9, True)  # the same process holds the lease
    with pytest.raises(DataError, match="was removed or overwritten"):
        folder.stage("more", lambda: spark.range(3), counted)
    mark, _ = read_checked(run / "run.json", "the mark of a run")
    for layout in (None, 1, 2):
        (run / ".run.json.crc").unlink(missing_ok=True)
        write_checked(run / "run.json", {**mark, "layout": layout})
        with pytest.raises(ConfigError, match="a run of another version"):
            Folder(spark, str(run)).claim({"inputs": 2}, 9, False)
    (run / "run.json").write_text("{")
    assert Folder(spark, str(run)).claim({"inputs": 2}, 9, True) == 9


@pytest.mark.parametrize("seen", ["lease, empty", "empty, lease", "empty, empty, lease"])
def test_the_owner_is_named_while_its_heartbeat_is_written(monkeypatch: Any, seen: str) -> None:
    written = {"lease": lease._record(name="another"), "empty": b""}
    states = [(moment, written[name]) for moment, name in enumerate(seen.split(", "))]
    place: Any = SimpleNamespace(
        path="far",
        create=lambda name, data: False,
        state=lambda name: states.pop(0) if len(states) > 1 else states[0],
    )
    monkeypatch.setattr(lease, "BEAT", 0.01)
    with pytest.raises(DataError, match=rf"another driver is writing there \(process {os.getpid()} on "):
        lease._Heartbeat(place)


def test_a_heartbeat_on_its_way_does_not_put_back_a_lease_that_was_given_up(monkeypatch: Any) -> None:
    files: dict[str, bytes] = {}
    writing, go_on = threading.Event(), threading.Event()

    def replace(name: str, data: bytes) -> None:
        writing.set()
        assert go_on.wait(LONG)
        files[name] = data

    place: Any = SimpleNamespace(
        path="far",
        create=lambda name, data: files.setdefault(name, data) is data,
        replace=replace,
        remove=lambda name: files.pop(name, None),
        state=lambda name: (1, files[name]) if name in files else None,
    )
    monkeypatch.setattr(lease, "BEAT", 0.01)
    monkeypatch.setattr(lease, "SETTLE", 0.0)
    before = set(threading.enumerate())
    held = lease._Heartbeat(place)
    (beating,) = set(threading.enumerate()) - before
    assert writing.wait(LONG)
    giving_up = threading.Thread(target=held.release)
    giving_up.start()
    assert held._over.wait(LONG)
    go_on.set()
    giving_up.join(LONG)
    beating.join(LONG)
    assert files == {}
