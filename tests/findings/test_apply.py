"""apply(): what findings say is done, on inputs that are what they were; inputs and references are never written to."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from support.corpora import found_bytes, planted, read_jsonl, write_jsonl

import neardup as nd
from neardup.compare import similarity
from neardup.errors import ConfigError, DataError
from neardup.findings import Findings, alarms, summarize, write_clusters, write_pairs
from neardup.findings.apply import apply
from neardup.findings.scan import scan

ROWS = planted(90)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Findings:
    folder = tmp_path_factory.mktemp("scanned")
    config = nd.Config(keep=nd.Keep(by="score", score="quality", source="site"), verify=nd.Jaccard(0.8, 0.6))
    return scan(write_jsonl(folder / "in.jsonl", ROWS), folder / "found", config)


def ids(path: Path) -> list[str]:
    return [row["id"] for row in read_jsonl(path)]


def test_kept_and_dropped_are_all(found, tmp_path):
    before = Path(found.manifest["inputs"][0]["path"]).read_bytes()
    kept, dropped = tmp_path / "kept.jsonl", tmp_path / "dropped.jsonl"
    apply(found, kept)
    apply(found, dropped, write="dropped")
    cut = found.cut()
    everything = [row["id"] for row in ROWS]
    assert ids(kept) == [name for name, remains in zip(everything, cut.kept, strict=True) if remains]
    assert set(ids(kept)) | set(ids(dropped)) == set(everything) and not set(ids(kept)) & set(ids(dropped))
    assert len(ids(dropped)) == summarize(found).dropped > 40
    apply(found, tmp_path / "kept.ids")
    assert (tmp_path / "kept.ids").read_text().splitlines() == ids(kept)
    assert [row for row in ROWS if row["id"] in set(ids(kept))] == read_jsonl(kept)
    assert Path(found.manifest["inputs"][0]["path"]).read_bytes() == before


def test_annotated(found, tmp_path):
    apply(found, tmp_path / "notes.jsonl", write="annotated")
    rows = {row["id"]: row for row in read_jsonl(tmp_path / "notes.jsonl")}
    assert len(rows) == len(ROWS)
    for row in rows.values():
        keeper = rows[row["neardup_keeper"]]
        assert keeper["neardup_keep"] and keeper["neardup_cluster"] == row["neardup_cluster"]
        assert row["neardup_similarity"] >= 0.8 and keeper["quality"] >= row["quality"]
    with pytest.raises(ConfigError, match="notes"):
        apply(found, tmp_path / "notes.ids", write="annotated")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_annotated_twice(tmp_path, suffix):
    first = write_jsonl(tmp_path / "in.jsonl", ROWS)
    for number in range(2):
        found = scan(first, tmp_path / f"found{number}")
        first = str(tmp_path / f"notes{number}.{suffix}")
        apply(found, first, write="annotated", allow_mass_removal=True)
    if suffix == "parquet":
        assert parquet.read_table(first).column_names.count("neardup_keep") == 1
    else:
        header = Path(first).read_text().splitlines()[0].split(",")
        assert header.count("neardup_keep") == 1


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.9, 1.0])
def test_with_another_threshold_it_equals_another_scan(found, tmp_path, threshold):
    apply(found, tmp_path / "kept.jsonl", threshold=threshold, allow_mass_removal=True)
    config = nd.Config(keep=found.config.keep, verify=nd.Jaccard(threshold, 0.6))
    fresh = scan(found.manifest["inputs"][0]["path"], tmp_path / "fresh", config)
    apply(fresh, tmp_path / "fresh.jsonl", allow_mass_removal=True)
    assert fresh.manifest["counts"]["capped"] == 0
    assert (tmp_path / "kept.jsonl").read_bytes() == (tmp_path / "fresh.jsonl").read_bytes()


def test_thresholds_below_the_floor(found, tmp_path):
    for threshold, says in (
        (0.59, r"0\.6"),
        (1.1, r"0\.6"),
        (float("nan"), "threshold must be a finite number"),
    ):
        with pytest.raises(ConfigError, match=says):
            apply(found, tmp_path / "kept.jsonl", threshold=threshold)
    assert not list(tmp_path.iterdir())


def test_keep_policies(found):
    scores, sites = found.scores, found.sources
    labels = found.cut().clusters.labels
    for keep, better in (
        (nd.Keep(by="first", source="site"), -np.arange(len(found))),
        (nd.Keep(by="last", source="site"), np.arange(len(found))),
        (found.config.keep, scores),
        (nd.Keep(source="site"), found.sizes),
    ):
        cut = found.cut(keep=keep)
        keeper = cut.clusters.keeper
        assert (better[keeper] >= better).all()
    preferred = nd.Keep(prefer=("s2", "s1"), source="site")
    rank = {"s2": 0, "s1": 1}
    for row, keeper in enumerate(found.cut(keep=preferred).clusters.keeper):
        mine, its = (rank.get(found.source_names[sites[i]], 2) for i in (row, keeper))
        assert its <= mine
    two = found.cut(keep=nd.Keep(many=2, source="site"))
    sizes = np.bincount(two.clusters.labels, minlength=len(found))
    kept_of_each = np.bincount(two.clusters.labels, weights=two.kept, minlength=len(found))
    assert np.array_equal(kept_of_each, np.minimum(sizes, 2)) and labels.max()
    within = found.cut(keep=nd.Keep(among="within", source="site")).clusters
    assert (sites[within.keeper] == sites).all() and (~within.kept).any()
    across = found.cut(keep=nd.Keep(among="across", source="site")).clusters
    gone = np.flatnonzero(~across.kept)
    assert len(gone) and (sites[across.keeper[gone]] != sites[gone]).any()
    # A field that the scan did not keep is read from the inputs again; no document has these.
    assert found.fields_of(nd.Keep(source="host"))[2] == [""]
    with pytest.raises(DataError, match="no document has a number"):
        found.cut(keep=nd.Keep(by="score", score="rank", source="site"))
    with pytest.raises(ConfigError, match="s9"):
        found.cut(keep=nd.Keep(prefer=("s9",), source="site"))


@pytest.mark.parametrize("change", ["same size", "grew", "gone"])
@pytest.mark.parametrize("target", ["kept.jsonl", "kept/"])
def test_changed_inputs_are_refused(tmp_path, change, target):
    path = Path(write_jsonl(tmp_path / "in.jsonl", ROWS))
    found = scan(path, tmp_path / "found")
    data = path.read_bytes()
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-40] + b"~" + data[-39:] if change == "same size" else data + b"\n")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(DataError, match="nothing was written"):
        apply(found, f"{tmp_path}/{target}", allow_mass_removal=True)
    assert sorted(os.listdir(tmp_path)) == before


def test_inputs_and_references_are_never_written_to(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", ROWS)
    reference = write_jsonl(tmp_path / "reference.jsonl", ROWS[:5])
    found = scan(path, tmp_path / "found", against=[reference])
    (tmp_path / "link.jsonl").symlink_to(path)
    for target in (path, reference, str(tmp_path / "link.jsonl")):
        for write in (
            lambda to: apply(found, to, allow_mass_removal=True),
            lambda to: write_pairs(found, to),
            lambda to: write_clusters(found, found.cut(), to),
        ):
            with pytest.raises(ConfigError, match="never changed"):
                write(target)
    assert read_jsonl(path) == ROWS and read_jsonl(reference) == ROWS[:5]


def test_every_format_in_a_folder(tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "deep").mkdir(parents=True)
    parts = [ROWS[i::6] for i in range(6)]
    write_jsonl(corpus / "a.jsonl", parts[0])
    (corpus / "b.jsonl.gz").write_bytes(
        gzip.compress("".join(json.dumps(row) + "\n" for row in parts[1]).encode())
    )
    for name, delimiter, part in (("c.csv", ",", parts[2]), ("d.tsv", "\t", parts[3])):
        with open(corpus / name, "w", newline="") as file:
            writer = csv.DictWriter(file, list(part[0]), delimiter=delimiter, lineterminator="\n")
            writer.writeheader()
            writer.writerows(part)
    parquet.write_table(pa.Table.from_pylist(parts[4]), corpus / "e.parquet")
    feather.write_feather(pa.Table.from_pylist(parts[5]), corpus / "deep" / "f.arrow")
    (corpus / "deep" / "page.html").write_text(f"<html><body><p>{ROWS[0]['text']} apart</p></body></html>")
    (corpus / "text.txt").write_text(ROWS[1]["text"].upper())
    found = scan(corpus, tmp_path / "found", nd.Config(html="whole"))
    done = apply(found, f"{tmp_path}/out/", allow_mass_removal=True)
    assert done.written == summarize(found).kept
    again = scan(tmp_path / "out", tmp_path / "again", nd.Config(html="whole"))
    assert summarize(again).dropped == 0 and summarize(again).documents == done.written
    assert parquet.read_table(tmp_path / "out" / "e.parquet").schema.equals(
        parquet.read_table(corpus / "e.parquet").schema
    )
    assert gzip.decompress((tmp_path / "out" / "b.jsonl.gz").read_bytes())
    apply(found, tmp_path / "all.jsonl", write="annotated", allow_mass_removal=True)
    names = {row["id"] for row in read_jsonl(tmp_path / "all.jsonl")}
    assert names == {row["id"] for row in ROWS} | {"deep/page.html", "text.txt"}
    with pytest.raises(ConfigError, match="notes"):
        apply(found, f"{tmp_path}/noted/", write="annotated", allow_mass_removal=True)
    with pytest.raises(ConfigError, match="not empty"):
        apply(found, tmp_path / "out", allow_mass_removal=True)


def test_ids_that_were_made_are_the_same(tmp_path):
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "b").mkdir()
    for name in ("a", "b"):
        write_jsonl(
            tmp_path / "in" / name / "x.jsonl", [{"text": f"{name} some words {i}"} for i in range(3)]
        )
    found = scan(tmp_path / "in", tmp_path / "found")
    apply(found, tmp_path / "kept.ids")
    names = (tmp_path / "kept.ids").read_text().split()
    assert names == found.ids(np.arange(len(found))) and names[0] == "a/x.jsonl:1"


def test_a_file_whose_neighbours_show_its_columns(tmp_path):
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in" / "a.jsonl", ROWS[:20])
    write_jsonl(tmp_path / "in" / "schema.json", [{"fields": 1, "made": 2}])
    found = scan(tmp_path / "in", tmp_path / "found")
    assert sum(found.manifest["counts"]["rejected"].values()) == 1
    assert apply(found, tmp_path / "kept.jsonl", allow_mass_removal=True).written == summarize(found).kept


def test_limits_of_the_scan_hold(tmp_path):
    rows = [{"id": "long", "text": "word " * 400}, {"id": "short", "text": "word"}]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    found = scan(path, tmp_path / "found", limits=nd.readers.Limits(document_bytes=1000), allow_rejects=1)
    assert found.manifest["counts"]["documents"] == 1
    apply(Findings(found.path), tmp_path / "kept.jsonl")
    assert ids(tmp_path / "kept.jsonl") == ["short"]


def test_an_empty_folder_that_is_there(found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert apply(found, "here").written == summarize(found).kept
    with pytest.raises(ConfigError, match="format"):
        apply(found, "there/", format="csv")


def test_no_room_leaves_nothing(found, tmp_path):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        for target in ("kept.jsonl", "kept.csv.gz", "kept/"):
            with pytest.raises(OSError, match="kept"):
                apply(found, f"{tmp_path}/{target}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def read_table(path: Path) -> list[dict]:
    if path.suffix == ".jsonl":
        return read_jsonl(path)
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pylist()
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_pairs_and_clusters(found, tmp_path, suffix):
    pairs, implied, clusters = (tmp_path / f"{name}.{suffix}" for name in ("pairs", "implied", "clusters"))
    write_pairs(found, pairs)
    write_pairs(found, implied, implied=True)
    texts = {row["id"]: row["text"] for row in ROWS}
    for row in read_table(pairs):
        assert nd.explain(texts[row["left"]], texts[row["right"]]).jaccard == pytest.approx(
            float(row["similarity"])
        )
    some, every = ({(r["left"], r["right"]) for r in read_table(path)} for path in (pairs, implied))
    first = {name: int(f) for name, f in zip(texts, found.first, strict=True)}
    near = {(first[a], first[b]) for a, b in some if first[a] != first[b]}
    expected = {
        (a, b)
        for i, a in enumerate(texts)
        for b in list(texts)[i + 1 :]
        if first[a] == first[b] or (first[a], first[b]) in near or (first[b], first[a]) in near
    }
    assert some <= every == expected
    count = write_clusters(found, found.cut(), clusters)
    rows = read_table(clusters)
    assert len(rows) == count and sum(str(row["keep"]) == "True" for row in rows) == summarize(found).clusters


def test_the_guard(tmp_path):
    pages = [
        {"id": f"{i}", "text": f"{ROWS[i // 30]['text']} {'again ' * (i % 3)}", "site": "x\x1b[2J"}
        for i in range(120)
    ]
    found = scan(
        write_jsonl(tmp_path / "in.jsonl", pages + ROWS),
        tmp_path / "found",
        nd.Config(keep=nd.Keep(source="site")),
    )
    reasons = alarms(found, found.cut())
    assert any("documents of x\ufffd[2J would be dropped" in reason for reason in reasons)
    assert any("one cluster has" in reason for reason in reasons)
    with pytest.raises(DataError, match="very many documents"):
        apply(found, tmp_path / "kept.jsonl")
    assert not (tmp_path / "kept.jsonl").exists()
    apply(found, tmp_path / "kept.jsonl", allow_mass_removal=True)


def test_the_guard_of_many_small_sources(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(60):
        (tmp_path / "in" / f"{i}.txt").write_text(ROWS[3 * (i // 3)]["text"])
    found = scan(tmp_path / "in", tmp_path / "found")
    assert any("of all 60 documents" in reason for reason in alarms(found, found.cut()))


def test_against_a_corpus_or_its_findings(tmp_path):
    reference, own = ROWS[:100], [{**row, "id": f"new-{row['id']}"} for row in ROWS[50:]]
    paths = write_jsonl(tmp_path / "old.jsonl", reference), write_jsonl(tmp_path / "new.jsonl", own)
    scan(paths[0], tmp_path / "old.findings", reusable=True, shard_bytes=20_000)
    direct = scan(paths[1], tmp_path / "direct", against=[paths[0]])
    reused = scan(paths[1], tmp_path / "reused", against=[tmp_path / "old.findings"])
    outs = [tmp_path / "direct.jsonl", tmp_path / "reused.jsonl"]
    for found, out in zip((direct, reused), outs, strict=True):
        apply(found, out, allow_mass_removal=True)
        assert found.reference == 100 and summarize(found).documents == len(own)
        assert found.cut().kept[:100].all()
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert found_bytes(direct.path)["pairs.nd"] == found_bytes(reused.path)["pairs.nd"]
    kept = set(ids(outs[0]))
    assert not kept & {row["id"] for row in own[:50]} and all(name.startswith("new-") for name in kept)
    features = nd.Shingles().extract([row["text"] for row in [*reference, *own]])
    labels = direct.cut().clusters
    gone = [i for i in range(50, len(own)) if own[i]["id"] not in kept and labels.keeper[100 + i] < 100]
    assert gone  # near or exact contamination by a document that is not itself in both
    close = similarity.jaccard(features, labels.keeper[100 + np.array(gone)], 100 + np.array(gone))
    assert close.min() >= 0.8
    write_pairs(direct, tmp_path / "pairs.jsonl", implied=True)
    assert all(row["right"].startswith("new-") for row in read_jsonl(tmp_path / "pairs.jsonl"))


def test_findings_that_cannot_be_compared_with(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", ROWS[:10])
    scan(path, tmp_path / "bare")
    scan(path, tmp_path / "wide", nd.Config(features=nd.Shingles(3)), reusable=True)
    scan(path, tmp_path / "exact", nd.Config.of("exact"), reusable=True)
    for name, config, says in (
        ("bare", nd.Config(), "--reusable"),
        ("wide", nd.Config(), "use its settings"),
        ("exact", nd.Config(), "use its settings"),
        ("wide", nd.Config.of("simhash"), "name the reference corpus itself"),
    ):
        with pytest.raises(ConfigError, match=says):
            scan(path, tmp_path / "found", config, against=[tmp_path / name])
        assert not (tmp_path / "found").exists()
