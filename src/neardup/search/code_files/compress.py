"""Codes of any file as a compressed segment."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass

from neardup.search.code_files.columns import CodeFile
from neardup.search.disk.compressed import CompressedSegment, compress_segment
from neardup.search.disk.segment_set import open_segment
from neardup.search.disk.segment_writer import SegmentWriter
from neardup.values.checks import checked

__all__ = ["Compressed", "compress_codes"]


@dataclass(frozen=True)
class Compressed:
    """What became of `count` codes: `bits_per_code` in the blocks, directory and rows not counted."""

    count: int
    bits_per_code: float


@checked
def compress_codes(
    file: CodeFile,
    path: str | os.PathLike[str],
    *,
    block: int = 1024,
    rows: bool = True,
    memory: int | str = "1GB",
    threads: int = 1,
) -> Compressed:
    """Write the codes of a file, of any format, as a compressed segment, with or without their rows. Codes that are not
    sorted yet are sorted under the `memory` limit, in a hidden folder beside the output."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{os.path.basename(path)}.") as hidden:
        source = file.path
        if file.format not in ("segment", "compressed"):
            source = os.path.join(hidden, "sorted.seg")
            scheme = file.scheme or f"bare{file.bits}"
            with SegmentWriter(source, scheme, file.bits, memory=memory, threads=threads) as writer:
                for part in file.chunks():
                    there = ~part.empty
                    writer.add(part.codes[there], part.rows[there])
        with open_segment(source) as segment:
            compress_segment(segment, path, block=block, rows=rows)
    with CompressedSegment.open(path) as made:
        return Compressed(len(made), made.bits_per_code)
