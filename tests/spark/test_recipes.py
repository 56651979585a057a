"""The recipes of docs/how-to/spark.md for native code on the workers, run as written there, on a real cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.corpora import planted, write_jsonl
from support.spark_cluster import SPARK_HOME, Cluster, spark_environment

import neardup as nd
import neardup.spark as ns

pytestmark = [pytest.mark.slow, pytest.mark.process]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "spark.md"
JOB = '''
"""Say where the workers have neardup from; scan and say what is dropped."""
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
stages = neardup.spark.file_stages("SOURCE", "RUN", spark=spark, text="text", id="id", partitions=2)
dropped = sorted([row.id, row.keeper] for row in stages.decisions().where("not kept").collect())
print(json.dumps({"dropped": dropped, "places": sorted(map(list, places))}))
'''


def recipe(heading: str) -> list[str]:
    """The commands of a recipe: the first block of text below its heading."""
    found = re.search(rf"^### {heading}\n.*?^```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"no recipe {heading!r} in {PAGE.name}"
    return found[1].strip().splitlines()


def follow(
    commands: list[str], cluster: Cluster, folder: Path, python: str | Path, worker_python: str = ""
) -> dict[str, Any]:
    """What the job prints that the last command submits."""
    conf = folder / "conf"
    conf.mkdir()
    settings = {name: value for name, value in cluster.conf.items() if name != "spark.master"}
    (conf / "spark-defaults.conf").write_text(
        "".join(f"{name} {value}\n" for name, value in settings.items())
    )
    environment = spark_environment(
        MASTER=cluster.url, PYTHON=str(python), WORKER_PYTHON=worker_python, SPARK_CONF_DIR=str(conf)
    )
    del environment["PYSPARK_PYTHON"]  # the recipe says which Python runs where
    path = f"{Path(sys.executable).parent}:{SPARK_HOME / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        cwd=folder,
        # Compiling what is packed would take longer than what the job needs of it.
        env={**environment, "PATH": path, "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_wheel_on_the_image(cluster: Cluster, tmp_path: Path) -> None:
    """Here the workers' image is this environment, in which neardup is installed already. The job is the module itself,
    as its page says; the Python that is named notes what it is started for."""
    install, submit = recipe("A wheel on the image")
    assert install.startswith("pip install neardup ")
    python, notes = tmp_path / "python", tmp_path / "notes"
    python.write_text(f'#!/bin/sh\necho "$@" >> {notes}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    source, script = (
        write_jsonl(tmp_path / "pages.jsonl", planted(20)),
        Path(ns.__file__).parent / "__main__.py",
    )
    assert submit.endswith(" job.py")
    submit = (
        submit.removesuffix("job.py")
        + f"{script} scan {source} --out {tmp_path / 'run'} --work {tmp_path / 'work'} --method exact --json -q"
    )
    printed = follow([submit], cluster, tmp_path, python)
    result = nd.dedup(nd.read(source), nd.Config.of("exact"))
    assert (printed["documents"], printed["kept"]) == (len(result), int(result.cut.kept.sum()))
    assert printed["dropped"] > 5
    started = notes.read_text().splitlines()
    assert sum("pyspark.daemon" in line for line in started) >= 1, "workers ran it"
    assert sum(str(script) in line for line in started) == 1, "and so did the driver"


def test_an_archive(cluster: Cluster, tmp_path: Path) -> None:
    """The workers run a bare Python that has no neardup, and get everything from the archive."""
    bare = getattr(sys, "_base_executable", sys.executable)
    has = subprocess.run([bare, "-I", "-c", "import neardup"], capture_output=True, check=False)
    if has.returncode == 0:
        pytest.skip(f"{bare} has neardup itself (run the tests in a virtual environment, as make test does)")
    wheel, *rest = recipe("An archive")
    assert wheel == "pip wheel --no-deps --wheel-dir wheels neardup"
    # The wheel of this very checkout; what is compiled already need not be compiled again.
    built = ROOT / "build" / Path(sys.prefix).name
    options = f"--no-build-isolation -Cbuild-dir={built}" if built.is_dir() else ""
    ours = f"pip wheel --quiet --no-deps {options} --wheel-dir wheels {ROOT}"
    source = write_jsonl(tmp_path / "pages.jsonl", planted(40))
    (tmp_path / "job.py").write_text(JOB.replace("SOURCE", source).replace("RUN", str(tmp_path / "run")))
    printed = follow([ours, *rest], cluster, tmp_path, sys.executable, bare)
    result = nd.dedup(nd.read(source))
    assert printed["dropped"] == sorted(
        [result.ids[one.row], result.ids[one.keeper]] for one in result.dropped
    )
    assert printed["dropped"]
    for python, core in printed["places"]:
        assert Path(python).resolve() == Path(bare).resolve()
        assert re.search(r"/app-[^/]+/\d+/environment/neardup/_core\.", core), core
