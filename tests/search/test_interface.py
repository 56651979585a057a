"""What every search asks of its arguments: known modes, sound numbers of threads, codes and not something else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import neardup as nd
from neardup.compare import similarity
from neardup.errors import ConfigError, DataError
from neardup.fingerprints import MinHash
from neardup.search.codes import to_codes
from neardup.search.collapse import collapse
from neardup.search.disk.batch import BatchBPHS, BatchPSM
from neardup.search.disk.compressed import CompressedSegment, compress_segment
from neardup.search.disk.digests import DigestFile, write_digests
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.disk.segment_writer import SegmentWriter, merge_segments
from neardup.search.disk.segments import Segment, write_segment
from neardup.search.hamming.adjacent import Adjacent
from neardup.search.hamming.join import Join
from neardup.search.hamming.live import LiveSearcher
from neardup.search.hamming.scan import Scan, count_distances
from neardup.search.hamming.tables import BPHS, Compact, Covering
from neardup.search.psm.flips import HeapFlips, TemplateFlips
from neardup.search.psm.psm import PSM

TEXTS = [f"the ferry leaves pier {i} at nine and returns to the harbour at noon" for i in range(20)]
FEATURES = nd.Words().extract(TEXTS)
CODES = nd.Simhash(64).compute(FEATURES)
SKETCHES = MinHash(64).compute(FEATURES)
DIGESTS = nd.fingerprints.digest(TEXTS)
PAIR = ([0], [1])


@pytest.fixture
def live() -> LiveSearcher:
    searcher = LiveSearcher()
    searcher.add(CODES)
    return searcher


@pytest.fixture
def stored(tmp_path):
    (tmp_path / "codes").mkdir()
    with SegmentSet(tmp_path / "codes") as folder:
        folder.append(CODES, np.arange(len(CODES)))
        yield folder


@pytest.mark.parametrize("mode", ["nearest", "", None, 0])
def test_a_mode_that_is_none(mode, live, stored):
    methods = [Scan(), BPHS(), Covering(), Compact(), PSM(flips=3)]
    asks: list[Callable[[], object]] = [
        *(lambda method=method: method.index(CODES).search(CODES, mode=mode) for method in methods),
        lambda: live.search(CODES, mode=mode),
        lambda: BatchBPHS().search(CODES, stored, mode=mode),
        lambda: BatchPSM().search(CODES, stored, mode=mode),
        lambda: PSM().calibrate(CODES, mode=mode),
    ]
    for ask in asks:
        with pytest.raises(ConfigError, match=r"mode must be 'all'.* 'first'"):
            ask()


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None, 2**40])
def test_threads_that_are_none(threads, live, stored, tmp_path):
    methods = [Scan(), BPHS(), Covering(), Compact(), PSM(flips=3)]
    words, rows = CODES.codes, np.arange(len(CODES))
    segment = Segment.open(stored.segments[0].path)
    compress_segment(stored.segments[0], tmp_path / "a.segz")
    packed = CompressedSegment.open(tmp_path / "a.segz")
    write_digests(tmp_path / "digests", DIGESTS)
    one = {"threads": threads}
    asks: list[Callable[[], object]] = [
        *(lambda method=method: method.index(CODES, **one) for method in methods),
        *(lambda method=method: method.index(CODES).search(CODES, **one) for method in methods),
        *(lambda method=method: method.candidates(CODES, **one) for method in (*methods, Join(), Adjacent())),
        lambda: Compact().index(CODES).search_groups(CODES, **one),
        lambda: PSM().calibrate(CODES, **one),
        lambda: Join().within(CODES, **one),
        lambda: Join().between(CODES, CODES, **one),
        lambda: Join().labels(CODES, **one),
        lambda: collapse(CODES, **one),
        lambda: count_distances(CODES, CODES, **one),
        lambda: live.add(CODES, **one),
        lambda: live.search(CODES, **one),
        lambda: live.compact(**one),
        lambda: BatchBPHS().search(CODES, stored, **one),
        lambda: BatchPSM().search(CODES, stored, **one),
        lambda: HeapFlips()(CODES, 8, 4, 3, **one),
        lambda: TemplateFlips()(CODES, 8, 4, 3, **one),
        lambda: stored.append(CODES, rows, **one),
        lambda: list(stored.chunks(9, **one)),
        *(lambda file=file: file.read(0, 5, **one) for file in (segment, packed)),
        *(lambda file=file: list(file.chunks(5, **one)) for file in (segment, packed)),
        *(lambda file=file: file.search(CODES, 3, 8, **one) for file in (segment, packed)),
        *(lambda file=file: file.verify(**one) for file in (segment, packed)),
        lambda: packed.matching(CODES, 8, **one),
        lambda: write_segment(tmp_path / "b.seg", words, rows, "test", 64, **one),
        lambda: merge_segments([segment], tmp_path / "c.seg", **one),
        lambda: SegmentWriter(tmp_path / "d.seg", "test", 64, **one),
        lambda: DigestFile(tmp_path / "digests").lookup(DIGESTS, **one),
        *(
            lambda measure=measure: measure(FEATURES, *PAIR, **one)
            for measure in (
                similarity.jaccard,
                similarity.containment,
                similarity.cosine,
                similarity.angle,
                similarity.euclidean,
            )
        ),
        lambda: similarity.hamming(CODES, *PAIR, **one),
        lambda: similarity.sketch_similarity(SKETCHES, *PAIR, **one),
        lambda: similarity.sketch_similarity(SKETCHES.pack(8), *PAIR, **one),
        lambda: similarity.bit_similarity(SKETCHES.code(64), *PAIR, **one),
    ]
    for ask in asks:
        with pytest.raises(ConfigError, match=r"threads.* whole number"):
            ask()
    assert not list(tmp_path.glob("*.seg"))


def test_edit_distances_check_threads_too():
    pytest.importorskip("rapidfuzz")
    for measure in (similarity.edit_distance, similarity.edit_similarity):
        with pytest.raises(ConfigError, match=r"threads=.* whole number"):
            measure(["a"], ["b"], threads=-1)


@pytest.mark.parametrize("other", [FEATURES, SKETCHES, np.arange(3, dtype=np.uint64), [1, 2], None])
def test_only_codes_are_searched(other, live, stored):
    methods = [Scan(), BPHS(), Covering(), Compact(), PSM(flips=3)]
    asks: list[Callable[[], object]] = [
        *(lambda method=method: method.index(other) for method in methods),
        *(lambda method=method: method.index(CODES).search(other) for method in methods),
        *(lambda method=method: method.candidates(other) for method in (Join(), Adjacent())),
        lambda: Join().between(CODES, other),
        lambda: live.add(other),
        lambda: live.search(other),
        lambda: collapse(other),
        lambda: BatchBPHS().search(other, stored),
        lambda: stored.segments[0].search(other, 3, 8),
    ]
    for ask in asks:
        with pytest.raises(ConfigError, match=r"must be Codes, not .*to_codes makes"):
            ask()


def test_a_similarity_names_what_it_expected():
    for measure in (similarity.jaccard, similarity.cosine, similarity.containment, similarity.euclidean):
        with pytest.raises(ConfigError, match="features must be Features, not Codes"):
            measure(CODES, *PAIR)
        with pytest.raises(ConfigError, match=r"other must be .*Features.*, not Codes"):
            measure(FEATURES, *PAIR, other=CODES)
    for measure in (similarity.hamming, similarity.bit_similarity):
        with pytest.raises(ConfigError, match="codes must be Codes, not Sketches"):
            measure(SKETCHES, *PAIR)
    with pytest.raises(ConfigError, match=r"other must be .*Codes.*, not Features"):
        similarity.hamming(CODES, *PAIR, other=FEATURES)
    with pytest.raises(ConfigError, match=r"sketches must be .*Sketches.*, not Codes"):
        similarity.sketch_similarity(CODES, *PAIR)


def test_bare_numbers_become_codes():
    for numbers in ([1, 2], (1, 2), np.array([1, 2], np.int32), np.array([1, 2], object), [[1], [2]]):
        codes = to_codes(numbers)
        assert codes.codes.tolist() == [[1], [2]] and codes.codes.dtype == np.uint64
    big = [2**64 - 1, 1, 2**127 + 5]
    assert to_codes(big, 128).codes.tolist() == [[2**64 - 1, 0], [1, 0], [5, 2**63]]
    assert to_codes([2**64 - 1, 0]).codes.tolist() == [[2**64 - 1], [0]]
    assert to_codes([[5, 2**63]], 128).codes.tolist() == [[5, 2**63]]
    assert to_codes(np.arange(2, dtype=np.uint64), 128).codes.tolist() == [[0, 0], [1, 0]]
    assert to_codes([]).codes.shape == (0, 1) and to_codes([], 128).codes.shape == (0, 2)
    words = np.arange(4, dtype=np.uint64)[:, None]
    assert np.shares_memory(to_codes(words).codes, words)
    for wrong in ([-1], [0.5], ["a"], [True], [None], [2**64], [2**64, -1], 7, [[1, 2]], [[[1]]]):
        with pytest.raises(DataError):
            to_codes(wrong)


def test_a_width_is_taken_from_the_codes_or_named_in_the_error():
    wide = to_codes([0, 1, 2**127, 2**100 + 1], 128)
    for method in (Scan(1), Scan(1, bits=128), Join(1), Join(1, bits=128), Adjacent(1)):
        pairs = method.candidates(wide)
        assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 3)]
    for made in (Scan(1, bits=64), Join(1, bits=64), Adjacent(1, bits=64), Compact(1), BPHS(1), Covering(1)):
        with pytest.raises(DataError, match=r"codes of 64 bits, and these have 128.* bits=128"):
            made.candidates(wide)
    narrow = to_codes([0, 1], 32)
    for made in (Scan(40), Join(40), Adjacent(40)):
        with pytest.raises(ConfigError, match="0 to 32"):
            made.candidates(narrow)
