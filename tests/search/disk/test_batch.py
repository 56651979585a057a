"""Batches on disk: the same answers as brute force, for every chunk size, thread count and file kind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from papers.bits import bit_count
from reference.disk import likeliest_flips, near, psm, some_codes, sorted_pairs, to_ints

from neardup import _core
from neardup.errors import ConfigError, DataError, FormatError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.search.disk.batch import BatchBPHS, BatchPSM, search_then_append
from neardup.search.disk.compressed import compress_segment, write_compressed
from neardup.search.disk.segment_set import SegmentSet, open_segment
from neardup.search.disk.segments import Segment, write_segment
from neardup.search.hamming.designs import manku
from neardup.search.interface import Hits
from neardup.search.psm.flips import HeapFlips, TemplateFlips

SCHEME = "test/v1"
KINDS = ("uniform", "clustered", "few")


def flat(pieces: Iterable[Hits]) -> list[tuple[int, int, int]]:
    found = []
    for hits in pieces:
        piece = list(zip(hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), strict=True))
        assert piece == sorted(piece)
        found += piece
    assert len(found) == len(set(found))
    return sorted(found)


def firsts(found: list[tuple[int, int, int]], order: list[int]) -> list[tuple[int, int, int]]:
    """Of each query's hits the one whose row comes first in the order of the stored rows."""
    place = {row: i for i, row in enumerate(order)}
    best: dict[int, tuple[int, int, int]] = {}
    for hit in sorted(found, key=lambda hit: place[hit[1]]):
        best.setdefault(hit[0], hit)
    return sorted(best.values())


def stored_set(folder: Path, codes: np.ndarray, bits: int) -> tuple[SegmentSet, list[int]]:
    """Three files, the middle one compressed, and the rows in the order of the set."""
    folder.mkdir(exist_ok=True)
    cuts, order = (0, len(codes) // 3, len(codes) // 2, len(codes)), []
    for i in range(3):
        part = slice(cuts[i], cuts[i + 1])
        rows = np.arange(len(codes))[part] * 2 + 1
        if i == 1:
            write_compressed(folder / "1.segz", codes[part], rows, SCHEME, bits)
        else:
            write_segment(folder / f"{i}.seg", codes[part], rows, SCHEME, bits)
        order += [row for _, row in sorted_pairs(codes[part], rows)]
    return SegmentSet(folder), order


def batch_of(codes: np.ndarray, bits: int, seed: int) -> Codes:
    """Queries near stored codes and far ones, some equal, one empty, with margins."""
    rng = np.random.default_rng(seed)
    words = np.concatenate([codes[:25], codes[:25], some_codes(seed + 1, 10, bits, "uniform"), codes[:5]])
    words[5:40, 0] ^= np.uint64(1) << rng.integers(0, min(bits, 64), 35, dtype=np.uint64)
    words[10:30, -1] ^= np.uint64(1) << rng.integers(0, min(bits, 64), 20, dtype=np.uint64)
    empty = np.zeros(len(words), bool)
    empty[7] = True
    words[7] = 0
    margins = rng.normal(size=(len(words), bits)).astype(np.float32)
    return Codes(SCHEME, empty, bits, words, margins)


def without_empty(queries: Codes, found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    return [hit for hit in found if not queries.empty[hit[0]]]


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [0, 3, 8])
def test_bphs_equals_brute_force(tmp_path: Path, bits: int, kind: str, radius: int) -> None:
    codes = some_codes(radius, 300, bits, kind)
    stored, order = stored_set(tmp_path / "set", codes, bits)
    queries = batch_of(codes, bits, radius)
    pairs = sorted_pairs(codes, np.arange(300) * 2 + 1)
    expected = without_empty(queries, near(pairs, to_ints(queries.codes), bits, 0, radius))
    for chunk in (1, 17, 64, None):
        method = BatchBPHS(bits, radius, chunk=chunk, memory="16MB")
        assert flat(method.search(queries, stored, threads=2)) == expected
        assert flat(method.search(queries, stored, mode="first")) == firsts(expected, order)


@pytest.mark.parametrize("tables", [4, 10, 16, 20])
def test_bphs_with_the_papers_tables(tmp_path: Path, tables: int) -> None:
    codes = some_codes(tables, 400, 64, "clustered")
    stored, _ = stored_set(tmp_path / "set", codes, 64)
    queries = batch_of(codes, 64, tables)
    pairs = sorted_pairs(codes, np.arange(400) * 2 + 1)
    expected = without_empty(queries, near(pairs, to_ints(queries.codes), 64, 0, 3))
    assert flat(BatchBPHS(design=manku(tables), chunk=50).search(queries, stored)) == expected


class Likeliest:
    """The naive flips, counting how often they are asked for."""

    calls = 0

    def __call__(self, queries: Codes, header: int, probes: int, radius: int, threads: int = 1) -> np.ndarray:
        self.calls += 1
        assert queries.margins is not None
        margins = queries.margins[~queries.empty]
        return likeliest_flips(margins, queries.bits, header, probes, radius)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("probes", [0, 5])
def test_psm_equals_its_definition(tmp_path: Path, bits: int, kind: str, probes: int) -> None:
    codes, header, radius = some_codes(probes, 300, bits, kind), 6, 3
    stored, order = stored_set(tmp_path / "set", codes, bits)
    queries = batch_of(codes, bits, probes)
    pairs = sorted_pairs(codes, np.arange(300) * 2 + 1)
    flips = likeliest_flips(queries.margins, bits, header, probes, radius)
    expected = without_empty(queries, psm(pairs, to_ints(queries.codes), flips, bits, header, radius))
    for chunk in (1, 17, 64, None):
        order_of = Likeliest()
        method = BatchPSM(bits, radius, probes, header, order_of, chunk=chunk)
        assert flat(method.search(queries, stored, threads=2)) == expected
        assert order_of.calls == 1
        assert flat(method.search(queries, stored, mode="first")) == firsts(expected, order)


def test_psm_with_all_flips_is_exact(tmp_path: Path) -> None:
    codes = some_codes(9, 300, 64, "clustered")
    stored, order = stored_set(tmp_path / "set", codes, 64)
    queries = batch_of(codes, 64, 9)
    pairs = sorted_pairs(codes, np.arange(300) * 2 + 1)
    expected = without_empty(queries, near(pairs, to_ints(queries.codes), 64, 0, 3))
    every = BatchPSM(flips=Likeliest(), probes=7 + 21 + 35, header=7, chunk=40)
    assert flat(every.search(queries, stored)) == expected
    assert flat(every.search(queries, stored, mode="first")) == firsts(expected, order)
    few = flat(BatchPSM(flips=Likeliest(), probes=2, header=7, chunk=40).search(queries, stored))
    assert 0 < len(few) < len(expected)
    assert set(few) <= set(expected)


def test_psm_first_stops_reading(tmp_path: Path) -> None:
    """Once each query has its hit nothing more is read, so damage further on is not found."""
    codes = np.sort(np.random.default_rng(0).integers(0, 2**64, 60_000, dtype=np.uint64))
    write_segment(tmp_path / "0.seg", codes, np.arange(60_000), SCHEME, 64)
    header = Segment.open(tmp_path / "0.seg")._file.header
    data = bytearray((tmp_path / "0.seg").read_bytes())
    data[header.columns[1].start + 8 * 50_000] ^= 1
    (tmp_path / "0.seg").write_bytes(data)
    stored = SegmentSet([tmp_path / "0.seg"])
    margins = np.ones((100, 64), np.float32)
    queries = Codes(SCHEME, np.zeros(100, bool), 64, codes[:100, None], margins)
    method = BatchPSM(probes=0, chunk=8192)
    assert len(flat(method.search(queries, stored, mode="first"))) == 100
    with pytest.raises(FormatError):
        list(method.search(queries, stored, mode="all"))


def test_equal_codes_stream_out_in_bounded_pieces(tmp_path: Path) -> None:
    """3,000 equal queries and 1,000 equal stored codes make 3 million hits, never all at once."""
    write_segment(tmp_path / "0.seg", np.zeros(1000, np.uint64), np.arange(1000), SCHEME, 64)
    stored = SegmentSet(tmp_path)
    total, largest = 0, 0
    for hits in BatchBPHS(memory="4MB").search(to_codes(np.ones(3000, np.uint64), 64, SCHEME), stored):
        assert (hits.distance == 1).all()
        total, largest = total + len(hits), max(largest, len(hits))
    assert total == 3_000_000
    assert largest * 80 < 4_000_000


def test_a_batch_is_appended_and_found_next_time(tmp_path: Path) -> None:
    codes = some_codes(1, 50, 64, "uniform")
    stored, method = SegmentSet(tmp_path), BatchBPHS()
    first = Codes(SCHEME, np.arange(50) == 3, 64, codes)
    assert flat(search_then_append(method, first, np.arange(50), stored)) == []
    assert (len(stored), [segment.path.name for segment in stored.segments]) == (49, ["00000001.seg"])
    again = to_codes(codes, 64, SCHEME)
    expected = [(i, i, 0) for i in range(50) if i != 3]
    assert flat(search_then_append(method, again, np.arange(50) + 50, stored)) == expected
    with SegmentSet(tmp_path) as reopened:
        assert len(reopened) == 99
        last = reopened.segments[-1]
        assert np.array_equal(last.read(0, 50).codes[:, 0], np.sort(codes[:, 0]))
        both = [(i, i, 0) for i in range(50) if i != 3] + [(i, i + 50, 0) for i in range(50)]
        assert flat(method.search(again, reopened)) == sorted(both)
        assert flat(method.search(again, reopened, mode="first")) == [
            (i, i if i != 3 else 53, 0) for i in range(50)
        ]


def test_sets_and_settings_are_checked(tmp_path: Path) -> None:
    codes = some_codes(1, 50, 64, "uniform")
    write_segment(tmp_path / "0.seg", codes, np.arange(50), SCHEME, 64)
    stored = SegmentSet(tmp_path)
    other = to_codes(codes, 64, "other/v1")
    with pytest.raises(SchemeError):
        next(BatchBPHS().search(other, stored))
    with pytest.raises(SchemeError):
        stored.append(other, np.arange(50))
    with pytest.raises(DataError):
        stored.append(to_codes(codes, 64, SCHEME), np.arange(49))
    with pytest.raises(ConfigError):
        SegmentSet([tmp_path / "0.seg"]).append(to_codes(codes, 64, SCHEME), np.arange(50))
    with pytest.raises(ConfigError):
        SegmentSet(tmp_path / "nowhere")
    with pytest.raises(ConfigError):
        BatchBPHS(64, 4, manku(4))
    with pytest.raises(ConfigError):
        BatchPSM(header=31)
    many = to_codes(np.arange(300_000, dtype=np.uint64), 64, SCHEME)
    with pytest.raises(ConfigError, match="fewer queries"):
        list(BatchBPHS(memory="8MB").search(many, stored))
    with pytest.raises(FormatError):
        (tmp_path / "1.seg").write_bytes(b"not a segment" * 1000)
        SegmentSet(tmp_path)
    assert list(BatchBPHS().search(to_codes(codes[:0], 64, SCHEME), stored)) == []
    assert list(BatchBPHS().search(to_codes(codes, 64, SCHEME), SegmentSet([]))) == []


def test_a_compressed_set_answers_like_a_plain_one(tmp_path: Path) -> None:
    codes = np.random.default_rng(4).integers(0, 2**64, 20_000, dtype=np.uint64)
    write_segment(tmp_path / "a.seg", codes, np.arange(20_000), SCHEME, 64)
    compress_segment(open_segment(tmp_path / "a.seg"), tmp_path / "b.segz")
    queries = to_codes(codes[:500] ^ np.uint64(5), 64, SCHEME)
    plain, packed = (
        flat(BatchBPHS(chunk=3000).search(queries, SegmentSet([tmp_path / name])))
        for name in ("a.seg", "b.segz")
    )
    assert len(plain) == 500
    assert plain == packed


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("by_heap", [True, False])
def test_psm_on_disk_equals_psm_in_memory(tmp_path: Path, bits: int, by_heap: bool) -> None:
    codes, header, probes = some_codes(bits, 600, bits, "clustered"), 8, 20
    stored, _ = stored_set(tmp_path / "set", codes, bits)
    queries = batch_of(codes, bits, 3)
    flips = HeapFlips() if by_heap else TemplateFlips()
    method = BatchPSM(bits, 3, probes, header, flips, chunk=90)
    asked = np.flatnonzero(~queries.empty)
    words, costs = queries.codes[asked], queries.margins[asked]
    table = _core.PsmTable(codes, bits, 3, header)
    if by_heap:
        query, row, distance = table.search_heap(words, costs, probes)
    else:
        expected = np.sort(np.abs(costs[:, bits - header :]), axis=1).mean(axis=0, dtype=np.float64)
        query, row, distance = table.search_template(words, costs, expected.astype(np.float32), probes)
    online = list(zip(asked[query].tolist(), (2 * row + 1).tolist(), distance.tolist(), strict=True))
    assert flat(method.search(queries, stored)) == sorted(online)
    assert len(online) > 50


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_heap_flips_are_the_likeliest(bits: int) -> None:
    queries = batch_of(some_codes(1, 30, bits, "uniform"), bits, 2)
    for header, probes, radius in ((6, 10, 3), (6, 63, 6), (12, 50, 2), (1, 1, 1)):
        want = likeliest_flips(queries.margins[~queries.empty], bits, header, probes, radius)
        assert np.array_equal(HeapFlips()(queries, header, probes, radius, threads=2), want)
        same = TemplateFlips()(queries, header, probes, radius, threads=2)
        assert [len(set(row)) for row in same.tolist()] == [probes] * len(same)
        assert bit_count(same).max() <= radius
    assert (HeapFlips()(queries, 2, 5, 1)[:, 2:] == 0).all()
    assert TemplateFlips()(queries, 2, 5, 1).shape == (len(want), 2)


def test_flips_need_margins() -> None:
    queries = to_codes(some_codes(1, 5, 64, "uniform"))
    for flips in (HeapFlips(), TemplateFlips()):
        with pytest.raises(DataError, match="margins"):
            flips(queries, 8, 3, 3)
    margins = np.ones((5, 64), np.float32)
    queries = Codes("s", np.zeros(5, bool), 64, queries.codes, margins)
    with pytest.raises(ConfigError):
        TemplateFlips((1.0, 2.0))(queries, 8, 3, 3)
    with pytest.raises(ValueError):
        TemplateFlips((2.0, 1.0))(queries, 2, 3, 3)


MEMORY_TRIAL = """
import re, sys
import numpy as np
from neardup.search.codes import to_codes
from neardup.search.disk.batch import BatchBPHS
from neardup.search.disk.segment_writer import SegmentWriter
from neardup.search.disk.segment_set import SegmentSet

def peak():  # not ru_maxrss, which a child inherits
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

rng, path = np.random.default_rng(1), sys.argv[1] + "/a.seg"
list(BatchBPHS(memory="8MB").search(to_codes(np.zeros(9, np.uint64)), SegmentSet([])))
start = peak()
with SegmentWriter(path, "s", 64, memory="32MB") as writer:
    for i in range(0, 6_000_000, 100_000):
        writer.add(rng.integers(0, 2**64, 100_000, dtype=np.uint64), np.arange(i, i + 100_000))
written = peak()
queries = to_codes(rng.integers(0, 2**64, 50_000, dtype=np.uint64), 64, "s")
for hits in BatchBPHS(memory="32MB").search(queries, SegmentSet([path])):
    pass
print(written - start, peak() - start)
"""


@pytest.mark.slow
@pytest.mark.process
def test_memory_is_near_its_limit(tmp_path: Path) -> None:
    """96 MB of codes sorted and searched with 32 MB each, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY_TRIAL, tmp_path], capture_output=True, text=True, check=True
    )
    written, searched = map(int, run.stdout.split())
    assert 10_000_000 < written < 48_000_000
    assert searched < 48_000_000


def test_probes_are_calibrated_for_a_recall(tmp_path: Path) -> None:
    """At radius 5 and 8 any fixed number of probes misses many neighbours; with `recall` it is the user's choice."""
    rng = np.random.default_rng(5)
    margins = rng.laplace(size=(2500, 64)).astype(np.float32)
    near = margins + rng.laplace(scale=0.08, size=margins.shape).astype(np.float32)

    def codes_of(sizes: np.ndarray) -> Codes:
        words = np.packbits(sizes >= 0, axis=1, bitorder="little").view(np.uint64)
        return Codes("test", np.zeros(len(sizes), bool), 64, words, sizes)

    stored, asked = codes_of(margins), codes_of(near)
    write_segment(tmp_path / "0.seg", stored.codes, np.arange(len(margins)), bits=64, scheme="test")
    files = SegmentSet([tmp_path / "0.seg"])
    for radius in (3, 5, 8):
        exact = flat(BatchBPHS(radius=radius).search(asked, files))
        for recall in (0.8, 0.95, 0.99):
            found = flat(BatchPSM(radius=radius, recall=recall).search(asked, files))
            assert set(found) <= set(exact)
            assert len(found) >= recall * len(exact)
    alone = codes_of(rng.laplace(size=(100, 64)).astype(np.float32))
    assert flat(BatchPSM(radius=5).search(alone, files)) == flat(BatchBPHS(radius=5).search(alone, files))
    with pytest.raises(ConfigError, match="recall"):
        BatchPSM(recall=1.5)
