"""Parts of a real cluster are killed in the middle of a stage: the job ends with the local pipeline's answer, and where
a driver was killed the next continues after the complete stages.

A kill must not come too late or too early. So the driver's script makes the tasks of some stages wait, before they give
out their first row, until the test lets them go: what is killed then is surely in the middle of that stage.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.corpora import planted, write_jsonl
from support.spark_cluster import Cluster, Driver, wait_for

import neardup as nd

pytestmark = [pytest.mark.slow, pytest.mark.process]

SCRIPT = '''
"""A scan, with stages that wait: scan.py INPUT RUN FINISH FOLDER [STAGE ...]. Prints what is dropped, as JSON."""
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

from pyspark.sql.readwriter import DataFrameWriter

import neardup.spark

source, run, finish, folder, *held = sys.argv[1:]


def wait(folder, name, batches):
    """Say which executor this is, and wait for leave to go on."""
    daemon = os.getppid()
    executor = Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1]
    Path(folder, f"{name}.{executor}.here").touch()
    end = time.monotonic() + 900
    while not Path(folder, f"{name}.go").exists():
        if time.monotonic() > end:
            raise TimeoutError(name)
        time.sleep(0.02)
    yield from batches


write = DataFrameWriter.parquet


def parquet(self, path, *arguments, **options):
    name = path.rpartition("/")[2]
    if name in held:
        waiting = self._df.mapInArrow(partial(wait, folder, name), self._df.schema)
        return write(waiting.write.mode("overwrite"), path, *arguments, **options)
    return write(self, path, *arguments, **options)


DataFrameWriter.parquet = parquet
stages = neardup.spark.file_stages(source, run, text="text", id="id", partitions=4, finish=int(finish), small=0)
dropped = stages.decisions().where("not kept").collect()
print(json.dumps(sorted([row.id, row.keeper, row.similarity] for row in dropped)))
'''


@pytest.fixture
def job(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The script, its input and the folder in which its tasks wait."""
    script, source, folder = tmp_path / "scan.py", tmp_path / "pages.jsonl", tmp_path / "waiting"
    script.write_text(SCRIPT)
    write_jsonl(source, planted(120))
    folder.mkdir()
    return script, source, folder


def expected(source: Path) -> list[list[Any]]:
    result = nd.dedup(nd.read(source))
    assert len(result.dropped) > 50
    return sorted([result.ids[one.row], result.ids[one.keeper], one.similarity] for one in result.dropped)


def waiting_in(folder: Path, stage: str, driver: Driver, cluster: Cluster) -> list[int]:
    """The executors that have a task of this stage, once there is one."""

    def found() -> list[int] | None:
        assert driver.process.poll() is None, driver.output()
        here = [int(path.name.split(".")[-2]) for path in folder.glob(f"{stage}.*.here")]
        return [pid for pid in here if pid in cluster.executors()] or None

    return wait_for(found, f"a task of {stage}", seconds=900)


def answer(driver: Driver) -> list[list[Any]]:
    return json.loads(driver.finished().splitlines()[-1])


def whole(run: Path) -> set[str]:
    """The stages that are there whole."""
    return {path.stem for path in run.glob("*.json") if path.with_suffix("").is_dir()}


def written(run: Path, stages: set[str]) -> dict[str, int]:
    """All files of some stages, with the times they were written."""
    found = [path for name in stages for path in (run / name).rglob("*.parquet")]
    found += [run / f"{name}.json" for name in stages]
    return {str(path): path.stat().st_mtime_ns for path in found}


def test_executors_a_driver_and_a_worker_are_killed(
    cluster: Cluster, job: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """One run: an executor is killed in candidates and one in clustering, and the job continues; then the driver, in
    the last stage, and another continues from there; then a worker in that stage, and it ends with the local
    answer."""
    script, source, folder = job
    run = tmp_path / "run"
    arguments = (str(script), str(source), str(run), "0", str(folder))
    driver = cluster.start(*arguments, "candidates", "open-0", "decisions")
    killed = []
    for stage in ("candidates", "open-0"):
        executor = waiting_in(folder, stage, driver, cluster)[0]
        assert not (run / f"{stage}.json").exists() and not (run / "clusters.json").exists()
        os.kill(executor, 9)
        killed.append(executor)
        (folder / f"{stage}.go").touch()
    waiting_in(folder, "decisions", driver, cluster)
    assert (run / "rounds" / "open-0").is_dir() and {"read", "candidates", "verified", "clusters"} <= whole(
        run
    )
    assert driver.output().count("Lost executor") >= 2
    before = written(run, whole(run))
    assert len(before) > 2 * len(whole(run)) and "decisions" not in whole(run)
    driver.kill()
    for mark in folder.glob("decisions.*"):
        mark.unlink()

    driver = cluster.start(*arguments, "decisions")
    executor = waiting_in(folder, "decisions", driver, cluster)[0]
    (worker,) = [one for one in cluster.workers if executor in one.family()]
    worker.kill()
    killed.append(executor)
    (folder / "decisions.go").touch()
    assert answer(driver) == expected(source)
    assert written(run, whole(run) - {"decisions"}) == before, "stages that were whole were not made again"
    assert "decisions" in whole(run)
    assert len(set(killed)) == 3 and not set(killed) & set(cluster.executors())
    assert driver.output().count("Lost executor") >= 1
    assert sum(one.process.poll() is None for one in cluster.workers) == 1
