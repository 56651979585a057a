"""Codes in files: a folder of sorted segments, searched in batches under a memory limit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from neardup.search.codes import to_codes
from neardup.search.disk.batch import BatchBPHS, search_then_append
from neardup.search.disk.compressed import CompressedSegment, compress_segment
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.disk.segment_writer import SegmentWriter
from neardup.search.disk.segments import Segment

SCHEME = "example64"


def main() -> None:
    rng = np.random.default_rng(7)
    words = rng.integers(0, 2**64, 500_000, dtype=np.uint64)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Codes come in batches of any order and size; sorted runs are merged under the limit.
        with SegmentWriter(folder / "00000001.seg", SCHEME, 64, memory="4MB") as writer:
            for start in range(0, len(words), 100_000):
                writer.add(words[start : start + 100_000], np.arange(start, start + 100_000))
        with Segment.open(folder / "00000001.seg") as segment:
            segment.verify()
            compress_segment(segment, folder / "small.segz", rows=False)
            plain = segment.nbytes / len(segment)
        with CompressedSegment.open(folder / "small.segz") as small:
            print(
                f"segment: {plain:.1f} bytes a code with rows; compressed, codes alone: {small.nbytes / len(small):.1f}"
            )
        (folder / "small.segz").unlink()

        method = BatchBPHS(radius=3, memory="64MB")
        for day in range(2):  # the second batch is compared with the first
            near = words[:1000] ^ np.uint64(1 << day)
            batch = to_codes(near, 64, SCHEME)
            rows = np.arange(1_000_000 * (day + 1), 1_000_000 * (day + 1) + len(batch))
            with SegmentSet(folder) as stored:
                hits = sum(map(len, search_then_append(method, batch, rows, stored)))
                print(f"batch {day + 1}: {hits} hits; {len(stored):,} codes in {len(stored.segments)} files")


if __name__ == "__main__":
    main()
