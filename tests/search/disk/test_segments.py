"""Segment files: what is written comes back, damage is found, and sets larger than memory are sorted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from papers.bits import bit_count
from reference.disk import damaged_bytes, from_ints, near, read_column_file, some_codes, sorted_pairs, to_ints
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, DataError, FormatError, SchemeError
from neardup.search.codes import to_codes
from neardup.search.disk.segment_writer import SegmentWriter, memory_bytes, merge_segments
from neardup.search.disk.segments import Segment, write_segment

SCHEME = "test/v1"
widths = st.sampled_from([32, 64, 128])
kinds = st.sampled_from(["uniform", "clustered", "few"])
in_folder = settings(
    max_examples=budget(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def rows_for(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).permutation(count).astype(np.int64) * 3


@in_folder
@given(seed=st.integers(0, 999), count=st.integers(0, 300), bits=widths, kind=kinds)
def test_what_is_written_comes_back_in_order(
    tmp_path: Path, seed: int, count: int, bits: int, kind: str
) -> None:
    codes, rows = some_codes(seed, count, bits, kind), rows_for(count, seed)
    write_segment(tmp_path / "a.seg", codes, rows, SCHEME, bits)
    with Segment.open(tmp_path / "a.seg") as segment:
        segment.verify()
        assert (len(segment), segment.bits, segment.scheme) == (count, bits, SCHEME)
        expected = sorted_pairs(codes, rows)
        assert sorted_pairs(segment.codes, segment.rows) == expected
        assert list(zip(to_ints(segment.codes), segment.rows.tolist(), strict=True)) == expected
        assert not segment.codes.flags.writeable
        for size in (1, 7, 1000):
            parts = [sorted_pairs(*chunk) for chunk in segment.chunks(size)]
            assert [pair for part in parts for pair in part] == expected
    raw = read_column_file(tmp_path / "a.seg")
    assert (raw.magic, raw.flags, raw.scheme) == (b"\x89NDseg\r\n", 0, SCHEME)
    stored = np.frombuffer(raw.columns["codes"], "<u8").reshape(count, (bits + 63) // 64)
    assert to_ints(stored) == [code for code, _ in expected]
    assert os.listdir(tmp_path) == ["a.seg"]


@in_folder
@given(seed=st.integers(0, 99), bits=widths, kind=kinds, prefix=st.integers(0, 32), radius=st.integers(0, 8))
def test_prefix_search_equals_brute_force(
    tmp_path: Path, seed: int, bits: int, kind: str, prefix: int, radius: int
) -> None:
    codes, rows = some_codes(seed, 200, bits, kind), rows_for(200, seed)
    queries = np.concatenate([codes[:20], some_codes(seed, 20, bits, kind)])
    write_segment(tmp_path / "a.seg", codes, rows, SCHEME, bits)
    asked = to_codes(queries, bits, SCHEME)
    hits = Segment.open(tmp_path / "a.seg").search(asked, radius, prefix)
    got = list(zip(hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), strict=True))
    assert got == near(sorted_pairs(codes, rows), to_ints(queries), bits, prefix, radius)


def test_search_over_many_blocks_and_threads(tmp_path: Path) -> None:
    codes = np.random.default_rng(5).integers(0, 2**64, (60_000, 1), dtype=np.uint64)
    codes[20_000:50_000] = codes[0]  # equal codes that fill whole blocks
    write_segment(tmp_path / "a.seg", codes, np.arange(60_000), SCHEME, 64)
    queries = to_codes(np.concatenate([codes[:50], ~codes[:50]]), 64, SCHEME)
    one, two = (Segment.open(tmp_path / "a.seg").search(queries, 3, 20, threads=n) for n in (1, 2))
    expected = (codes[:50] ^ codes.T)[:, :]
    count = (bit_count(expected) <= 3) & (expected < 1 << 44)
    assert len(one) == count.sum()
    for left, right in zip(vars(one).values(), vars(two).values(), strict=True):
        assert np.array_equal(left, right)


def test_search_reads_only_the_blocks_it_needs(tmp_path: Path) -> None:
    """Damage in a block that cannot answer is not touched; in one that can it is found."""
    codes = np.arange(40_000, dtype=np.uint64)[:, None] << np.uint64(48)
    write_segment(tmp_path / "a.seg", codes, np.arange(40_000), SCHEME, 64)
    start = read_start(tmp_path / "a.seg", "codes")
    flip(tmp_path / "a.seg", start + 8 * 20_000)
    segment = Segment.open(tmp_path / "a.seg")
    hits = segment.search(to_codes(codes[:1], 64, SCHEME), 0, 64)
    assert hits.row.tolist() == [0]
    for use in (
        lambda: segment.search(to_codes(codes[20_001:20_002], 64, SCHEME), 0, 64),
        lambda: segment.read(20_001, 20_002),
        lambda: segment.codes,
        segment.verify,
    ):
        with pytest.raises(FormatError, match="damaged block"):
            use()


def read_start(path: Path, name: str) -> int:
    segment = Segment.open(path)
    return next(column.start for column in segment._file.header.columns if column.name == name)


def flip(path: Path, byte: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[byte] ^= 1 << bit
    path.write_bytes(data)


def answers(path: Path, queries: np.ndarray, bits: int) -> tuple:
    with Segment.open(path) as segment:
        hits = segment.search(to_codes(queries, bits, SCHEME), 3, 12)
        read = [sorted_pairs(*chunk) for chunk in segment.chunks(900)]
        found = (hits.query.tolist(), hits.row.tolist(), hits.distance.tolist())
        return read, found, segment.bits, segment.scheme


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_a_damaged_file_is_refused_or_answers_right(tmp_path: Path, bits: int) -> None:
    codes, path = some_codes(3, 1000, bits, "clustered"), tmp_path / "a.seg"
    write_segment(path, codes, rows_for(1000), SCHEME, bits)
    whole, right = path.read_bytes(), answers(path, codes[:30], bits)
    rng = np.random.default_rng(bits)
    refused = 0
    for trial in range(200):
        path.write_bytes(damaged_bytes(whole, trial, rng))
        try:
            assert answers(path, codes[:30], bits) == right
        except FormatError:
            refused += 1
    assert refused > 190  # what is left are flips in the zeros between columns


def test_other_files_and_versions_are_refused(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("text", b"hello" * 2000), ("zeros", bytes(8192))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError):
            Segment.open(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Segment.open(tmp_path / "nothing")


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        write_segment(tmp_path / "a.seg", np.array([2**40], np.uint64), np.arange(1), SCHEME, 32)
    with pytest.raises(DataError):
        write_segment(tmp_path / "a.seg", np.zeros(2, np.uint64), np.arange(3), SCHEME, 64)
    with pytest.raises(DataError):
        write_segment(tmp_path / "a.seg", np.zeros(2, np.uint64), np.arange(2), "s" * 4000, 64)
    with pytest.raises(KeyError), SegmentWriter(tmp_path / "a.seg", SCHEME, 64, memory="4MB") as writer:
        writer.add(np.zeros(200_000, np.uint64), np.arange(200_000))
        raise KeyError
    assert os.listdir(tmp_path) == []


def test_schemes_and_arguments_are_checked(tmp_path: Path) -> None:
    write_segment(tmp_path / "a.seg", np.zeros(2, np.uint64), np.arange(2), SCHEME, 64)
    segment = Segment.open(tmp_path / "a.seg")
    with pytest.raises(SchemeError):
        segment.search(to_codes(np.zeros(1, np.uint64), 64, "other/v1"), 3, 0)
    with pytest.raises(ConfigError):
        segment.search(to_codes(np.zeros(1, np.uint64), 64, SCHEME), 3, 65)
    with pytest.raises(ConfigError):
        segment.read(1, 3)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("count", [0, 1, 50_000, 400_000])
def test_external_sort_equals_sort(tmp_path: Path, bits: int, count: int) -> None:
    rng = np.random.default_rng(count + bits)
    codes = rng.integers(0, 2 ** min(bits, 64), (count, (bits + 63) // 64), dtype=np.uint64)
    codes[count // 4 : count // 2] = codes[count // 3 : count // 3 + 1]  # equal codes across runs
    rows = rng.permutation(count).astype(np.int64)
    with SegmentWriter(tmp_path / "a.seg", SCHEME, bits, memory="4MB") as writer:
        for start in range(0, count, 30_011):
            writer.add(codes[start : start + 30_011], rows[start : start + 30_011])
    order = np.lexsort((rows, *codes.T))
    with Segment.open(tmp_path / "a.seg") as segment:
        assert np.array_equal(segment.codes, codes[order])
        assert np.array_equal(segment.rows, rows[order])
    write_segment(tmp_path / "b.seg", codes, rows, SCHEME, bits)
    assert (tmp_path / "a.seg").read_bytes() == (tmp_path / "b.seg").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.seg", "b.seg"]


def test_merge_in_several_passes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, 20_000, dtype=np.uint64)
    for i in range(20):  # more than the 7 runs that 4 MB can merge at once
        part = slice(i * 1000, (i + 1) * 1000)
        write_segment(tmp_path / f"{i}.seg", codes[part], np.arange(20_000)[part], SCHEME, 64)
    runs = [Segment.open(tmp_path / f"{i}.seg") for i in range(20)]
    merge_segments(runs, tmp_path / "all.seg", memory="4MB")
    segment = Segment.open(tmp_path / "all.seg")
    segment.verify()
    order = np.argsort(codes, kind="stable")
    assert np.array_equal(segment.codes[:, 0], codes[order])
    assert np.array_equal(segment.rows, order)
    write_segment(tmp_path / "x.seg", codes, np.arange(20_000), "other/v1", 64)
    with pytest.raises(SchemeError):
        merge_segments([runs[0], Segment.open(tmp_path / "x.seg")], tmp_path / "y.seg")


def test_memory_is_read_from_text() -> None:
    assert memory_bytes("1GB") == memory_bytes(10**9) == memory_bytes("1000 mb") == 10**9
    assert memory_bytes("1.5GiB") == 3 * 2**29
    for bad in ("much", "1XB", "-1GB", "10", ""):
        with pytest.raises(ConfigError):
            memory_bytes(bad)


@given(
    values=st.lists(st.integers(0, 2**128 - 1) | st.integers(0, 9), max_size=60),
    asked=st.lists(st.integers(0, 2**128 - 1) | st.integers(0, 9), max_size=20),
    bits=st.sampled_from([64, 128]),
    after=st.booleans(),
)
def test_both_lookups_find_the_same_bound(
    values: list[int], asked: list[int], bits: int, after: bool
) -> None:
    mask = 2**bits - 1
    stored, wanted = sorted(value & mask for value in values), [value & mask for value in asked]
    expected = [sum(code < value or (after and code == value) for code in stored) for value in wanted]
    for seek in (_core.Seek.binary, _core.Seek.interpolation):
        got, _ = _core.bounds(from_ints(stored, bits), from_ints(wanted, bits), after, seek)
        assert got.tolist() == expected


def test_interpolation_looks_at_fewer_codes() -> None:
    """SL 8.3 saw 26 steps fall to 11 on real codes; uniform ones need about log log n."""
    rng = np.random.default_rng(1)
    codes = np.sort(rng.integers(0, 2**64, 1 << 20, dtype=np.uint64))[:, None]
    values = rng.integers(0, 2**64, (1000, 1), dtype=np.uint64)
    binary, probes = _core.bounds(codes, values, seek=_core.Seek.binary)
    guessed, fewer = _core.bounds(codes, values, seek=_core.Seek.interpolation)
    assert np.array_equal(binary, guessed)
    assert np.array_equal(binary, np.searchsorted(codes[:, 0], values[:, 0]))
    assert probes >= 20_000 > 2 * fewer


def test_bindings_refuse_what_does_not_fit() -> None:
    codes, rows = np.zeros((3, 1), np.uint64), np.zeros(3, np.int64)
    ends = np.full(3, 4, np.int64)
    for call in (
        lambda: _core.sort_codes(codes, rows[:2]),
        lambda: _core.sort_codes(np.zeros((3, 3), np.uint64), rows),
        lambda: _core.bounds(codes, np.zeros((3, 2), np.uint64)),
        lambda: _core.search_prefix(codes, codes, rows, ends, 64, 3, 3),
        lambda: _core.search_prefix(codes, codes, rows, rows, 48, 3, 3),
        lambda: _core.search_prefix(codes, codes, rows, rows, 64, 65, 3),
        lambda: _core.block_checksums(np.zeros(8, np.uint8), 4, 0, np.array([2])),
        lambda: _core.block_checksums(np.zeros(8, np.uint8), 0, 0, np.array([0])),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        _core.sort_codes(codes.astype(np.int64), rows)
