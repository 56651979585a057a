"""Edit similarity and identity: a Spark run over the cluster decides as a local one."""

from __future__ import annotations

import pytest
from support.corpora import planted
from support.spark_runs import assert_same, write_jsonl

import neardup as nd
from neardup.compare import Edit, Identity

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")


@pytest.mark.parametrize("verify", [Edit(0.7), Identity(0.7)], ids=["edit", "identity"])
def test_a_run_decides_as_a_local_one(spark, tmp_path, verify):
    path = write_jsonl(tmp_path / "a.jsonl", planted(30))[0]
    config = nd.Config(features=nd.Shingles(2), verify=verify, seed=5)
    here = nd.dedup(nd.read(path), config)
    assert len(here.dropped) > 3 and len(here.pairs)
    assert_same(ns.scan(path, tmp_path / "found", config, spark=spark, small=0), here)
