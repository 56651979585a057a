"""Spark says what the local pipeline says: the same clusters, keepers and pairs, for any number of partitions."""

from __future__ import annotations

import numpy as np
import pytest
from spark_runs import assert_same, rows_of, said_here, said_there, write_jsonl

import neardup as nd
from neardup.errors import ConfigError, DataError

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

LOOSE = nd.Config.of(threshold=0.8, floor=0.7)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2, 8])
def test_partitions_change_nothing(spark, data, tmp_path, partitions):
    rows = rows_of(data, "k8s_docs_rev")
    paths = write_jsonl(tmp_path / "docs.jsonl", rows, files=3)
    stages = ns.scan(paths, str(tmp_path / "run"), LOOSE, spark=spark, partitions=partitions)
    assert len(stages.documents.facts["pieces"]) >= partitions
    assert_same(stages, nd.dedup(nd.read(paths), LOOSE))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("licenses", LOOSE),
        ("tldr_short", nd.Config.of(threshold=0.5)),
        ("gov2_human", nd.Config.of("simhash", threshold=0.6)),
        ("electron_i18n_rev", nd.Config.of("bits", threshold=0.7, clusters="components")),
        ("udhr_multilingual", nd.Config.of("exact")),
    ],
)
def test_real_corpora(spark, data, tmp_path, name, config):
    path = data / name / "docs.jsonl.gz"
    stages = ns.scan(str(path), str(tmp_path / "run"), config, spark=spark, partitions=2)
    assert_same(stages, nd.dedup(nd.read(path), config))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wiki_html_variants", "pydoc_html_versions"])
def test_pages(spark, data, tmp_path, name):
    rows = rows_of(data, name)[:150]
    path = write_jsonl(tmp_path / "pages.jsonl.gz", [{"id": r["id"], "html": r["text"]} for r in rows])[0]
    stages = ns.scan(path, str(tmp_path / "run"), LOOSE, spark=spark, partitions=2)
    assert_same(stages, nd.dedup(nd.read(path), LOOSE))
