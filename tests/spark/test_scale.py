"""What makes large runs bounded: bundles, crowds that are counted or split, and pairs that are verified by label."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget
from support.spark_runs import assert_decided, write_jsonl

import neardup as nd

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")

from neardup.spark import hamming, join, shuffle, verify  # noqa: E402
from neardup.spark import pairs as pair_bundles  # noqa: E402
from neardup.spark.packed import binary, flat, part_of, runs, split  # noqa: E402


@given(st.lists(st.binary(max_size=40).map(lambda b: b[: len(b) // 8 * 8]), min_size=1, max_size=20))
def test_numbers_come_out_of_bundles_as_they_went_in(rows):
    ends = np.cumsum([0, *(len(row) // 8 for row in rows)])
    column = binary(np.frombuffer(b"".join(rows), np.int64), ends)
    assert column.to_pylist() == rows
    for start in range(len(rows)):
        values, offsets = flat(column.slice(start), np.int64)
        assert values.tobytes() == b"".join(rows[start:])
        assert np.diff(offsets).tolist() == [len(row) // 8 for row in rows[start:]]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.integers(1, 90_000))
def test_parts(values, parts):
    part = part_of(np.array(values, np.int64), parts)
    assert all(0 <= one < parts for one in part.tolist())
    order, ends = split(part, parts)
    assert sorted(order.tolist()) == list(range(len(values)))
    for one in set(part.tolist()):
        assert {values[i] for i in order[ends[one] : ends[one + 1]].tolist()} == {
            value for value, p in zip(values, part.tolist(), strict=True) if p == one
        }


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1), st.integers(1, 5))
def test_runs_are_whole(pairs, size):
    table = pa.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})
    found = list(runs(iter(table.to_batches(max_chunksize=size)), "a", "b"))
    assert [here for here, batch in found for _ in range(batch.num_rows)] == pairs
    assert all(set(zip(*batch.to_pydict().values(), strict=True)) == {here} for here, batch in found)


def through(rows, entries, parts, made, size=7):
    """What a shuffle does: bundles in any order, those of one place side by side."""
    bundler = shuffle.EntryBundles(entries, parts)
    bundles = list(bundler(iter(rows.to_batches(max_chunksize=size))))
    whole = pa.Table.from_batches(bundles).sort_by([("table", "ascending"), ("part", "ascending")])
    return list(made(iter(whole.to_batches(max_chunksize=3))))


def pairs_found(batches):
    bundles = [batch.filter(batch.column("many").is_null()) for batch in batches]
    sides = [pair_bundles.unbundled(batch) for batch in bundles if batch.num_rows]
    return sorted({pair for left, right in sides for pair in zip(left.tolist(), right.tolist(), strict=True)})


@settings(max_examples=budget(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=60),
    st.integers(1, 6), st.sampled_from([1, 3, 1000]), st.booleans(),
)  # fmt: skip
def test_rows_that_share_a_key_are_paired(keys, parts, cap, tight):
    rows = np.array([2**40 * (n % 2) + n for n in range(len(keys))])  # beyond 32 bits too
    table = pa.table({"row": rows, "keys": pa.array([list(key) for key in keys], pa.list_(pa.int64()))})
    with pytest.MonkeyPatch.context() as patch:
        if tight:  # large buckets are cut as they come
            patch.setattr(join, "_HELD", 4)
            patch.setattr(pair_bundles, "_HELD", 5)
        found = through(table, shuffle.BandEntries(), parts, join.BucketPairs(cap, 3))
    buckets: dict[tuple[int, int], list[int]] = {}
    for row, key in zip(rows.tolist(), keys, strict=True):
        for number, value in enumerate(key):
            buckets.setdefault((number, value), []).append(row)
    small = [bucket for bucket in buckets.values() if len(bucket) <= cap]
    expected = {(min(a, b), max(a, b)) for bucket in small for a, b in combinations(bucket, 2)}
    assert pairs_found(found) == sorted(expected)
    crowds = [row for batch in found for row in batch.to_pylist() if row["many"] is not None]
    assert {((row["table"], row["key"]), row["many"]) for row in crowds} == {
        (name, len(bucket)) for name, bucket in buckets.items() if len(bucket) > cap
    }


@settings(max_examples=budget(40), deadline=None)
@given(
    st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=80), st.integers(1, 5),
    st.integers(0, 20),
)  # fmt: skip
def test_neighbours_are_the_same_however_pairs_came(pairs, parts, reference):
    pairs = [(a, b) for a, b in pairs if a != b]
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        for held, merged, lefts in ((1 << 20, 1 << 23, 3), (4, 2, 3)):
            patch.setattr(pair_bundles, "_HELD", held)
            patch.setattr(pair_bundles, "_MERGED", merged)
            patch.setattr(pair_bundles, "_LEFTS", lefts)
            made = pair_bundles.PairBundles(parts)
            bundles = [batch for a, b in [*pairs, *pairs] for batch in made.add(np.array([a]), np.array([b]))]
            bundles += list(made.end())
            if not bundles:
                return
            whole = pa.Table.from_batches(bundles).sort_by("part")
            gathered = pair_bundles._Gather(reference)(iter(whole.to_batches(max_chunksize=2)))
            rows = [zip(*batch.to_pydict().values(), strict=True) for batch in gathered]
            answers.append(sorted(row for some in rows for row in some))
    assert answers[0] == answers[1]
    spelled = [(int(a), right) for right, _, lefts in answers[0] for a in np.frombuffer(lefts, np.int64)]
    expected = {(min(a, b), max(a, b)) for a, b in pairs if max(a, b) >= reference}
    assert sorted(spelled) == sorted(expected)
    first = {right: min(a for a, b in expected if b == right) for _, right in expected}
    assert all(label == first[right] for right, label, _ in answers[0])


def test_pairs_of_one_label_are_in_one_cell_unless_it_is_crowded():
    lefts = [np.arange(3), np.arange(1, 3), np.array([9])]
    ends = np.cumsum([0, *map(len, lefts)])
    column = binary(np.concatenate(lefts), ends)
    batch = pa.record_batch([pa.array([5, 6, 10]), pa.array([0, 0, 9]), column], ["right", "label", "lefts"])
    cell, right, left, begins = verify.Cells(50, 2, np.empty(0, np.int64)).placed(batch)
    assert cell[0] == cell[1] != cell[2] and right.tolist() == [5, 6, 10] and begins.tolist() == ends.tolist()
    cell, right, left, begins = verify.Cells(50, 4, np.array([0])).placed(batch)
    pairs = [(int(a), int(b)) for b, s, e in zip(right, begins, begins[1:], strict=False) for a in left[s:e]]
    assert sorted(pairs) == [(0, 5), (1, 5), (1, 6), (2, 5), (2, 6), (9, 10)]
    assert all((one < 50) == (b == 10) for one, b in zip(cell.tolist(), right.tolist(), strict=True))
    assert cell.max() < 50 + 16


def test_codes_crowded_under_few_keys_are_split_between_tasks(spark, tmp_path, monkeypatch):
    """One task would have to join most codes of every table; they are spread, and no pair is lost."""
    monkeypatch.setattr(hamming, "MOST", 40)
    base = " ".join(f"word{n}" for n in range(60))
    rows = [{"id": f"p{n}", "text": f"{base} other{n} more{n * n}"} for n in range(300)]
    path = write_jsonl(tmp_path / "a.jsonl", rows)[0]
    config = nd.Config(
        features=nd.Shingles(1), fingerprint=nd.Simhash(), search=nd.search.Join(4), verify=nd.Jaccard(0.9)
    )
    here = nd.dedup(nd.read(path), config)
    assert len(here.pairs) > 1000
    stages = ns.file_stages(path, str(tmp_path / "run"), config, spark=spark, partitions=2, small=0)
    assert_decided(stages, here)
    assert stages.folder.read_json("key-pairs.json")["split"] > 0


def test_partitions_go_by_the_text_that_was_read(spark, tmp_path, monkeypatch):
    from neardup.spark import documents

    monkeypatch.setattr(documents, "_PART", 4000)
    rows = [
        {"id": f"p{n}", "text": f"{n} " + " ".join(f"w{n % 40}x{i}" for i in range(40))} for n in range(80)
    ]
    path = write_jsonl(tmp_path / "a.jsonl.gz", rows)[0]
    here = nd.dedup(nd.read(path))
    free = ns.file_stages(path, str(tmp_path / "free"), spark=spark, small=0)
    assert_decided(free, here)
    assert free.documents.partitions == -(-free.documents.facts["bytes"] // 4000) > 3
    assert free.session.conf.get("spark.sql.shuffle.partitions") == str(free.documents.partitions)
    chosen = ns.file_stages(path, str(tmp_path / "chosen"), spark=spark, partitions=1, small=0)
    assert_decided(chosen, here)
    assert chosen.documents.partitions == 1
