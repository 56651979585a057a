"""Spark says what the local pipeline says of hard cases: crowds, chains, sources, DataFrames. Corpora: test_same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.attacks import PAGE, forged_page
from support.spark_runs import assert_decided, assert_same, decided_again, said_here, write_jsonl

import neardup as nd
from neardup.errors import ConfigError, DataError

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")


def windows(count: int, step: int, size: int = 200) -> list[str]:
    """Texts that each share most of their words with the next, and little with those far off."""
    words = [f"w{n * 7919 % 100_003}" for n in range(count * step + size)]
    return [" ".join(words[i * step : i * step + size]) for i in range(count)]


def hard_rows() -> list[dict[str, object]]:
    """Crowds of every kind: the same words, the same fingerprints, the same band, short texts, nothing at all."""
    rng = np.random.default_rng(5)
    words = [f"word{n}" for n in range(4000)]
    base = [str(w) for w in rng.choice(words, 120)]
    texts = ["the same words in a thousand places, again and again, " * 6] * 400
    texts += [" ".join(base * many) for many in range(2, 52)]  # the same shingles, other words
    for n in range(150):
        changed = list(base)
        changed[n % 120] = f"other{n}"
        texts.append(" ".join(changed))
    for n in range(120):  # short, and most of it a template
        texts.append(f"see also the page of number {n} in the list of all numbers that we have here")
    texts += [" ".join(rng.choice(words, 60)) for _ in range(100)]
    texts += ["", "...", "one", "one", "two words"]
    order = rng.permutation(len(texts))
    return [{"id": f"d{n}", "text": texts[i], "score": int(i) % 7} for n, i in enumerate(order.tolist())]


HARD = nd.Config(search=nd.LSH(25, 5, cap=40), fingerprint=nd.MinHash(125), verify=nd.Jaccard(0.8, 0.6))


@pytest.mark.slow
def test_crowds(spark, tmp_path):
    paths = write_jsonl(tmp_path / "hard.jsonl", hard_rows(), files=2)
    result = nd.dedup(nd.read(paths), HARD)
    assert result.capped > 0 and result.found.skipped > 0 and result.found.implied > 0
    assert_same(ns.scan(paths, tmp_path / "run", HARD, spark=spark, partitions=3, small=0), result)


@pytest.mark.slow
def test_clusters_in_rounds(spark, tmp_path):
    """Without a native end on the driver, down to the last pair."""
    path = write_jsonl(tmp_path / "hard.jsonl", [*hard_rows(), *chain_rows(6)])[0]
    config = nd.Config(keep=nd.Keep(by="score", score="score", many=2))
    stages = ns.file_stages(
        path, str(tmp_path / "keepers"), config, spark=spark, partitions=2, finish=0, small=0
    )
    assert_decided(stages, nd.dedup(nd.read(path), config))
    assert stages.folder.names("rounds")
    config = replace(config, clusters="components")
    run = decided_again(tmp_path / "keepers", tmp_path / "components", config)
    stages = ns.file_stages(path, run, config, spark=spark, partitions=2, finish=0, small=0)
    assert_decided(stages, nd.dedup(nd.read(path), config))
    assert stages.folder.names("rounds")


def chain_rows(count: int) -> list[dict[str, object]]:
    return [{"id": f"c{n}", "text": text, "score": 3} for n, text in enumerate(windows(count, 10))]


@pytest.mark.slow
def test_a_chain_of_ten_thousand(spark, tmp_path):
    path = write_jsonl(tmp_path / "chain.jsonl", chain_rows(10_000))[0]
    config = nd.Config(keep=nd.Keep(by="first"))
    found = ns.scan(path, tmp_path / "run", config, spark=spark, partitions=2, small=0)
    assert_same(found, nd.dedup(nd.read(path), config))


def test_a_chain_that_does_not_end_is_an_error(spark, tmp_path):
    path = write_jsonl(tmp_path / "chain.jsonl", chain_rows(200))[0]
    config = nd.Config(keep=nd.Keep(by="first"))
    with pytest.raises(DataError, match=r"after 1 rounds .* raise finish=|after 1 rounds .*Raise finish="):
        ns.file_stages(
            path, str(tmp_path / "run"), config, spark=spark, partitions=1, finish=0, rounds=1
        ).clusters()


@pytest.mark.slow
def test_sources(spark, tmp_path):
    rows = [{**row, "site": f"https://www.site{n % 3}.org/{n}"} for n, row in enumerate(hard_rows())]
    path = write_jsonl(tmp_path / "hard.jsonl", rows)[0]
    keep = nd.Keep(source="host:site", prefer=("site1.org",), among="within")
    config = nd.Config(keep=keep, filters=nd.Filters(min_words=2, length=0.5))
    stages = ns.file_stages(path, str(tmp_path / "within"), config, spark=spark, partitions=2, small=0)
    assert_decided(stages, nd.dedup(nd.read(path), config))
    (tmp_path / "found").mkdir()
    assert_same(
        stages.findings(tmp_path / "found", {"text": None, "id": None}), nd.dedup(nd.read(path), config)
    )
    config = replace(config, keep=replace(keep, among="across"))
    run = decided_again(tmp_path / "within", tmp_path / "across", config)
    stages = ns.file_stages(path, run, config, spark=spark, partitions=2, small=0)
    assert_decided(stages, nd.dedup(nd.read(path), config))


def test_what_only_the_local_pipeline_does_is_refused(spark, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": 1, "text": "a"}])[0]
    # It fails as soon as anything is read.
    unread = spark.range(3).selectExpr("cast(id as string) id", "raise_error('was read') text")
    for config, what in [
        (nd.Config(templates=nd.Templates(0.3)), r"templates.*neardup scan INPUTS --templates 0\.3$"),
        (nd.Config(verify=nd.Containment(0.7)), r"Inverted.*--measure containment --threshold 0\.7$"),
        (
            nd.Config(fingerprint=nd.Simhash(margins="ranks"), search=nd.PSM(3)),
            "PSM.*--search psm --radius 3$",
        ),
        (
            nd.Config(fingerprint=nd.Simhash(), search=nd.search.Adjacent(2)),
            "Adjacent.*--method simhash --search adjacent --radius 2$",
        ),
        (nd.Config(vectors=nd.Vectors("embedding")), "vectors are for scan"),
    ]:
        with pytest.raises(ConfigError, match=what):
            ns.scan(path, tmp_path / "run", config, spark=spark)
        assert not (tmp_path / "run").exists()
        with pytest.raises(ConfigError, match=what):
            ns.dedup(unread, config, id="id", text="text")
    with pytest.raises(ConfigError, match="no document has the source"):
        ns.scan(path, tmp_path / "run", nd.Config(keep=nd.Keep(prefer=("x",))), spark=spark)


def test_spark_connect_is_refused_before_anything_runs(spark, tmp_path):
    """A session of Spark Connect has no context in this process."""
    remote = SimpleNamespace(newSession=None)
    from pyspark.sql import DataFrame

    frame = object.__new__(type("Remote", (DataFrame,), {"sparkSession": remote, "columns": ["id", "text"]}))
    for run in (None, str(tmp_path / "run")):
        with pytest.raises(ConfigError, match="classic session"):
            ns.dedup(frame, id="id", run=run)
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": 1, "text": "a"}])[0]
    with pytest.raises(ConfigError, match="classic session"):
        ns.scan(path, tmp_path / "out", spark=remote, work=str(tmp_path / "work"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.jsonl"]


def test_a_dataframe(spark, tmp_path):
    rows = sorted(hard_rows()[:400], key=lambda row: row["id"])
    frame = spark.createDataFrame(
        [(r["id"], r["text"], r["score"]) for r in rows], "name string, body string, score int"
    )
    config = nd.Config(keep=nd.Keep(by="score", score="score"))
    result = nd.dedup(nd.read(rows), config)
    here = said_here(result)
    frame = frame.repartition(5)
    on_cluster = ns.dedup(frame, config, id="name", text="body", run=str(tmp_path / "cluster"), small=0)
    assert {row.name for row in on_cluster.collect()} == {name for name, said in here.items() if said[0]}
    options = {"id": "name", "text": "body", "run": str(tmp_path / "run")}
    kept = ns.dedup(frame, config, **options)
    assert kept.schema == frame.schema
    assert {row.name for row in kept.collect()} == {name for name, said in here.items() if said[0]}
    dropped = ns.dedup(frame, config, write="dropped", **options)
    assert {row.name for row in dropped.collect()} == {name for name, said in here.items() if not said[0]}
    noted = ns.dedup(frame, config, write="annotated", **options).collect()
    there = {
        r.name: (r.neardup_keep, r.neardup_cluster, r.neardup_keeper, r.neardup_similarity) for r in noted
    }
    assert there == here


def test_forged_words_are_no_duplicate(spark, tmp_path):
    """Words with the hashes of others under the public seed, in a DataFrame and in files."""
    texts = [PAGE, forged_page(), f"{PAGE} again", *windows(6, 100)]
    rows = [{"id": f"{row}", "text": text} for row, text in enumerate(texts)]
    kept = ns.dedup(spark.createDataFrame(rows), id="id", text="text").collect()
    assert "1" in {row.id for row in kept} and {row.id for row in kept} & {"0", "2"}
    path = write_jsonl(tmp_path / "in.jsonl", rows)[0]
    found = ns.scan(path, tmp_path / "run", spark=spark, small=0)
    assert found.first[1] == 1 and 1 not in {*found.pairs.left.tolist(), *found.pairs.right.tolist()}


def test_ids_of_a_dataframe(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    texts = ["the same words in two places at once"] * 3
    numbers = spark.createDataFrame(
        [(10, texts[0]), (9, texts[1]), (100, texts[2])], "id bigint, text string"
    )
    config = nd.Config(keep=nd.Keep(by="first"), near=False)
    kept = ns.dedup(numbers, config, id="id")
    assert not list(tmp_path.glob("neardup-*")), "no text is left behind, not even before rows are asked for"
    assert [row.id for row in kept.collect()] == [9]
    assert [row.id for row in ns.dedup(numbers, config, id="id", small=0).collect()] == [9]
    for rows, what in [
        ([("a", "x"), ("a", "y")], "two documents have the id 'a'"),
        ([(None, "x")], "has no id"),
    ]:
        frame = spark.createDataFrame(rows, "id string, text string")
        for small in (0, 1 << 20):
            with pytest.raises(DataError, match=what):
                ns.dedup(frame, config, id="id", small=small)
            assert not list(tmp_path.glob("neardup-*"))
    with pytest.raises(ConfigError, match="no column 'nix'"):
        ns.dedup(numbers, id="nix")
    with pytest.raises(ConfigError, match="write must be 'kept'"):
        ns.dedup(numbers, id="id", write="all")
