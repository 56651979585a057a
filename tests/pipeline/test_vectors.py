"""Runs on vectors: what brute force finds is found, in every format, and nothing vanishes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import neardup as nd
from neardup.cli import main
from neardup.errors import UnreadableInput
from neardup.findings import explain_pair

WIDTH = 32


def planted(rows: int = 400, near: int = 60, seed: int = 0) -> np.ndarray:
    """Vectors of which the last `near` are close to the first ones, at angles of many sizes."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rows, WIDTH)).astype(np.float32)
    noise = rng.uniform(0.05, 0.6, size=(near, 1))
    vectors[-near:] = vectors[:near] + noise * rng.normal(size=(near, WIDTH))
    vectors[rows // 2] = vectors[rows // 2 + 1]
    return vectors


def naive_pairs(vectors: np.ndarray, least: float) -> set[tuple[int, int]]:
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    found = np.argwhere(np.triu(unit @ unit.T, 1) >= least)
    return {(int(a), int(b)) for a, b in found}


def pairs_of(result) -> set[tuple[int, int]]:
    same = {(int(f), row) for row, f in enumerate(result.found.first.tolist()) if f != row}
    return {(int(a), int(b)) for a, b in zip(result.pairs.left, result.pairs.right, strict=True)} | same


def table(vectors: np.ndarray, *, text: bool = True, fixed: bool = False):
    pa = pytest.importorskip("pyarrow")
    kind = pa.list_(pa.float32(), WIDTH) if fixed else pa.list_(pa.float32())
    columns = {
        "id": [f"d{i}" for i in range(len(vectors))],
        "embedding": pa.array(vectors.tolist(), kind),
    }
    if text:
        columns["text"] = [f"this is text number {i}" for i in range(len(vectors))]
    return pa.table(columns)


CONFIG = nd.Config(vectors=nd.Vectors("embedding"), recall=0.9999)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("memory", [None, "64MB"])
def test_dedup_finds_what_brute_force_finds(threads, memory):
    vectors = planted()
    expected = naive_pairs(vectors, 0.9)
    assert len(expected) > 30
    for text in (True, False):
        for fixed in (True, False):
            result = nd.dedup(table(vectors, text=text, fixed=fixed), CONFIG, threads=threads, memory=memory)
            assert pairs_of(result) == expected
            dropped = {row for pair in expected for row in pair} - set(result.kept.tolist())
            assert len(dropped) == len(result.dropped) > 0
    bare = nd.dedup(vectors, nd.Config(vectors=nd.Vectors(), recall=0.9999), threads=threads, memory=memory)
    assert pairs_of(bare) == expected


def test_every_search(tmp_path):
    vectors = planted()
    expected = naive_pairs(vectors, 0.9)
    for search in (
        nd.search.Scan(40),
        nd.search.Join(40),
        nd.search.Compact(20, bits=64),
        nd.search.Covering(8),
    ):
        found = pairs_of(nd.dedup(table(vectors), nd.Config(vectors=nd.Vectors("embedding"), search=search)))
        assert found <= expected and (len(found) > 0.95 * len(expected) or search.radius < 20)
    result = nd.dedup(
        table(vectors), nd.Config(vectors=nd.Vectors("embedding"), search=nd.PSM(16, recall=0.9))
    )
    assert pairs_of(result) <= expected and len(pairs_of(result)) > 0.8 * len(expected)
    assert result.found.search.least >= 0.9


def scanned(path, out, *more: str):
    main(
        [
            "scan",
            str(path),
            "--vectors",
            "embedding",
            "--out",
            str(out),
            "-q",
            "--json",
            "--recall",
            "0.9999",
            *more,
        ]
    )
    return nd.Findings(out)


def test_a_scan_ends_in_ordinary_findings(tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = planted()
    expected = naive_pairs(vectors, 0.9)
    parquet.write_table(table(vectors), tmp_path / "e.parquet", row_group_size=90)
    found = scanned(tmp_path / "e.parquet", tmp_path / "found")
    exact = int((found.first != np.arange(len(found))).sum())
    above = found.pairs.at_least(0.9)
    assert {(int(a), int(b)) for a, b in zip(above.left, above.right, strict=True)} | {(200, 201)} == expected
    assert exact == 1 and nd.summarize(found).equal == "vector"
    a, b = min(expected - {(200, 201)})
    pair = explain_pair(found, f"d{a}", f"d{b}")
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    assert pair.similarity == pytest.approx(float(unit[a] @ unit[b]), abs=1e-12) and pair.measure == "Cosine"
    far = explain_pair(found, "d300", "d301")  # no candidate: its vectors are read again
    assert far.similarity == pytest.approx(max(float(unit[300] @ unit[301]), 0.0), abs=1e-9)
    capsys.readouterr()
    main(["apply", str(tmp_path / "found"), "--out", str(tmp_path / "kept.parquet"), "--json"])
    kept = parquet.read_table(tmp_path / "kept.parquet")
    assert kept.num_rows == int(found.cut().kept.sum()) and kept.schema.names == ["id", "embedding", "text"]
    main(["clusters", str(tmp_path / "found"), "--json"])
    main(["report", str(tmp_path / "found"), "--out", str(tmp_path / "r.html")])
    # The same findings from small shards, from JSONL and from npy.
    small = nd.scan(tmp_path / "e.parquet", tmp_path / "small", found.config, shard_bytes=10_000, threads=2)
    assert np.array_equal(small.pairs.similarity, found.pairs.similarity)
    lines = [
        json.dumps({"id": f"d{i}", "text": "t", "embedding": row}) for i, row in enumerate(vectors.tolist())
    ]
    (tmp_path / "e.jsonl").write_text("\n".join(lines))
    again = scanned(tmp_path / "e.jsonl", tmp_path / "again", "--seed", "5")
    assert np.array_equal(again.pairs.at_least(0.9).left, above.left)
    np.save(tmp_path / "e.npy", vectors)
    main(
        [
            "scan",
            str(tmp_path / "e.npy"),
            "--vectors",
            "vector",
            "-o",
            str(tmp_path / "n"),
            "-q",
            "--recall",
            "0.9999",
        ]
    )
    assert np.array_equal(nd.Findings(tmp_path / "n").pairs.at_least(0.9).left, above.left)


def test_rows_without_a_vector_are_rejected_with_their_row(tmp_path):
    vectors = planted().tolist()
    rows = [{"id": f"d{i}", "text": f"text {i}", "embedding": v} for i, v in enumerate(vectors)]
    bad = {3: None, 50: [0.0] * WIDTH, 77: [1.0] * (WIDTH - 1), 120: [1e300] * WIDTH, 130: "no"}
    for row, value in bad.items():
        rows[row]["embedding"] = value
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = scanned(tmp_path / "e.jsonl", tmp_path / "found")
    listed = [
        json.loads(line) for line in (tmp_path / "found" / "documents.rejects.jsonl").read_text().splitlines()
    ]
    assert [one["row"] for one in listed] == [row + 1 for row in bad]
    assert {one["reason"] for one in listed} == {"no vector"}
    account = nd.summarize(found).to_json()["account"]
    assert len(found) == 395 and account["rows"]["rejected"] == {"no vector": 5}
    rows[120]["embedding"] = [float("nan")] * WIDTH
    result = nd.dedup(rows, CONFIG)
    assert [one.row for one in result.rejected] == list(bad)
    assert {one.reason for one in result.rejected} == {"no vector"}
    assert "number 0 of its vector is nan" in result.rejected[3].detail
    with pytest.raises(UnreadableInput):
        nd.scan(tmp_path / "e.jsonl", tmp_path / "strict", CONFIG, strict=True)
    with pytest.raises(UnreadableInput, match="no vector"):
        nd.dedup(rows, nd.Config(vectors=nd.Vectors("other")))


@pytest.mark.parametrize(
    "option", [["--method", "minhash"], ["--width", "3"], ["--measure", "jaccard"], ["--prune"]]
)
def test_options_of_words_are_refused(tmp_path, option, capsys):
    (tmp_path / "e.jsonl").write_text('{"id": 1, "text": "a", "embedding": [1, 2]}\n')
    with pytest.raises(SystemExit) as ended:
        main(["scan", str(tmp_path / "e.jsonl"), "--vectors", "embedding", *option])
    assert ended.value.code == 2 and "vectors" in capsys.readouterr().err


def npy_scan(path, vectors, folder, **options):
    """A scan of vectors in a file, which is written unless it is there."""
    if not path.exists():
        np.save(path, vectors)
    config = nd.Config(vectors=nd.Vectors("vector"), verify=nd.Cosine(0.9), recall=0.9999, seed=1)
    return nd.scan(path, folder, config, **options)


@pytest.mark.parametrize("reusable", [False, True])
def test_vectors_against_a_reference(tmp_path, reusable):
    """New vectors are dropped for near ones in the reference, never the reverse; its fingerprints can be used again."""
    vectors = planted()
    old, new = vectors[:200], vectors[200:]
    reference = npy_scan(tmp_path / "old.npy", old, tmp_path / "old", reusable=reusable)
    place = tmp_path / "old" if reusable else tmp_path / "old.npy"
    found = npy_scan(tmp_path / "new.npy", new, tmp_path / "new", against=[place])
    assert len(reference) == found.reference == 200
    dropped = set((found.cut().dropped - 200).tolist())
    expected = {right - 200 for left, right in naive_pairs(vectors, 0.9) if left < 200 <= right}
    assert dropped >= expected and len(expected) > 20
    within = naive_pairs(new, 0.9)
    assert all(any(row in pair for pair in within) for row in dropped - expected)
    again = npy_scan(tmp_path / "new.npy", new, tmp_path / "again", against=[tmp_path / "old.npy"])
    assert again.cut().kept.tolist() == found.cut().kept.tolist()


def test_vectors_of_another_size_than_the_reference_are_rejected(tmp_path):
    npy_scan(tmp_path / "old.npy", planted(), tmp_path / "old", reusable=True)
    wide = np.hstack([planted(), planted(seed=3)])
    for place in (tmp_path / "old", tmp_path / "old.npy"):
        with pytest.raises(nd.NeardupError, match=r"64.*32|32.*64"):
            npy_scan(tmp_path / "wide.npy", wide, tmp_path / "wide", against=[place], overwrite=True)


def test_a_killed_scan_of_vectors_resumes(tmp_path, monkeypatch):
    from neardup.pipeline import sharder

    vectors = planted(rows=3000)
    whole = npy_scan(tmp_path / "a.npy", vectors, tmp_path / "whole", shard_bytes=1 << 16)
    write, written = sharder.write_shard, []

    def killed(*given, **named):
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(given[0])
        write(*given, **named)

    monkeypatch.setattr(sharder, "write_shard", killed)
    with pytest.raises(KeyboardInterrupt):
        npy_scan(tmp_path / "a.npy", vectors, tmp_path / "found", shard_bytes=1 << 16)
    made = [path.stat().st_mtime_ns for path in written]
    monkeypatch.setattr(sharder, "write_shard", write)
    resumed = npy_scan(tmp_path / "a.npy", vectors, tmp_path / "found", shard_bytes=1 << 16)
    assert len(made) == 1 and resumed.cut().kept.tolist() == whole.cut().kept.tolist()
    assert np.array_equal(resumed.pairs.left, whole.pairs.left)
    assert np.array_equal(resumed.pairs.similarity, whole.pairs.similarity)


def test_psm_is_calibrated_on_similar_vectors_where_chance_makes_most_neighbours():
    vectors = planted(rows=6000, near=900, seed=5)
    config = nd.Config(vectors=nd.Vectors(), verify=nd.Cosine(0.9), search=nd.PSM(16, recall=0.95), seed=1)
    result = nd.dedup(vectors, config)
    report = result.found.search
    assert report.chance > 0.1 and report.similar and not report.exact and report.flips > 0
    expected = naive_pairs(vectors, 0.9)
    found = pairs_of(result)
    assert found <= expected and len(found) >= 0.93 * len(expected)
