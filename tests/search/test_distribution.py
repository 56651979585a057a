"""The diagnostics of MK figure 2, against counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from reference.disk import some_codes, to_ints

from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search import distribution
from neardup.search.codes import to_codes
from neardup.search.disk.compressed import CompressedSegment, write_compressed
from neardup.search.disk.segments import Segment, write_segment
from neardup.search.distribution import code_distribution, entropy_bound, predicted_bits


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "few"])
def test_columns_equal_counting_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, kind: str
) -> None:
    monkeypatch.setattr(distribution, "_CHUNK", 37)  # codes that go on from chunk to chunk
    codes = some_codes(bits, 500, bits, kind)
    values = sorted(to_ints(codes))
    leading = [0] * (bits + 1)
    for a, b in pairwise(values):
        leading[(a ^ b).bit_length() - 1 if a != b else bits] += 1
    intervals = Counter(value * 128 >> bits for value in values)
    spikes = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))[:4]
    write_segment(tmp_path / "a.seg", codes, np.arange(500), "s", bits)
    for source in (Segment.open(tmp_path / "a.seg"), to_codes(codes, bits, "s")):
        got = code_distribution(source, spikes=4)
        assert (got.count, got.bits) == (500, bits)
        assert got.leading.tolist() == leading
        assert got.buckets.tolist() == [intervals[i] for i in range(128)]
        assert list(zip(to_ints(got.spike_codes), got.spike_rows.tolist(), strict=True)) == spikes


def test_uniform_codes_look_uniform(tmp_path: Path) -> None:
    count = 1 << 16
    codes = np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)
    got = code_distribution(to_codes(codes))
    expected = got.uniform_leading
    assert expected.sum() == pytest.approx(count - 1)
    assert np.abs(got.leading - expected).max() < 5 * np.sqrt(expected.max())
    assert got.entropy == pytest.approx(3.25, abs=0.01)
    assert np.abs(got.buckets - count / 128).max() < 6 * np.sqrt(count / 128)
    write_compressed(tmp_path / "a.segz", codes, None, "s", 64)
    packed = CompressedSegment.open(tmp_path / "a.segz").bits_per_code
    assert got.compressed_bits < packed < got.compressed_bits + 0.5


def test_clusters_show_at_the_low_places() -> None:
    got = code_distribution(to_codes(some_codes(1, 3000, 64, "clustered")))
    low, expected = got.leading[:30].sum(), got.uniform_leading[:30].sum()
    assert low > 100 > expected


def test_empty_documents_are_left_out() -> None:
    codes = Codes("s", np.array([True, False, True]), 64, np.zeros((3, 1), np.uint64))
    got = code_distribution(codes)
    assert (got.count, got.buckets[0], got.spike_rows.tolist()) == (1, 1, [1])
    none = code_distribution(to_codes(np.empty(0, np.uint64)), buckets=1)
    assert (none.count, none.entropy, len(none.spike_rows)) == (0, 0.0, 0)
    for bad in ({"buckets": 100}, {"buckets": 0}, {"spikes": -1}):
        with pytest.raises(ConfigError):
            code_distribution(codes, **bad)


@pytest.mark.parametrize(("bits", "log_count"), [(64, 20), (64, 16), (128, 16), (32, 18)])
def test_predicted_size_is_the_measured_one(tmp_path: Path, bits: int, log_count: int) -> None:
    words = (bits + 63) // 64
    high = 2 ** min(bits, 64)
    codes = np.random.default_rng(1).integers(0, high, (1 << log_count, words), dtype=np.uint64)
    write_compressed(tmp_path / "a.segz", codes, None, "s", bits)
    measured = CompressedSegment.open(tmp_path / "a.segz").bits_per_code
    assert predicted_bits(bits, 1 << log_count) == pytest.approx(measured, rel=0.005)


def test_eight_billion_codes() -> None:
    """Erratum E43: at least .507 of the size in any form, .54 in blocks of 1,024 bytes."""
    assert entropy_bound(64, 2**33) / 64 == pytest.approx(0.507, abs=5e-4)
    assert predicted_bits(64, 2**33) / 64 == pytest.approx(0.54, abs=0.003)
    assert predicted_bits(64, 2**20) / 64 == pytest.approx(0.744, abs=0.002)
