"""Candidates by bands: the same as naive banding, whole in recall, and never a bucket that explodes."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stages import band_key, banding

import neardup as nd
from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.search.lsh import BandCandidates


def sketches_of(values, empty=None):
    values = np.asarray(values, dtype=np.uint32)
    return nd.fingerprints.Sketches(
        "test", np.zeros(len(values), bool) if empty is None else empty, values=values
    )


def every(found: BandCandidates):
    pairs = [pair for a, b in found.every(batch=7) for pair in zip(a.tolist(), b.tolist(), strict=True)]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def listed(found: BandCandidates):
    assert np.all(found.left < found.right)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return set(pairs)


def near(count, values, share, rng):
    """Sketches that each agree with one another's origin in about this share of places."""
    table = np.repeat(rng.integers(0, 2**32, (1, values), dtype=np.uint32), count, axis=0)
    changed = rng.random(table.shape) >= share
    table[changed] = rng.integers(0, 2**32, int(changed.sum()), dtype=np.uint32)
    return table


tables = st.integers(1, 4).flatmap(
    lambda rows: st.tuples(
        st.integers(1, 5),
        st.just(rows),
        st.lists(st.lists(st.integers(0, 1), min_size=20, max_size=20), max_size=30),
        st.integers(0, 2**32 - 1),
    )
)


@given(tables, st.integers(1, 4), st.sampled_from([1, 4, 1000]))
def test_equal_naive_banding(table, threads, spread):
    bands, rows, values, mask = table
    values = np.array(values, dtype=np.uint32).reshape(-1, 20)
    empty = np.array([(mask >> i) % 7 == 0 for i in range(len(values))], dtype=bool)
    found = nd.LSH(bands, rows, spread=spread).candidates(sketches_of(values, empty), threads=threads)
    want = banding(values.tolist(), empty, bands, rows)
    assert every(found) == want
    assert listed(found) <= want
    assert len(found) + found.implied == len(want)
    assert found.capped == found.skipped == 0
    if spread == 1000:
        assert listed(found) == want


def test_equal_naive_banding_on_many_pairs():
    """Enough pairs for the sort by digits, of rows that need more than one digit."""
    rng = np.random.default_rng(7)
    values = rng.integers(0, 40, (3000, 6), dtype=np.uint32)
    found = nd.LSH(bands=3, rows=1).candidates(sketches_of(values), threads=2)
    want = banding(values.tolist(), np.zeros(3000), 3, 1)
    assert len(want) > 200_000 and listed(found) == want


def test_keys_are_the_same_join():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, (40, 12), dtype=np.uint32)
    empty = np.arange(40) % 9 == 4
    lsh = nd.LSH(bands=4, rows=3)
    keys = lsh.keys(sketches_of(values, empty), threads=2)
    assert keys.row.dtype == np.int64 and keys.table.dtype == np.int32 and keys.key.dtype == np.uint64
    for row, band, key in zip(keys.row, keys.table, keys.key, strict=True):
        assert int(key) == band_key(values[row, band * 3 : band * 3 + 3].tolist())
    together = {}
    for row, band, key in zip(keys.row.tolist(), keys.table.tolist(), keys.key.tolist(), strict=True):
        together.setdefault((band, key), []).append(row)
    joined = {(a, b) for rows in together.values() for a in rows for b in rows if a < b}
    assert joined == banding(values.tolist(), empty, 4, 3)
    probes = lsh.probes(sketches_of(values, empty))
    assert np.array_equal(probes.key, keys.key) and np.array_equal(probes.row, keys.row)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_odd_and_even_bands_hash_all_their_values(rows):
    values = np.arange(rows, dtype=np.uint32)[None, :]
    first = nd.LSH(1, rows).keys(sketches_of(values)).key[0]
    assert int(first) == band_key(values[0].tolist())
    for place in range(rows):
        other = values.copy()
        other[0, place] += 1
        assert nd.LSH(1, rows).keys(sketches_of(other)).key[0] != first


def test_threads_and_cpu_levels_give_the_same_bytes(cpu):
    values = np.vstack([near(60, 24, 0.8, np.random.default_rng(group)) for group in range(40)])
    values = np.vstack([values, values[::5]])
    lsh = nd.LSH(bands=8, rows=3, cap=20)
    one = lsh.candidates(sketches_of(values))
    assert one.capped > 0 and one.skipped > 0 and len(one.groups) > 0
    for threads in (2, 3, 7, 16):
        other = lsh.candidates(sketches_of(values), threads=threads)
        assert one.left.tobytes() == other.left.tobytes() and one.right.tobytes() == other.right.tobytes()
        assert (one.implied, one.capped, one.skipped) == (other.implied, other.capped, other.skipped)


def test_identical_sketches_are_one_group():
    values = np.repeat(np.arange(120, dtype=np.uint32)[None, :], 100_000, axis=0)
    found = nd.LSH(20, 6).candidates(sketches_of(values))
    assert np.array_equal(found.left, np.zeros(99_999)) and np.array_equal(found.right, np.arange(1, 100_000))
    assert found.implied == 100_000 * 99_999 // 2 - 99_999
    assert len(found.groups) == 1 and found.capped == 0


def test_a_large_bucket_is_capped_and_says_so():
    count = 50_000
    values = near(count, 24, 0.95, np.random.default_rng(2))
    values[:, :6] = values[0, :6]  # one bucket holds every row
    found = nd.LSH(4, 6).candidates(sketches_of(values))
    assert found.capped >= 1
    assert found.skipped > count**2 // 4
    assert len(found) < 4 * 12 * count + 2_000_000  # near-linear: stars, neighbours and small groups
    # Every row is paired with the first one, so that they can still become one cluster.
    pairs = listed(found)
    assert all((0, row) in pairs for row in range(1, count))


def test_capped_pairs_are_counted_exactly():
    values = near(40, 8, 0.9, np.random.default_rng(3))
    values[:, :4] = 1
    values[:, 4:] = np.arange(160).reshape(40, 4)
    found = nd.LSH(bands=2, rows=4, cap=39).candidates(sketches_of(values))
    assert (found.capped, found.skipped) == (1, 40 * 39 // 2 - len(found))
    assert len(nd.LSH(bands=2, rows=4, cap=40).candidates(sketches_of(values))) == 40 * 39 // 2


def test_pairs_of_a_capped_bucket_are_found_in_another_band():
    # All rows share band 0; rows 2i and 2i + 1 share band 1 too.
    values = np.zeros((200, 4), dtype=np.uint32)
    values[:, 2] = values[:, 3] = np.arange(200) // 2
    values[:, 3] += np.uint32(7)
    values = np.hstack([values, np.arange(200, dtype=np.uint32)[:, None]])
    found = nd.LSH(bands=2, rows=2, cap=10).candidates(sketches_of(values))
    assert {(2 * i, 2 * i + 1) for i in range(100)} <= listed(found)
    assert found.capped == 1


@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), max_size=25), st.randoms())
def test_rank_chooses_the_first_row_of_a_group(values, random):
    values = np.array(values, dtype=np.uint32).reshape(-1, 6)
    rank = np.array(random.sample(range(100), len(values)), dtype=np.int64)
    found = nd.LSH(bands=3, rows=2, spread=1).candidates(sketches_of(values), rank=rank)
    assert every(found) == banding(values.tolist(), np.zeros(len(values)), 3, 2)
    for group in range(len(found.groups)):
        members = found.groups.members[found.groups.offsets[group] : found.groups.offsets[group + 1]]
        assert members[0] == members[np.argmin(rank[members])]
    listed(found)


def test_a_second_look_behind_collapsed_groups():
    rng = np.random.default_rng(8)
    values = rng.integers(0, 2**32, (1, 6), dtype=np.uint32).repeat(6, axis=0)
    values[0, 2:] += np.uint32(1)  # row 0 shares a band with the five equal ones
    found = nd.LSH(bands=3, rows=2, spread=4).candidates(sketches_of(values))
    assert listed(found) == {(0, 1), (1, 2), (1, 3), (1, 4), (1, 5)} and found.implied == 10
    clusters = nd.cluster(nd.compare.Pairs(found.left, found.right, np.ones(len(found))), 6)
    assert clusters.keeper.tolist() == [0, 0, 2, 3, 4, 5]
    left, right = found.implied_pairs(clusters.keeper)
    assert left.tolist() == [0] * 4 and right.tolist() == [2, 3, 4, 5]
    more = nd.compare.Pairs.of(
        np.concatenate([found.left, left]), np.concatenate([found.right, right]), np.ones(9)
    )
    assert nd.cluster(more, 6).keeper.tolist() == [0] * 6
    assert len(found.implied_pairs(np.array([0, 1, 1, 1, 1, 1]))[0]) == 0


def test_curve():
    lsh = nd.LSH(bands=20, rows=5)
    assert lsh.curve(0.8) == pytest.approx(1 - (1 - 0.8**5) ** 20, rel=1e-12)
    assert lsh.curve([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert lsh.curve(1e-4) == pytest.approx(20e-20, rel=1e-6)  # no digits lost near 0
    with pytest.raises(DataError):
        lsh.curve(1.5)


@given(st.floats(0.05, 1), st.floats(0.5, 0.999), st.sampled_from([64, 128, 256, 1024]))
def test_chosen_bands_reach_the_recall(threshold, recall, values):
    try:
        lsh = nd.LSH.for_threshold(threshold, recall, values)
    except ConfigError as error:
        assert "MinHash values" in str(error)
        assert 1 - (1 - threshold) ** values < 1 - (1 - recall) / 4
        return
    assert lsh.values <= values
    assert lsh.curve(threshold) >= recall
    assert nd.LSH.for_threshold(threshold, recall, 2 * values).rows >= lsh.rows


def test_the_usual_choice():
    assert nd.LSH.for_threshold() == nd.LSH(20, 6)
    assert nd.LSH.for_threshold(0.7) == nd.LSH(22, 4)
    assert nd.LSH.for_threshold(0.5, values=256) == nd.LSH(45, 3)
    assert nd.LSH.for_threshold(1.0, values=16) == nd.LSH(1, 16)


def test_mistakes_are_errors():
    for wrong in ({"bands": 0, "rows": 5}, {"bands": 5, "rows": 0}, {"bands": 5, "rows": 5, "cap": 0}):
        with pytest.raises(ConfigError):
            nd.LSH(**wrong)
    with pytest.raises(ConfigError, match=r"MinHash\(values=120\)"):
        nd.LSH(20, 6).candidates(sketches_of(np.zeros((3, 100))))
    with pytest.raises(ConfigError, match="threshold"):
        nd.LSH.for_threshold(0)
    with pytest.raises(ConfigError, match="recall"):
        nd.LSH.for_threshold(0.8, 1.0)
    with pytest.raises(DataError, match="rank"):
        nd.LSH(1, 2).candidates(sketches_of(np.zeros((3, 2))), rank=np.zeros(2, np.int64))


def test_the_border_checks_shapes():
    values = np.zeros((3, 8), np.uint32)
    for bands, rows in ((0, 1), (1, 0), (3, 3), (2**63, 2)):
        with pytest.raises(ValueError, match="bands"):
            _core.band_keys(values, bands, rows, 0, 1, 1)
    with pytest.raises(ValueError, match="fewer bands"):
        _core.band_keys(values, 2, 2, 1, 2, 1)
    with pytest.raises(ValueError, match="length"):
        _core.key_pairs(np.zeros(3, np.uint64), np.zeros(2, np.uint64), None, 10, 1)
    with pytest.raises(ValueError, match="threads"):
        _core.band_keys(values, 2, 2, 0, 2, 0)
    with pytest.raises(TypeError):
        _core.band_keys(values.astype(np.uint64), 2, 2, 0, 2, 1)


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_to_pair(rows):
    found = nd.LSH(2, 3).candidates(sketches_of(np.zeros((rows, 6))))
    assert len(found) == found.implied == 0 and every(found) == set()


@pytest.mark.parametrize("name", ["k8s_docs_rev", "tldr_short", "gov2_human", "electron_i18n_rev"])
@pytest.mark.parametrize(("threshold", "needed"), [(0.8, 0.99), (0.7, 0.98), (0.5, 0.98)])
def test_recall_on_real_text(data, name, threshold, needed):
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    row = {document["id"]: i for i, document in enumerate(documents)}
    with gzip.open(data / name / "exact_pairs.tsv.gz", "rt") as file:
        lines = [line.split("\t") for line in file][1:]
    want = {tuple(sorted((row[a], row[b]))) for a, b, jaccard, *_ in lines if float(jaccard) >= threshold}
    lsh = nd.LSH.for_threshold(threshold)
    texts = [document["text"] for document in documents]
    found = lsh.candidates(
        nd.fingerprint(texts, nd.Shingles(5), nd.MinHash(lsh.values), threads=2), threads=2
    )
    assert found.implied == found.capped == 0
    assert len(want & listed(found)) >= needed * len(want) > 0
