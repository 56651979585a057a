"""Methods and corpora beyond the default on Spark: the answers of the local pipeline, for any number of partitions."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.spark_runs import assert_same, said_by, write_jsonl

import neardup as nd
from neardup.errors import ConfigError
from neardup.findings import summarize
from neardup.findings.scan import scan as scan_here

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

LOREM = [f"word{n}" for n in range(400)]
PARTITIONS = (8, 2, 1)  # of the first, second and third config


def pages(count: int, seed: int) -> list[dict[str, Any]]:
    """Texts of some topics: copies, edited copies, and others of their own."""
    chance = random.Random(seed)
    topics = [chance.choices(LOREM, k=chance.randint(20, 120)) for _ in range(count // 4)]
    rows = []
    for n in range(count):
        words = list(topics[chance.randrange(len(topics))])
        for _ in range(chance.choice([0, 0, 1, 2, 6])):
            words[chance.randrange(len(words))] = f"edit{chance.randrange(30)}"
        rows.append({"id": f"{seed}-{n}", "text": " ".join(words)})
    return rows


CONFIGS = [
    nd.Config.of(threshold=0.7, features=nd.Shingles(2)),
    nd.Config.of(threshold=0.6, features=nd.Shingles(2), keep=nd.Keep(by="longest")),
    nd.Config(
        fingerprint=nd.Simhash(), features=nd.Shingles(1), search=nd.search.Join(6), verify=nd.Jaccard(0.6)
    ),
]


@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_a_reference_is_kept_and_its_duplicates_are_dropped(spark, tmp_path, number):
    config = CONFIGS[number]
    folder = tmp_path / "known"
    folder.mkdir()
    # Of the reference some have the words of each other, and some those of the corpus.
    own, theirs = pages(160, 1), pages(90, 2)
    theirs += [{"id": f"copy-{n}", "text": own[n]["text"] + " more" * (n % 3)} for n in range(0, 60, 2)]
    if number == 1:  # another corpus has columns of its own
        theirs = [{"url": row["id"], "content": row["text"]} for row in theirs]
    write_jsonl(folder / "r.jsonl", theirs, files=2)
    with (folder / "0-r.jsonl").open("a") as file:
        file.write("no json\n")
    path = write_jsonl(tmp_path / "own.jsonl", own)[0]
    here = scan_here(path, tmp_path / "found", config, against=[folder])
    expected = said_by(here)
    assert here.reference == len(theirs)
    assert (
        sum(not kept and keeper.startswith(("2-", "copy-")) for kept, _, keeper, _ in expected.values()) > 10
    )
    run, partitions = tmp_path / "run", PARTITIONS[number]
    found = ns.scan(path, run, config, spark=spark, against=str(folder), partitions=partitions, small=0)
    there = said_by(found)
    assert [(k, expected[k], there[k]) for k in expected if expected[k] != there.get(k)] == []
    assert there.keys() == expected.keys()
    assert summarize(found) == replace(summarize(here), seconds=summarize(found).seconds)
    assert found.manifest["search"] == here.manifest["search"]
    assert bool(here.manifest["search"]) == (number == 2), "of codes, how many are near by chance"
    assert found.reference == len(theirs) and found.manifest["counts"]["rejected"] == {}
    if number:
        return
    out = tmp_path / "kept"
    done = ns.apply(run, str(out), spark=spark, allow_mass_removal=True)
    assert [file.name for file in out.iterdir() if not file.name.startswith((".", "_"))] == ["own.jsonl"]
    written = out / "own.jsonl"
    parts = [written] if written.is_file() else sorted(written.glob("part-*"))
    lines = [json.loads(line)["id"] for part in parts for line in part.read_text().splitlines()]
    assert lines == [name for name, (kept, *_) in expected.items() if kept]
    assert (done.written, done.documents) == (len(lines), len(own))


def test_a_reference_is_no_input_and_is_decided_on_the_driver(spark, tmp_path):
    path = write_jsonl(tmp_path / "own.jsonl", pages(40, 3))[0]
    with pytest.raises(ConfigError, match="named twice"):
        ns.scan(path, tmp_path / "run", spark=spark, against=[path])
    other = write_jsonl(tmp_path / "other.jsonl", pages(40, 4) + pages(40, 3))[0]
    with pytest.raises(ConfigError, match="against another corpus are decided on the driver"):
        ns.file_stages(path, str(tmp_path / "run"), spark=spark, against=[other], finish=0).clusters()


AGREE = [
    nd.Config.of("supers"),
    nd.Config(
        features=nd.Shingles(1), fingerprint=nd.fingerprints.IMatch(lexicons=5, share=0.5), search=nd.search.Agree(2),
        verify=nd.Jaccard(0.5),
    ),
    nd.Config(
        features=nd.Shingles(2), fingerprint=nd.MinHash(20), search=nd.search.Agree(14, cap=6), verify=nd.Jaccard(0.5)
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(AGREE)))
def test_places_that_agree(spark, tmp_path: Path, number):
    config = AGREE[number]
    rows = pages(200, 5 + number)
    path = write_jsonl(tmp_path / "a.jsonl", rows)[0]
    here = nd.dedup(nd.read(path), config)
    assert len(here.pairs) > 10
    found = ns.scan(path, tmp_path / "run", config, spark=spark, partitions=PARTITIONS[number], small=0)
    assert_same(found, here)
    assert (found.manifest["counts"]["capped"] > 0) == (number == 2)
