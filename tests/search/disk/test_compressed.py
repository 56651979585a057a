"""Compressed segments: the documented format bit for bit, the paper's size, searchable, safe when damaged."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.disk import (
    damaged_bytes,
    huffman_cost,
    near,
    read_column_file,
    some_codes,
    sorted_pairs,
    to_ints,
    unpack_compressed,
)
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, FormatError, SchemeError
from neardup.search.codes import to_codes
from neardup.search.disk.compressed import CompressedSegment, compress_segment, write_compressed
from neardup.search.disk.segments import Segment, write_segment

SCHEME = "test/v1"
widths = st.sampled_from([32, 64, 128])
kinds = st.sampled_from(["uniform", "clustered", "few"])
in_folder = settings(
    max_examples=budget(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@in_folder
@given(
    seed=st.integers(0, 999),
    count=st.integers(0, 400),
    bits=widths,
    kind=kinds,
    block=st.sampled_from([64, 128, 1024]),
    with_rows=st.booleans(),
)
def test_what_is_written_comes_back_in_order(
    tmp_path: Path, seed: int, count: int, bits: int, kind: str, block: int, with_rows: bool
) -> None:
    codes = some_codes(seed, count, bits, kind)
    rows = np.random.default_rng(seed).permutation(count).astype(np.int64) * 5
    path = tmp_path / "a.segz"
    write_compressed(path, codes, rows if with_rows else None, SCHEME, bits, block=block)
    expected = sorted(to_ints(codes))
    numbers = [row for _, row in sorted_pairs(codes, rows)] if with_rows else list(range(count))
    with CompressedSegment.open(path) as segment:
        segment.verify()
        assert (len(segment), segment.bits, segment.scheme) == (count, bits, SCHEME)
        for size in (1, 13, 1000):
            parts = list(segment.chunks(size, threads=2))
            assert [code for part in parts for code in to_ints(part.codes)] == expected
            assert [row for part in parts for row in part.rows.tolist()] == numbers
    raw = read_column_file(path)
    assert (raw.magic, raw.flags, raw.parameter) == (b"\x89NDcmp\r\n", int(with_rows), block)
    assert unpack_compressed(raw) == expected
    assert os.listdir(tmp_path) == ["a.segz"]


@in_folder
@given(
    seed=st.integers(0, 99),
    bits=widths,
    kind=kinds,
    prefix=st.integers(0, 32),
    radius=st.integers(0, 8),
    block=st.sampled_from([64, 1024]),
)
def test_prefix_search_equals_brute_force(
    tmp_path: Path, seed: int, bits: int, kind: str, prefix: int, radius: int, block: int
) -> None:
    codes = some_codes(seed, 200, bits, kind)
    rows = np.arange(200)[::-1].copy()
    queries = np.concatenate([codes[:20], some_codes(seed, 20, bits, kind)])
    write_compressed(tmp_path / "a.segz", codes, rows, SCHEME, bits, block=block)
    segment, asked = CompressedSegment.open(tmp_path / "a.segz"), to_codes(queries, bits, SCHEME)
    stored = sorted_pairs(codes, rows)
    for threads in (1, 2):
        hits = segment.search(asked, radius, prefix, threads=threads)
        got = list(zip(hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), strict=True))
        assert got == near(stored, to_ints(queries), bits, prefix, radius)
    matches = segment.matching(asked, prefix)
    assert list(zip(matches.query.tolist(), matches.place.tolist(), to_ints(matches.codes), strict=True)) == [
        (q, place, code)
        for q, query in enumerate(to_ints(queries))
        for place, (code, _) in enumerate(stored)
        if code >> (bits - prefix) == query >> (bits - prefix)
    ]


@pytest.mark.parametrize(("log_count", "share"), [(20, 0.744), (18, 0.775), (16, 0.807)])
def test_size_is_the_papers(tmp_path: Path, log_count: int, share: float) -> None:
    """MK 3.2: f - d + 3.63 bits a code on uniform codes, padding included; entropy bound f - d + 1.44."""
    count = 1 << log_count
    codes = np.random.default_rng(7).integers(0, 2**64, count, dtype=np.uint64)
    write_compressed(tmp_path / "a.segz", codes, None, SCHEME, 64)
    segment = CompressedSegment.open(tmp_path / "a.segz")
    assert segment.bits_per_code / 64 == pytest.approx(share, abs=0.003)
    assert segment.bits_per_code == pytest.approx(64 - log_count + 3.63, abs=0.15)
    # Beside the blocks: a key, a start and a checksum for each, and less than two pages.
    blocks = segment.bits_per_code * count / 8 / 1024
    assert segment.nbytes == pytest.approx(blocks * (1024 + 24) + 4096, abs=4096)


def test_long_codes_save_less(tmp_path: Path) -> None:
    """A block of 1,024 bytes holds 70 codes of 128 bits, so padding and whole first codes weigh more."""
    codes = np.random.default_rng(7).integers(0, 2**64, (1 << 16, 2), dtype=np.uint64)
    write_compressed(tmp_path / "a.segz", codes, None, SCHEME, 128)
    large = tmp_path / "b.segz"
    write_compressed(large, codes, None, SCHEME, 128, block=16384)
    small = CompressedSegment.open(tmp_path / "a.segz").bits_per_code
    assert 128 - 16 + 3.25 < CompressedSegment.open(large).bits_per_code < small - 0.5 < 128 - 16 + 4.5


def test_equal_codes_cost_a_bit(tmp_path: Path) -> None:
    """Erratum E21: the paper has no symbol for equal codes. With one, 100,000 empty pages take 12.6 KB."""
    write_compressed(tmp_path / "a.segz", np.zeros(100_000, np.uint64), None, SCHEME, 64)
    segment = CompressedSegment.open(tmp_path / "a.segz")
    assert segment.bits_per_code < 1.1
    hits = segment.search(to_codes(np.array([0, 1, 1 << 63], np.uint64), 64, SCHEME), 1, 8)
    assert np.bincount(hits.query, minlength=3).tolist() == [100_000, 100_000, 0]


def test_compressing_a_segment_streams_it(tmp_path: Path) -> None:
    codes = np.random.default_rng(2).integers(0, 2**64, 70_000, dtype=np.uint64)
    rows = np.random.default_rng(3).permutation(70_000).astype(np.int64)
    write_segment(tmp_path / "a.seg", codes, rows, SCHEME, 64)
    with Segment.open(tmp_path / "a.seg") as segment:
        compress_segment(segment, tmp_path / "a.segz")
    write_compressed(tmp_path / "b.segz", codes, rows, SCHEME, 64)
    assert (tmp_path / "a.segz").read_bytes() == (tmp_path / "b.segz").read_bytes()


def test_a_search_unpacks_few_blocks(tmp_path: Path) -> None:
    codes = np.random.default_rng(2).integers(0, 2**64, 100_000, dtype=np.uint64)
    write_compressed(tmp_path / "a.segz", codes, None, SCHEME, 64)
    blocks = CompressedSegment.open(tmp_path / "a.segz")._blocks
    for seek in (_core.Seek.binary, _core.Seek.interpolation):
        *_, decoded, damaged = blocks.search(codes[:1, None], 20, 3, seek)
        assert (decoded <= 2, damaged) == (True, -1)


def answers(path: Path, queries: np.ndarray, bits: int) -> tuple:
    with CompressedSegment.open(path) as segment:
        hits = segment.search(to_codes(queries, bits, SCHEME), 3, 12)
        read = [(to_ints(chunk.codes), chunk.rows.tolist()) for chunk in segment.chunks(900)]
        return read, hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), segment.scheme


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_a_damaged_file_is_refused_or_answers_right(tmp_path: Path, bits: int) -> None:
    codes, path = some_codes(3, 1000, bits, "clustered"), tmp_path / "a.segz"
    write_compressed(path, codes, np.arange(1000), SCHEME, bits, block=128)
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


def compressed_blocks(changes: dict[str, object], bits: int = 64) -> _core.CompressedBlocks:
    """A native reader whose columns pass their checksums whatever they say."""
    codes = np.sort(np.random.default_rng(1).integers(0, 2**64, 500, dtype=np.uint64))[:, None]
    lengths = _core.huffman_lengths(_core.leading_counts(codes, bits))
    encoder = _core.BlockEncoder(bits, 64, lengths)
    full, last = encoder.add(codes), encoder.finish()
    blocks, keys, starts = (np.concatenate([a, b]) for a, b in zip(full, last, strict=True))
    columns = {"lengths": lengths, "blocks": blocks, "keys": keys, "starts": starts, "count": 500} | changes
    sums = _core.block_checksums(columns["blocks"], 64, 0, np.arange(len(columns["starts"])))
    return _core.CompressedBlocks(
        bits,
        64,
        columns["count"],
        columns["lengths"],
        columns["blocks"],
        columns["keys"],
        columns["starts"],
        sums,
        0,
    )


def test_nonsense_under_right_checksums_is_damage_too() -> None:
    """Files are not trusted because their checksums fit: every number is bounded before it is used."""
    rng = np.random.default_rng(0)
    codes, damaged = compressed_blocks({}).decode(0, 50)
    assert damaged == -1
    assert _core.is_ascending(codes)
    query = np.array([[1 << 40]], np.uint64)
    for trial in range(300):
        blocks = rng.integers(0, 256, 64 * 90, dtype=np.uint8)
        starts = np.sort(rng.integers(0, 600 if trial % 2 else 2**40, 90, dtype=np.uint64))
        keys = np.sort(rng.integers(0, 2**64, 90, dtype=np.uint64))[:, None]
        hostile = compressed_blocks({"blocks": blocks, "starts": starts, "keys": keys})
        assert hostile.decode(0, 90)[1] >= 0
        assert hostile.search(query, 0, 64, threads=2)[-1] >= 0


def test_arguments_are_checked(tmp_path: Path) -> None:
    codes = np.arange(10, dtype=np.uint64)
    for block in (0, 60, 100, 1 << 20):
        with pytest.raises(ConfigError):
            write_compressed(tmp_path / "a.segz", codes, None, SCHEME, 64, block=block)
    write_compressed(tmp_path / "a.segz", codes, None, SCHEME, 64)
    segment = CompressedSegment.open(tmp_path / "a.segz")
    with pytest.raises(SchemeError):
        segment.search(to_codes(codes, 64, "other/v1"), 3, 16)
    with pytest.raises(ConfigError):
        segment.search(to_codes(codes, 64, SCHEME), 65, 16)
    with pytest.raises(ConfigError):
        segment.matching(to_codes(codes, 64, SCHEME), 65)
    with pytest.raises(FormatError):
        Segment.open(tmp_path / "a.segz")
    lengths = np.zeros(65, np.uint8)
    lengths[:3] = 1  # three words of one bit
    for call in (
        lambda: _core.BlockEncoder(64, 1024, lengths),
        lambda: _core.huffman_words(lengths),
        lambda: _core.BlockEncoder(48, 1024, lengths),
        lambda: _core.BlockEncoder(64, 1000, np.zeros(65, np.uint8)).add(np.array([[1], [2]], np.uint64)),
        lambda: _core.BlockEncoder(64, 1024, np.zeros(65, np.uint8)).add(np.array([[1], [2]], np.uint64)),
        lambda: _core.leading_counts(np.array([[2], [1]], np.uint64), 64),
        lambda: compressed_blocks({"starts": np.zeros(3, np.uint64)}),
        lambda: compressed_blocks({"lengths": np.full(65, 13, np.uint8)}),
        lambda: compressed_blocks({}).decode(0, 10_000),
    ):
        with pytest.raises(ValueError):
            call()


@given(counts=st.lists(st.integers(0, 5000) | st.integers(0, 3), min_size=1, max_size=129))
def test_huffman_lengths_are_the_best_there_are(counts: list[int]) -> None:
    lengths = _core.huffman_lengths(np.array(counts, np.uint64))
    used = [length for length, count in zip(lengths.tolist(), counts, strict=True) if count]
    assert all((length == 0) == (count == 0) for length, count in zip(lengths.tolist(), counts, strict=True))
    assert all(length <= 12 for length in used)
    if len(used) > 1:
        assert sum(2.0**-length for length in used) == 1
    cost = sum(count * length for count, length in zip(counts, lengths.tolist(), strict=True))
    best, longest = huffman_cost(counts)
    if longest <= 12:
        assert cost == best
    else:
        assert cost > best
    words = _core.huffman_words(lengths)
    texts = [format(word, f"0{n}b") for word, n in zip(words.tolist(), lengths.tolist(), strict=True) if n]
    assert not any(a != b and b.startswith(a) for a in texts for b in texts)
    assert len(set(texts)) == len(texts)


def test_the_bound_on_lengths_holds_for_skewed_counts() -> None:
    fibonacci = [1, 1]
    while len(fibonacci) < 60:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    lengths = _core.huffman_lengths(np.array(fibonacci, np.uint64))
    assert lengths.max() == 12
    assert sum(2.0 ** -int(length) for length in lengths) == 1
