"""The column chunks that the footer of a Parquet file lists.

pyarrow gives them, too. But it ends the process if their statistics do not fit their type, or if they are encrypted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

from neardup.readers.thrift import BYTES, LIST, STRUCTURE, CompactReader

__all__ = ["ColumnChunk", "chunks_of", "footer_size"]

_I32, _I64 = 5, 6
_END = 8  # bytes behind the footer: its size, and a name
_TYPES = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"]
_CODECS = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4"]
_ENCODINGS = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """What is said of one column in one row group, under pyarrow's names."""

    path_in_schema: str
    physical_type: str
    compression: str
    encodings: tuple[str, ...]
    data_page_offset: int
    dictionary_page_offset: int | None
    total_compressed_size: int

    @property
    def has_dictionary_page(self) -> bool:
        return self.dictionary_page_offset is not None


def footer_size(file: BinaryIO) -> int:
    """Bytes of the footer, as the end of the file says. ValueError if the file is shorter."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - _END, 0))
    size = int.from_bytes(file.read(4), "little")
    if size + _END > end:
        raise ValueError("its footer is cut off")
    return size


def chunks_of(file: BinaryIO) -> list[list[ColumnChunk]]:
    """The chunks of each row group. ValueError if the footer is damaged. The position of the file is not kept."""
    size = footer_size(file)
    file.seek(-_END - size, os.SEEK_END)
    footer = CompactReader(file.read(size))
    groups: list[list[ColumnChunk]] = []
    try:
        for field in footer.fields():
            if field == (4, LIST):
                groups = [_group(footer) for _ in footer.items(STRUCTURE)]
            else:
                footer.skip(field[1])
    except (IndexError, KeyError, ValueError, RecursionError):
        raise ValueError("its footer is damaged") from None
    return groups


def _group(footer: CompactReader) -> list[ColumnChunk]:
    chunks: list[ColumnChunk] = []
    for field in footer.fields():
        if field == (1, LIST):
            chunks = [_chunk(footer) for _ in footer.items(STRUCTURE)]
        else:
            footer.skip(field[1])
    return chunks


def _chunk(footer: CompactReader) -> ColumnChunk:
    found = None
    for field in footer.fields():
        if field == (3, STRUCTURE):
            found = _column(footer)
        else:
            footer.skip(field[1])
    if found is None:
        raise ValueError("a column without a description")
    return found


def _column(footer: CompactReader) -> ColumnChunk:
    numbers: dict[int, int] = {}
    encodings: list[int] = []
    path: list[str] = []
    for number, kind in footer.fields():
        if (number, kind) in {(1, _I32), (4, _I32), (7, _I64), (9, _I64), (11, _I64)}:
            numbers[number] = footer.whole()
        elif (number, kind) == (2, LIST):
            encodings = [footer.whole() for _ in footer.items(_I32)]
        elif (number, kind) == (3, LIST):
            path = [footer.bytes().decode() for _ in footer.items(BYTES)]
        else:
            footer.skip(kind)
    if numbers[1] < 0 or numbers[4] < 0:
        raise ValueError("no such type")
    return ColumnChunk(
        ".".join(path),
        _TYPES[numbers[1]],
        _CODECS[numbers[4]],
        tuple(_ENCODINGS.get(one, "UNKNOWN") for one in encodings),
        numbers[9],
        numbers.get(11),
        numbers[7],
    )
