"""Small runs are few jobs, and a run is known by what it read."""

from __future__ import annotations

import os
import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from support.corpora import planted
from support.spark_runs import assert_decided, assert_same, write_jsonl

import neardup as nd
from neardup.errors import ConfigError, DataError
from neardup.pipeline.shards import DTYPES, ShardColumns
from neardup.search import crowds

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

from neardup.spark import small  # noqa: E402
from neardup.spark.fetched import FetchedShard  # noqa: E402

SMALL, LARGE = 20, 30  # jobs of a run that the driver decides, and of one over the cluster


def jobs(spark: Any) -> int:
    """How many jobs this session's cluster has begun."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextJobId())


def frame_of(spark: Any, rows: list[dict[str, Any]]) -> Any:
    return spark.createDataFrame([(row["id"], row["text"]) for row in rows], "id string, text string")


def test_a_run_is_few_jobs(spark, tmp_path):
    """Of a user with Spark's own settings, under which adaptive plans make a job of every shuffle."""
    rows = sorted(planted(40), key=lambda row: str(row["id"]))  # as a DataFrame is ordered
    path = write_jsonl(tmp_path / "a.jsonl", rows)[0]
    here = nd.dedup(nd.read(path))
    assert len(here.dropped) > 5
    user = spark.newSession()
    user.conf.set("spark.sql.adaptive.enabled", "true")
    before = jobs(spark)
    found = ns.scan(path, tmp_path / "found", spark=user)
    assert jobs(spark) - before <= SMALL // 2
    assert_same(found, here)
    before = jobs(spark)
    kept = ns.dedup(frame_of(user, rows), id="id", run=str(tmp_path / "run"))
    assert jobs(spark) - before <= SMALL // 2
    assert {row.id for row in kept.collect()} == {here.ids[row] for row in here.kept}
    before = jobs(spark)
    found = ns.scan(path, tmp_path / "cluster", spark=user, small=0)
    assert jobs(spark) - before <= LARGE
    assert_same(found, here)


CONFIGS = {
    "idf": nd.Config.of("simhash", threshold=0.6),
    "components": nd.Config.of(threshold=0.5, clusters="components", keep=nd.Keep(by="first", many=2)),
    "filtered": nd.Config(filters=nd.Filters(min_words=12, length=0.5)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_driver_decides_as_a_local_run(spark, tmp_path, name):
    path = write_jsonl(tmp_path / "a.jsonl", [*planted(60), {"id": "none", "text": ""}])[0]
    config = CONFIGS[name]
    here = nd.dedup(nd.read(path), config)
    assert len(here.dropped) > 5
    stages = ns.file_stages(path, str(tmp_path / "run"), config, spark=spark, partitions=3)
    assert_decided(stages, here)
    assert not stages.folder.done("exact")
    (tmp_path / "found").mkdir()
    assert_same(stages.findings(tmp_path / "found", {"text": None, "id": None}), here)


def test_texts_come_in_several_parts(spark, tmp_path, monkeypatch):
    """Of columns and of texts; in files that were written, as many bytes at a time as a job may return."""
    monkeypatch.setattr(small, "_DIRECT", 0)
    monkeypatch.setattr(small, "_AT_ONCE", 20_000)
    path = write_jsonl(tmp_path / "a.jsonl", [*planted(400), {"id": "none", "text": ""}])[0]
    here = nd.dedup(nd.read(path))
    before = jobs(spark)
    stages = ns.file_stages(path, str(tmp_path / "run"), spark=spark, partitions=3)
    (tmp_path / "found").mkdir()
    assert_same(stages.findings(tmp_path / "found", {"text": None, "id": None}), here)
    assert 8 <= jobs(spark) - before <= SMALL


def test_large_buckets_without_duplicates_list_the_pairs_of_a_local_run(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(crowds, "FREE", 1 << 14)  # small corpora are checked as large ones are
    monkeypatch.setattr(crowds, "PER_ROW", 2)
    draw = random.Random(2)
    base = [f"w{draw.randrange(50_000)}" for _ in range(60)]
    rows = []
    for number in range(1500):
        words = list(base)
        for place in draw.sample(range(60), 2):
            words[place] = f"w{draw.randrange(1 << 20)}"
        rows.append({"id": f"d{number}", "text": " ".join(words)})
    path = write_jsonl(tmp_path / "a.jsonl", rows)[0]
    here = nd.scan(path, tmp_path / "here")
    there = ns.scan(path, tmp_path / "there", spark=spark, partitions=2)
    assert here.manifest["counts"]["capped"] > 0
    for name in ("candidates", "capped", "skipped", "pairs"):
        assert there.manifest["counts"][name] == here.manifest["counts"][name], name
    assert (there.path / "pairs.nd").read_bytes() == (here.path / "pairs.nd").read_bytes()


def test_a_document_that_is_gone_is_noticed(tmp_path):
    """A text that does not come is an error, for any reason."""
    columns = ShardColumns(
        ids=["a", "b"],
        digests=np.zeros((2, 2), np.uint64),
        **{name: np.zeros(2, dtype) for name, dtype in DTYPES.items() if name != "digests"},
        file_names=("f",),
        source_names=("f",),
    )
    there = {"place": pa.array([7]), "text": pa.array([b"seven"], pa.large_binary())}
    shard = FetchedShard(columns, None, np.array([3, 7]), lambda places, size: iter([pa.table(there)]))
    assert shard.text_bytes(np.array([1])) == [b"seven"]
    with pytest.raises(DataError, match="inputs have changed"):
        shard.texts(np.array([0, 1]))


def test_what_is_refused(spark, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", planted(4))[0]
    with pytest.raises(ConfigError, match="small are 0 or more"):
        ns.scan(path, tmp_path / "found", spark=spark, small=-1)


def test_another_content_is_another_run(spark, tmp_path):
    """Another `where`, other ids and a rewritten file have the schema and the file names of before."""
    rows = [{"id": f"{n}", "text": f"the same page of number {n // 2} in this place"} for n in range(8)]
    table = pa.table({"id": [row["id"] for row in rows], "text": [row["text"] for row in rows]})
    parquet.write_table(table, tmp_path / "a.parquet")
    config = nd.Config(seed=5, near=False)  # a seed drawn from the texts would show other texts, no other ids
    run = {"id": "id", "run": str(tmp_path / "run")}

    def read() -> Any:
        return spark.read.parquet(str(tmp_path / "a.parquet"))

    assert ns.dedup(read(), config, **run).count() == 4
    assert ns.dedup(read().repartition(3), config, **run).count() == 4, "the same rows in other partitions"
    for other in (read().where("id < 4"), read().selectExpr("concat(id, 'x') id", "text")):
        with pytest.raises(ConfigError, match="holds a run of other content"):
            ns.dedup(other, config, **run)
    parquet.write_table(table.slice(1), tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match="holds a run of other content"):
        ns.dedup(read(), config, **run)
    assert ns.dedup(read(), config, overwrite=True, **run).count() == 4


def test_a_file_rewritten_in_the_middle_of_a_run_is_noticed(spark, tmp_path):
    """Of the same size and time: by the checksum of what was read of it."""
    path = write_jsonl(tmp_path / "a.jsonl", planted(30))[0]
    config = nd.Config(seed=5)
    stages = ns.file_stages(path, str(tmp_path / "run"), config, spark=spark, partitions=1, small=0)
    stages.fingerprints()
    before = os.stat(path)
    with open(path, "r+b") as file:
        data = file.read()
        at = [found.start() for found in re.finditer(rb"[a-z]", data)][-4]
        file.seek(at)
        file.write(b"x" if data[at : at + 1] != b"x" else b"y")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="inputs have changed"):
        stages.pairs()
