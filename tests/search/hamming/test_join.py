from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import join as naive
from support.budgets import budget

import neardup as nd
from neardup import _core
from neardup.errors import ConfigError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.search.hamming.designs import bphs, compact, covering, covering_sizes, manku
from neardup.search.hamming.join import Join
from neardup.search.hamming.method import join_design
from neardup.search.hamming.scan import Scan


def rows_of(batches) -> list[tuple[int, int, int]]:
    return [row for batch in batches for row in zip(*(column.tolist() for column in batch), strict=True)]


def scanned(words: np.ndarray, bits: int, radius: int) -> list[tuple[int, int, int]]:
    pairs = Scan(radius, bits).candidates(to_codes(words, bits), threads=2)
    return rows_of([(pairs.left, pairs.right, pairs.distance)])


def of_first_rows(words: np.ndarray, pairs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    first: dict[int, int] = {}
    numbers = naive.integers(words)
    for row, number in enumerate(numbers):
        first.setdefault(number, row)
    alone = {row for number, row in first.items()}
    return [pair for pair in pairs if pair[0] in alone and pair[1] in alone]


@pytest.mark.parametrize("kind", naive.KINDS)
@pytest.mark.parametrize("radius", range(9))
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_every_radius_and_width_equals_the_scan(bits, radius, kind):
    words = naive.draw(radius, 900, bits, kind)
    codes = to_codes(words, bits)
    expected = scanned(words, bits, radius)
    stream = Join(radius, bits).within(codes)
    found = rows_of(stream)
    assert len(found) == len(set(found))
    assert sorted(found) == of_first_rows(words, expected)
    assert sorted(rows_of(stream.expand())) == expected
    assert rows_of(Join(radius, bits).within(codes, threads=2, batch=7)) == found


def test_the_scan_behind_these_tests_is_the_naive_one():
    words = naive.draw(1, 150, 64, "clustered")
    assert scanned(words, 64, 3) == naive.pairs(naive.integers(words), 3)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("kind", naive.KINDS)
def test_every_cpu_level_gives_the_same_bytes(kind, bits, cpu):
    words = naive.draw(7, 5_000, bits, kind)[:, :]
    found = rows_of(Join(3, bits).within(to_codes(words, bits)))
    _core.force_cpu(_core.best_cpu())
    assert rows_of(Join(3, bits).within(to_codes(words, bits))) == found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "repeated"])
def test_many_partitions(kind, threads):
    words = naive.draw(11, 40_000, 64, kind)
    expected = of_first_rows(words, scanned(words, 64, 3))
    found = rows_of(Join(3).within(to_codes(words), threads=threads))
    assert sorted(found) == expected
    assert len(found) > 500


DESIGNS = [
    *(manku(tables) for tables in (4, 10, 16, 20)),
    *(covering(64, 3, tables) for tables in covering_sizes(64, 3)),
    bphs(64, 5, 8, 3),
    bphs(64, 3, 4, 1),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.name}-r{design.radius}")
def test_any_design_without_flips_gives_the_same_pairs(design):
    words = naive.draw(13, 3_000, 64, "clustered")
    found = rows_of(Join(3, 64, design).within(to_codes(words), threads=2))
    assert sorted(found) == of_first_rows(words, scanned(words, 64, 3))
    assert len(found) > 500


@pytest.mark.parametrize("kind", naive.KINDS)
@pytest.mark.parametrize(("bits", "radius"), [(32, 2), (64, 3), (64, 8), (128, 5)])
def test_between_two_sets_equals_the_scan(kind, bits, radius, cpu):
    both = naive.draw(17, 1_500, bits, kind)
    left, right = to_codes(both[::3], bits), to_codes(np.ascontiguousarray(both[1::2]), bits)
    hits = Scan(radius, bits).index(right).search(left)
    expected = rows_of([(hits.query, hits.row, hits.distance)])
    stream = Join(radius, bits).between(left, right)
    found = rows_of(stream)
    assert sorted(rows_of(stream.expand())) == expected
    assert len(found) == len(set(found))
    assert set(found) <= set(expected)
    assert rows_of(Join(radius, bits).between(left, right, threads=2, batch=5)) == found


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", naive.KINDS)
def test_labels_are_the_union_of_all_pairs(kind, threads):
    words = naive.draw(19, 2_000, 64, kind)
    expected = naive.labels(len(words), [(a, b) for a, b, _ in scanned(words, 64, 3)])
    assert Join(3).labels(to_codes(words), threads=threads).tolist() == expected
    candidates = Join(3).candidates(to_codes(words), threads=threads)
    assert _core.labels_of_pairs(len(words), candidates.left, candidates.right).tolist() == expected


def test_batches_are_bounded_and_full():
    words = naive.draw(23, 2_500, 64, "crowded")
    whole = rows_of(Join(8).within(to_codes(words)))
    assert len(whole) > 100_000  # more than one partition may hold ready
    for batch in (1_000, 65_536, 100_000):
        sizes = [len(left) for left, _, _ in Join(8).within(to_codes(words), batch=batch)]
        assert sum(sizes) == len(whole)
        assert all(size == batch for size in sizes[:-1]) and 0 < sizes[-1] <= batch
    assert rows_of(Join(8).within(to_codes(words), batch=1_000, threads=2)) == whole


@pytest.mark.parametrize("bits", [64, 128])
def test_crowds_under_one_key_are_split_and_nothing_is_lost(bits):
    # 40,000 codes agree on most bits: every table has one bucket far too large to try pair by pair unsplit.
    rng = np.random.default_rng(29)
    words = np.zeros((40_000, bits // 64), dtype=np.uint64)
    words[:, -1] = rng.integers(0, 1 << 24, len(words), dtype=np.uint64) << np.uint64(17)
    for radius in (1, 2):
        expected = of_first_rows(words, scanned(words, bits, radius))
        stream = Join(radius, bits).within(to_codes(words, bits), threads=2)
        assert sorted(rows_of(stream)) == expected
        assert len(expected) > 1_000
    half = to_codes(words[::2].copy(), bits), to_codes(words[1::2].copy(), bits)
    hits = Scan(1, bits).index(half[1]).search(half[0])
    assert sorted(rows_of(Join(1, bits).between(*half).expand())) == rows_of(
        [(hits.query, hits.row, hits.distance)]
    )


@pytest.mark.slow
def test_a_partition_larger_than_any_copy_is_sorted_in_place():
    rng = np.random.default_rng(31)
    words = rng.integers(0, 1 << 32, (140_000, 1), dtype=np.uint64)
    expected = of_first_rows(words, scanned(words, 64, 2))
    design = bphs(64, 3, 4, 1)  # two of its four keys are the same for all
    assert sorted(rows_of(Join(2, 64, design).within(to_codes(words), threads=2))) == expected
    assert len(expected) > 1_000


def test_equal_codes_cost_nothing():
    words = np.concatenate([np.full((100_000, 1), 6, dtype=np.uint64), naive.draw(37, 500, 64, "uniform")])
    words[-1] = 7
    stream = Join(3).within(to_codes(words))
    found = rows_of(stream)
    assert (0, len(words) - 1, 1) in found
    assert len(found) < 2_000
    assert len(Join(3).candidates(to_codes(words))) == len(found) + 99_999


def test_empty_rows_take_no_part():
    words = np.zeros((5, 1), dtype=np.uint64)
    words[3] = 1
    codes = Codes("test", np.array([True, False, True, False, False]), 64, words)
    assert rows_of(Join(1).within(codes)) == [(1, 3, 1)]
    assert Join(1).labels(codes).tolist() == [0, 1, 2, 1, 1]
    assert sorted(rows_of(Join(1).between(codes, codes).expand())) == [
        (1, 1, 0), (1, 3, 1), (1, 4, 0), (3, 1, 1), (3, 3, 0), (3, 4, 1), (4, 1, 0), (4, 3, 1), (4, 4, 0),
    ]  # fmt: skip
    nothing = to_codes(np.zeros((0, 1), dtype=np.uint64))
    assert rows_of(Join(3).within(nothing)) == [] and Join(3).labels(nothing).tolist() == []
    assert rows_of(Join(3).between(nothing, to_codes(words))) == []


@settings(max_examples=budget(80), deadline=None)
@given(
    st.sampled_from([32, 64, 128]).flatmap(
        lambda bits: st.tuples(
            st.just(bits),
            st.integers(0, 8),
            st.lists(
                st.builds(
                    lambda base, flips: base ^ sum({1 << f for f in flips}),
                    st.sampled_from([0, 2**bits - 1, 0xDEADBEEF]),
                    st.lists(st.integers(0, bits - 1), max_size=6),
                ),
                max_size=60,
            ),
        )
    )
)
def test_join_property(case):
    bits, radius, numbers = case
    mask = (1 << 64) - 1
    words = np.array(
        [[n >> (64 * i) & mask for i in range((bits + 63) // 64)] for n in numbers], dtype=np.uint64
    ).reshape(len(numbers), (bits + 63) // 64)
    assert sorted(rows_of(Join(radius, bits).within(to_codes(words, bits)).expand())) == naive.pairs(
        numbers, radius
    )


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_codes_of_real_texts(data, bits):
    # Licences: thousands of texts made from a few templates, whose codes crowd as random ones never do.
    with gzip.open(data / "licenses" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    codes = nd.Simhash(bits).compute(nd.Words().extract(texts))
    for radius in (0, 3) if bits == 32 else (0, 3, 8):
        pairs = Scan(radius, bits).candidates(codes, threads=2)
        stream = Join(radius, bits).within(codes, threads=2)
        assert sorted(rows_of(stream.expand())) == rows_of([(pairs.left, pairs.right, pairs.distance)])
    assert len(pairs) > 10_000


def test_wide_radii_are_still_exact():
    words = naive.draw(41, 600, 64, "crowded")
    assert sorted(rows_of(Join(12).within(to_codes(words)).expand())) == scanned(words, 64, 12)


def test_more_codes_call_for_longer_keys():
    sizes = [len(join_design(64, 3, rows).tables) for rows in (10**4, 10**7, 10**8, 10**9, 10**11)]
    assert sizes == sorted(sizes) and sizes[0] == 4 and sizes[-1] > 6


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match="flips"):
        Join(3, 64, compact(64, 3))
    with pytest.raises(ConfigError, match="radius"):
        Join(4, 64, manku(4))
    with pytest.raises(ConfigError, match="batch"):
        Join(3).within(to_codes(np.zeros(2, dtype=np.uint64)), batch=0)
    with pytest.raises(ConfigError, match="nothing to search"):
        join_design(64, 64, 10)
    with pytest.raises(SchemeError):
        Join(3).between(
            to_codes(np.zeros(2, dtype=np.uint64)), to_codes(np.zeros(2, dtype=np.uint64), scheme="other")
        )
    words, masks = np.zeros((3, 1), dtype=np.uint64), np.ones((1, 2), dtype=np.uint64)
    with pytest.raises(ValueError, match="skip"):
        _core.PairStream(words, np.zeros(2, dtype=bool), None, None, masks, 64, 3)
    with pytest.raises(ValueError, match="masks"):
        _core.PairStream(words, None, None, None, masks[:, :1].copy(), 64, 3)
    with pytest.raises(ValueError, match="one set"):
        _core.PairStream(words, None, words, None, masks, 64, 3).labels()
    with pytest.raises(ValueError, match="out of range"):
        _core.labels_of_pairs(2, np.array([0]), np.array([2]))
