"""A run on Spark ends in an ordinary findings folder: what works on a local scan's works on it, and says the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.spark_runs import write_jsonl

import neardup as nd
from neardup.errors import DataError
from neardup.findings import explain_pair, list_clusters, summarize

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

FERRY = "The ferry leaves the north pier at eight and returns at noon, except on public holidays and in fog"


def rows(count: int) -> list[dict[str, object]]:
    """Copies, edited copies that differ in figures, and others; one in seven has no id."""
    made = []
    for n in range(count):
        topic = " ".join(f"{word}{chr(97 + n // 12)}" for word in FERRY.split())
        text = f"{FERRY}, of {topic}, {'every day ' * (n % 3)}in the year {2000 + n % 4}."
        made.append({"id": f"d{n}", "text": text if n % 5 else text.upper(), "score": n % 3})
        if n % 7 == 0:
            del made[-1]["id"]
    return made


def test_findings_of_spark_are_those_of_a_local_scan(spark, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    paths = write_jsonl(folder / "a.jsonl", rows(60), files=2)
    with open(paths[0], "ab") as file:
        file.write(b'no json\n{"id": "last", "text": "' + FERRY.encode() + b'"}\n')
    config = nd.Config.of(
        threshold=0.6,
        features=nd.Shingles(2, normalize=nd.Normalize(digits="fold")),
        keep=nd.Keep(by="score", score="score"),
    )
    here = nd.scan(folder, tmp_path / "here", config)
    there = ns.scan(str(folder), tmp_path / "there", config, spark=spark, partitions=2)
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert sorted(path.name for path in there.path.iterdir()) == sorted([*names, "spark.json"]), (
        "no work is left"
    )
    for name in ("documents.nd", "pairs.nd", "texts.nd", "documents.rejects.jsonl"):
        assert (there.path / name).read_bytes() == (here.path / name).read_bytes(), name
    assert here.manifest["counts"]["figures"] > 0 and here.manifest["counts"]["rejected"] == {"bad JSON": 1}
    skipped = ("created", "seconds", "inputs", "memory", "account")
    local, ours = ({k: v for k, v in f.manifest.items() if k not in skipped} for f in (here, there))
    local["counts"]["shards"] = 0  # texts and fingerprints are not kept for other scans
    assert ours == local
    assert summarize(there) == replace(summarize(here), seconds=summarize(there).seconds, account={})
    listed = list_clusters(here, here.cut())
    assert len(listed) > 3 and list_clusters(there, there.cut()) == listed
    ids = here.ids(here.pairs.left[:3]), here.ids(here.pairs.right[:3])
    for left, right in zip(*ids, strict=True):
        assert explain_pair(there, left, right) == explain_pair(here, left, right)
    for write in ("kept", "annotated"):
        for found in (here, there):
            nd.apply(found, found.path.with_suffix(f".{write}.jsonl"), write=write, allow_mass_removal=True)
        kept = [found.path.with_suffix(f".{write}.jsonl").read_bytes() for found in (here, there)]
        assert kept[0] == kept[1] and kept[0].count(b"\n") > 3
    done = ns.apply(there, str(tmp_path / "out"), spark=spark, allow_mass_removal=True)
    parts = [path for path in sorted((tmp_path / "out").rglob("*.jsonl")) if path.is_file()]
    lines = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    assert [line["text"] for line in lines] == [
        json.loads(line)["text"] for line in (tmp_path / "here.kept.jsonl").read_text().splitlines()
    ]
    assert (done.written, done.documents) == (len(lines), len(here))


def test_a_changed_input_is_noticed_by_both(spark, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", rows(24))[0]
    found = ns.scan(path, tmp_path / "found", nd.Config.of("exact"), spark=spark, partitions=1)
    with open(path, "ab") as file:
        file.write(b"{}\n")
    with pytest.raises(DataError, match="has changed since it was scanned"):
        nd.apply(found, tmp_path / "kept.jsonl", allow_mass_removal=True)
    with pytest.raises(DataError, match="has changed since it was scanned"):
        ns.apply(found, str(tmp_path / "kept"), spark=spark, allow_mass_removal=True)
