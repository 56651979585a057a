"""The benchmark of Spark itself: events go to the right stages, rows are kept one by one, estimates are plain sums."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from benchmarks import scale
from benchmarks.spark import __main__ as bench
from benchmarks.spark import events, table
from support.machines import MACHINE


def task(stage: int, *, failed: bool = False, **metrics: int) -> dict:
    counted = {
        "Executor Run Time": 500,
        "Disk Bytes Spilled": metrics.get("spilled", 0),
        "Peak Execution Memory": metrics.get("memory", 0),
        "Input Metrics": {"Bytes Read": 100, "Records Read": 10},
        "Output Metrics": {
            "Bytes Written": metrics.get("written", 0),
            "Records Written": metrics.get("rows", 0),
        },
        "Shuffle Write Metrics": {
            "Shuffle Bytes Written": metrics.get("shuffled", 0),
            "Shuffle Records Written": 3,
        },
    }
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task Info": {"Failed": failed},
        "Task Metrics": counted,
    }


def job(time: int, *stages: int) -> dict:
    return {"Event": "SparkListenerJobStart", "Submission Time": time, "Stage IDs": list(stages)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two stages, whole at 2 and 5 seconds, and a file of facts that is no stage."""
    for name, second, size in (("fingerprints", 2, 7), ("candidates", 5, 11)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-0.parquet").write_bytes(b"x" * size)
        mark = tmp_path / f"{name}.json"
        mark.write_text("{}")
        os.utime(mark, (second, second))
    (tmp_path / "run.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("rolling", [False, True])
def test_events_go_to_the_stage_that_was_being_made(run: Path, tmp_path: Path, rolling: bool) -> None:
    lines = [
        {"Event": "SparkListenerApplicationStart", "Timestamp": 500},
        job(1000, 0),
        task(0, written=40, rows=4, shuffled=1),
        task(0, failed=True, written=1000),
        job(2500, 1, 2),
        task(1, shuffled=300, spilled=9, memory=70),
        task(2, written=50, rows=5, shuffled=2, memory=60),
        job(4900, 2, 3),  # counts what was written; Spark's stage 2 is known already
        task(3),
    ]
    written = [json.dumps(line) + "\n" for line in lines]
    log = tmp_path / "log"
    if rolling:
        log.mkdir()
        (log / "events_10_app").write_text("".join(written[5:]))
        (log / "events_9_app").write_text("".join(written[:5]))
    else:
        log.write_text("".join(written))
    first, second = events.volumes(log, events.marks_of(run))
    assert (first.name, first.seconds, first.tasks, first.failed_tasks) == ("fingerprints", 1.5, 2, 1)
    assert (first.bytes_written, first.rows_written, first.kept_bytes, first.shuffle_bytes) == (40, 4, 7, 1)
    assert (second.name, second.seconds, second.tasks, second.task_seconds) == ("candidates", 3.0, 3, 1.5)
    assert (second.shuffle_bytes, second.shuffle_rows, second.spilled_bytes) == (302, 9, 9)
    assert (second.kept_bytes, second.peak_task_memory, second.rows_read) == (11, 70, 30)


def test_what_comes_after_the_last_stage_is_not_lost(run: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join(json.dumps(line) for line in (job(6000, 0), task(0, shuffled=5))))
    assert [(v.name, v.shuffle_bytes) for v in events.volumes(tmp_path / "log", events.marks_of(run))] == [
        ("fingerprints", 0),
        ("candidates", 0),
        ("after", 5),
    ]
    assert events.jobs(tmp_path / "log") == 1


def row(engine: str, documents: int, **more: object) -> dict:
    volume = events.Volume(
        "candidates", 1.0, 4, 0, documents / 1e4, 0, 0, documents, 0, 20 * documents, 0, 30 * documents
    )
    made = {
        "engine": engine,
        "corpus": f"{documents // 1000}k",
        "sha256": "0",
        "documents": documents,
        "part": False,
    }
    made |= {"bytes": 2000 * documents, "seconds": 10.0, "cpu_seconds": documents / 1e3, "peak_bytes": 10**9}
    made |= {"anonymous_bytes": 1, "disk_bytes": 50 * documents, "score": {"clusters": 7}, "keepers": "abc"}
    made |= {"date": "2026-01-01", "commit": "c", "machine": MACHINE, "versions": {"neardup": "0"}}
    return made | ({"volumes": [volume.to_json()]} if engine in ("driver", "spark") else {}) | more


def test_rows_are_kept_as_they_come(tmp_path: Path) -> None:
    kept = bench.Kept(tmp_path / "spark.json")
    for one in (row("spark", 2000), row("local", 1000), row("spark", 1000, seconds=9.0)):
        kept.add(one)
    again = bench.Kept(tmp_path / "spark.json")
    assert [(one["corpus"], one["engine"]) for one in again.rows] == [
        ("1k", "local"),
        ("1k", "spark"),
        ("2k", "spark"),
    ]
    again.add(row("spark", 1000, seconds=8.0))
    assert [one["seconds"] for one in bench.Kept(tmp_path / "spark.json").rows] == [10.0, 8.0, 10.0]


def test_sizes() -> None:
    assert [bench.documents(size) for size in ("2k", "300K", "1m")] == [2000, 300_000, 1_000_000]
    with pytest.raises(SystemExit, match="a number and k or m"):
        bench.documents("many")


def test_the_page_shows_a_different_answer_and_what_did_not_run() -> None:
    other = row("spark", 1000, keepers="abd")
    missing = {**row("datatrove", 1000), "not_run": "datatrove not installed"}
    del missing["seconds"]
    page = table.page({"rows": [row("local", 1000), other, missing]})
    assert "| 1k | spark | 1,000 | 2 | 10.0 | 1.0 | 1,000 | 0 | 7 | **no** |" in page
    assert "- datatrove on 1k was not run: datatrove not installed" in page
    assert "| candidates | 1.0 | 0.1 | 4 |" in page
    assert "| yes |" in table.page({"rows": [row("local", 1000), row("spark", 1000)]})
    page = table.page({"rows": [row("local", 1000), row("driver", 1000, keepers="abd"), row("spark", 1000)]})
    assert "| 1k | spark (driver decides) | 1,000 | 2 | 10.0 | 1.0 | 1,000 | 0 | 7 | **no** |" in page


def test_estimates_are_sums_that_can_be_followed() -> None:
    found = scale.coefficients([row("spark", 1000), row("spark", 2000)])
    assert found["candidates"]["shuffle_bytes"] == scale.Coefficient(30.0, 30.0, 30.0)
    cluster = scale.Cluster(cores=10, busy=0.5, price=0.1, hours=100, network_gbit=8, disk_gb=10**6)
    need = scale.need(found, 10**9, cluster)
    assert (need.text, need.kept, need.shuffled) == (2e12, 2e10, 3e10)
    assert need.cpu_hours == pytest.approx(1e6 / 3600)
    hours = 1e6 / 3600 / 5 + (2e12 + 4e10 + 3e10) / 1e9 / 3600
    assert need.machines == 1 and need.hours == pytest.approx(hours) and need.cost == pytest.approx(hours)
    # Disks can be what asks for machines: the largest shuffle twice over, on seven tenths of them.
    small = scale.Cluster(cores=10, busy=0.5, price=0.1, hours=1000, network_gbit=8, disk_gb=1)
    assert scale.need(found, 10**9, small).machines == 86
    crowded = scale.need(found, 10**9, cluster, crowd=3)
    assert crowded.cpu_hours == pytest.approx(3 * need.cpu_hours) and crowded.shuffled == 9e10


def test_fixed_costs_are_not_each_documents() -> None:
    of = scale.Coefficient.of
    assert of((1000, 10.0), (10_000, 19.0)) == scale.Coefficient(0.001, 0.01, 0.0019)
    assert of((1000, 9.0), (10_000, 9.0)).each == 9 / 10_000
    assert of(None, (10_000, 9.0)).each == 9 / 10_000
    assert of((1000, 1e6), (10_000, 1e8)).grew == "10.00" and of((1000, 0.0), (10_000, 9000.0)).grew == "-"


def test_the_planned_shards_are_on_the_page() -> None:
    page = scale.page({"rows": [row("local", 1000), row("spark", 1000)]}, scale.Cluster())
    assert "| 64GB | psm | 2 | 4 |" in page and "psm " in page
    assert "computed, not run" in page and "What this leaves out" in page and "This page is a trial" in page
    larger = scale.page({"rows": [row("local", 10**6), row("spark", 10**6)]}, scale.Cluster())
    assert "This page is a trial" not in larger and "| 10B | as measured | 20 TB |" in larger
