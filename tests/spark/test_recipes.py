"""The recipes of docs/spark.md for native code on the workers, run as they stand there, on a real cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import SPARK_HOME, Cluster, spark_environment
from corpora import planted, write_jsonl

import neardup as nd

pytestmark = [pytest.mark.slow, pytest.mark.process]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "spark.md"
JOB = '''
"""Say where the workers have neardup from; with a source, scan it and say what is dropped."""
import json
import sys

import pyarrow as pa

import neardup.spark


def where(batches):
    import neardup._core

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable], "core": [neardup._core.__file__]})


spark = neardup.spark.start()
places = spark.range(2).repartition(2).mapInArrow(where, "python string, core string").distinct().collect()
dropped = []
if "SOURCE":
    stages = neardup.spark.scan("SOURCE", "RUN", spark=spark, text="text", id="id", partitions=2)
    dropped = sorted([row.id, row.keeper] for row in stages.decisions().where("not kept").collect())
print(json.dumps({"dropped": dropped, "places": sorted(map(list, places))}))
'''


def recipe(heading: str) -> list[str]:
    """The commands of a recipe: the first block of text below its heading."""
    found = re.search(rf"^### {heading}\n.*?^```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"no recipe {heading!r} in {PAGE.name}"
    return found[1].strip().splitlines()


def follow(
    commands: list[str], cluster: Cluster, folder: Path, worker_python: str, source: str = ""
) -> dict[str, list[list[str]]]:
    """What the job prints that the last command submits."""
    (folder / "job.py").write_text(JOB.replace("SOURCE", source).replace("RUN", str(folder / "run")))
    conf = folder / "conf"
    conf.mkdir()
    told = {name: value for name, value in cluster.conf.items() if name != "spark.master"}
    (conf / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in told.items()))
    environment = spark_environment(
        MASTER=cluster.url, PYTHON=sys.executable, WORKER_PYTHON=worker_python, SPARK_CONF_DIR=str(conf)
    )
    del environment["PYSPARK_PYTHON"]  # the recipe says which Python runs where
    path = f"{Path(sys.executable).parent}:{SPARK_HOME / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        cwd=folder,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_wheel_on_the_image(cluster: Cluster, tmp_path: Path) -> None:
    """Here the workers' image is this environment, in which neardup is installed already. Whole scans on it are in
    test_kills."""
    install, submit = recipe("A wheel on the image")
    assert install.startswith("pip install neardup ")
    printed = follow([submit], cluster, tmp_path, sys.executable)
    assert {python for python, _ in printed["places"]} == {sys.executable}


def test_an_archive(cluster: Cluster, tmp_path: Path) -> None:
    """The workers run a bare Python that has no neardup, and get everything from the archive."""
    bare = getattr(sys, "_base_executable", sys.executable)
    has = subprocess.run([bare, "-I", "-c", "import neardup"], capture_output=True, check=False)
    if has.returncode == 0:
        pytest.skip(f"{bare} has neardup of its own, so an archive would prove nothing")
    wheel, *rest = recipe("An archive")
    assert wheel == "pip wheel --no-deps --wheel-dir wheels neardup"
    # The wheel of this very checkout; what is compiled already need not be compiled again.
    built = ROOT / "build" / Path(sys.prefix).name
    options = f"--no-build-isolation -Cbuild-dir={built}" if built.is_dir() else ""
    ours = f"pip wheel --quiet --no-deps {options} --wheel-dir wheels {ROOT}"
    source = write_jsonl(tmp_path / "pages.jsonl", planted(40))
    printed = follow([ours, *rest], cluster, tmp_path, bare, source)
    result = nd.dedup(nd.read(source))
    assert printed["dropped"] == sorted(
        [result.ids[one.row], result.ids[one.keeper]] for one in result.dropped
    )
    assert printed["dropped"]
    for python, core in printed["places"]:
        assert Path(python).resolve() == Path(bare).resolve()
        assert re.search(r"/app-[^/]+/\d+/environment/neardup/_core\.", core), core
