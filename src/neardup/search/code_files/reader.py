"""Reading codes from files. Every fault names the file and the place in it."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, FormatError
from neardup.readers.arrow_checks import pyarrow
from neardup.readers.npy import read_npy_header
from neardup.search.code_files.columns import CodeColumns, CodeFile, CodeFormat, check_width, format_of
from neardup.search.disk.segment_set import open_segment
from neardup.search.disk.segments import words_of
from neardup.values.checks import checked

__all__ = ["COLUMN", "open_codes"]

COLUMN = "code"
"""The column of codes in Parquet, unless another one is named."""
_SCHEME, _BITS = b"neardup.scheme", b"neardup.bits"
_LINE = 4096  # the longest line of hexadecimal text, with its id


@checked
def open_codes(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    bits: int | None = None,
    column: str | None = None,
) -> CodeFile:
    """Open a file of codes: a segment, Parquet, npy, raw numbers (whose `bits` must be given) or hexadecimal text.

    `column` is the column of Parquet that has the codes. The name `-` is hexadecimal text on standard input.
    """
    kind = format_of(path, format)
    if bits is not None:
        check_width(bits, path)
    if column is not None and kind != "parquet":
        raise ConfigError(f"{path}: a column is of Parquet; this is read as {kind}")
    if os.fspath(path) != "-" and not os.path.isfile(path):
        there = "is a folder" if os.path.isdir(path) else "there is no such file"
        raise DataError(f"{path}: {there}; name a file of codes")
    if kind == "parquet":
        return _open_parquet(path, bits, column)
    openers: dict[CodeFormat, Callable[[Any, int | None], CodeFile]] = {
        "segment": _open_segment,
        "compressed": _open_segment,
        "npy": _open_npy,
        "raw": _open_raw,
        "hex": _open_hex,
    }
    return openers[kind](path, bits)


def _check_bits(path: object, found: int, wanted: int | None) -> int:
    if wanted is not None and wanted != found:
        raise DataError(f"{path}: its codes have {found} bits, not {wanted}")
    return check_width(found, path)


def _open_segment(path: str, bits: int | None) -> CodeFile:
    segment = open_segment(path)
    _check_bits(path, segment.bits, bits)

    def stream(size: int) -> Iterator[CodeColumns]:
        for chunk in segment.chunks(size):
            yield CodeColumns(chunk.codes, chunk.rows, np.zeros(len(chunk.rows), np.bool_))

    kind: CodeFormat = "segment" if type(segment).__name__ == "Segment" else "compressed"
    return CodeFile(os.fspath(path), kind, segment.bits, len(segment), stream, segment.scheme)


def _open_npy(path: str, bits: int | None) -> CodeFile:
    try:
        with open(path, "rb") as file:
            shape, _, dtype = read_npy_header(file)
            more = os.path.getsize(path) - file.tell() - math.prod(shape) * dtype.itemsize
        if more > 0:
            raise ValueError(f"{more:,} bytes follow the last number that its header counts")
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError, OverflowError) as error:
        raise FormatError(path, "an npy file", str(error)) from None
    name = f"{array.dtype}{list(array.shape)}"
    kind, size = array.dtype.kind, array.dtype.itemsize
    shape = array.shape[1:]
    if kind == "u" and size == 1 and len(shape) == 1 and shape[0] in (4, 8, 16):
        width = 8 * shape[0]
    elif kind in "ui" and size in (4, 8) and shape in ((), (1,)):
        width = 8 * size
    elif kind in "ui" and size == 8 and shape == (2,):
        width = 128
    else:
        raise DataError(
            f"{path}: codes are uint32[n], uint64[n], uint64[n, 2] or bytes uint8[n, 4, 8 or 16], not {name}"
        )
    narrowed = bits == 32 and width == 64
    width = 32 if narrowed else _check_bits(path, width, bits)

    def stream(step: int) -> Iterator[CodeColumns]:
        for start in range(0, len(array), step):
            words = _words(np.asarray(array[start : start + step]), width)
            if narrowed and words.size and int(words.max()) >> 32:
                row = start + int(np.flatnonzero(words[:, 0] >> np.uint64(32))[0])
                raise DataError(f"{path}: the code of row {row:,} has more than 32 bits")
            yield CodeColumns.of(words, start)

    return CodeFile(os.fspath(path), "npy", width, len(array), stream)


def _words(values: NDArray[Any], bits: int) -> NDArray[np.uint64]:
    """Codes as words: from bytes, the lowest first, or from numbers, of which negative ones are those above 2^63."""
    if values.dtype.itemsize == 1:
        full = np.zeros((len(values), 8 * words_of(bits)), np.uint8)
        full[:, : values.shape[1]] = values
        return full.view("<u8").astype(np.uint64, copy=False)
    unsigned = np.ascontiguousarray(values, values.dtype.newbyteorder("=")).view(f"u{values.dtype.itemsize}")
    return unsigned.astype(np.uint64, copy=False).reshape(len(values), -1)


def _open_raw(path: str, bits: int | None) -> CodeFile:
    if bits is None:
        raise ConfigError(f"{path}: raw numbers do not say how wide they are; give --bits (in Python bits=)")
    width, size = bits // 8, os.path.getsize(path)
    if size % width:
        raise FormatError(path, f"codes of {width} bytes each", f"{size % width} bytes after the last one")

    def stream(step: int) -> Iterator[CodeColumns]:
        with open(path, "rb") as file:
            start = 0
            while data := file.read(step * width):
                if len(data) % width:
                    raise FormatError(path, f"{size} bytes", "a file that changed while it was read")
                lines = np.frombuffer(data, np.uint8).reshape(-1, width)
                yield CodeColumns.of(_words(lines, bits), start)
                start += len(lines)

    return CodeFile(os.fspath(path), "raw", bits, size // width, stream)


def _open_hex(path: str, bits: int | None) -> CodeFile:
    """Lines of hexadecimal digits, the highest bits first, each with its id and a tab before it or without; a line
    `-` is a document without a code."""
    given = sys.stdin.buffer.read() if os.fspath(path) == "-" else None

    def lines() -> Iterator[bytes]:
        import io

        file: BinaryIO = io.BytesIO(given) if given is not None else open(path, "rb")  # noqa: SIM115
        with file:
            number = 0
            while line := file.readline(_LINE):
                number += 1
                if len(line) == _LINE:
                    raise DataError(
                        f"{path}, line {number:,}: too long for a code; is this hexadecimal text?"
                    )
                yield line.strip(b"\r\n")

    width, count, with_ids = bits, 0, None
    for line in lines():
        count += 1
        code = line.rpartition(b"\t")[2]
        with_ids = b"\t" in line if with_ids is None else with_ids
        if width is None and code != b"-":
            digits = len(_bare(code))
            if digits not in (8, 16, 32):
                raise DataError(
                    f"{path}, line {count:,}: a code has 8, 16 or 32 hexadecimal digits, not {_shown(code)}"
                )
            width = 4 * digits
    if width is None:
        raise DataError(f"{path}: has no code that says how wide codes are; give --bits (in Python bits=)")
    fixed: int = width

    def stream(step: int) -> Iterator[CodeColumns]:
        start, waiting = 0, lines()
        while block := list(islice(waiting, step)):
            yield _hex_columns(path, block, start, fixed, bool(with_ids))
            start += len(block)

    return CodeFile(os.fspath(path), "hex", fixed, count, stream, has_ids=bool(with_ids))


def _bare(code: bytes) -> bytes:
    return code[2:] if code[:2] in (b"0x", b"0X") else code


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))


def _hex_columns(path: str, block: list[bytes], start: int, bits: int, with_ids: bool) -> CodeColumns:
    ids: list[str] | None = [] if with_ids else None
    numbers, empty = bytearray(), np.zeros(len(block), np.bool_)
    for at, line in enumerate(block):
        name, tab, code = line.rpartition(b"\t")
        if bool(tab) != with_ids:
            what = (
                "has no id and tab before its code" if with_ids else "has an id, and the first line has none"
            )
            raise DataError(f"{path}, line {start + at + 1:,}: {what}")
        if ids is not None:
            ids.append(_id(path, start + at, name))
        if code == b"-":
            empty[at] = True
            numbers += bytes(bits // 8)
            continue
        digits = _bare(code)
        try:
            number = bytes.fromhex(digits.decode("ascii")) if len(digits) == bits // 4 else b""
        except ValueError:
            number = b""
        if len(number) != bits // 8:
            raise DataError(
                f"{path}, line {start + at + 1:,}: a code has {bits // 4} hexadecimal digits, not {_shown(code)}"
            )
        numbers += number
    lines = np.frombuffer(bytes(numbers), np.uint8).reshape(len(block), bits // 8)[:, ::-1]
    return CodeColumns.of(_words(lines, bits), start, empty=empty, ids=ids)


def _id(path: str, row: int, name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {row + 1:,}: its id is not UTF-8") from None


def _open_parquet(path: str | os.PathLike[str], bits: int | None, column: str | None) -> CodeFile:
    pa = pyarrow("reading Parquet")
    import pyarrow.parquet as parquet

    try:
        table = parquet.ParquetFile(Path(path))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(path, "a Parquet file", str(error)) from None
    schema, said = table.schema_arrow, table.schema_arrow.metadata or {}
    name = column or _code_column(path, schema)
    if name not in schema.names:
        raise DataError(f"{path}: has no column {name!r}; its columns are {', '.join(schema.names)}")
    width = _parquet_width(path, pa, schema.field(name).type, name)
    if width is None:
        width = int(said.get(_BITS, b"0")) or bits
    if width is None:
        raise ConfigError(f"{path}: the column {name!r} does not say how wide its codes are; give --bits")
    width = 32 if bits == 32 and width == 64 else _check_bits(path, width, bits)
    margins = {"margins", "scale"} <= set(schema.names) and column in (None, COLUMN)
    has_ids = "id" in schema.names and name != "id"
    wanted = [name, *(["id"] if has_ids else []), *(["margins", "scale"] if margins else [])]

    def stream(step: int) -> Iterator[CodeColumns]:
        start = 0
        try:
            for batch in table.iter_batches(step, columns=wanted):
                yield _parquet_columns(path, batch, name, start, width, margins)
                start += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise FormatError(path, "a whole Parquet file", f"{error} behind row {start:,}") from None

    scheme = said.get(_SCHEME)
    rows = table.metadata.num_rows
    return CodeFile(
        os.fspath(path),
        "parquet",
        width,
        rows,
        stream,
        None if scheme is None else scheme.decode("utf-8", "replace"),
        has_ids,
        margins,
    )


def _code_column(path: object, schema: Any) -> str:
    if COLUMN in schema.names:
        return COLUMN
    others = [name for name in schema.names if name not in ("id", "row")]
    if len(others) == 1:
        return str(others[0])
    raise ConfigError(
        f"{path}: which column has the codes? Name it with --column (in Python column=): {', '.join(schema.names)}"
    )


def _parquet_width(path: object, pa: Any, kind: Any, name: str) -> int | None:
    """The width of codes of a type; None for text, whose width is not known beforehand."""
    types = pa.types
    if types.is_uint64(kind) or types.is_int64(kind):
        return 64
    if types.is_uint32(kind) or types.is_int32(kind):
        return 32
    if types.is_fixed_size_binary(kind) and kind.byte_width in (4, 8, 16):
        return int(8 * kind.byte_width)
    if types.is_string(kind) or types.is_large_string(kind):
        return None
    raise DataError(
        f"{path}: the column {name!r} is {kind}; codes are whole numbers of 32 or 64 bits, binary values of 4, 8 or 16 "
        "bytes (the lowest first), or hexadecimal text"
    )


def _parquet_columns(
    path: object, batch: Any, name: str, start: int, bits: int, margins: bool
) -> CodeColumns:
    column = batch.column(name)
    empty = np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)
    text = "string" in str(column.type)
    if text or "binary" in str(column.type):
        words = np.zeros((len(column), words_of(bits)), np.uint64)
        for at, value in enumerate(column.to_pylist()):
            if value is not None:
                words[at] = _value_words(path, start + at, value, bits)
    else:
        numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
        words = _words(numbers, bits)
        if bits == 32 and words.size and int(words.max()) >> 32:
            row = start + int(np.flatnonzero(words[:, 0] >> np.uint64(32))[0])
            raise DataError(f"{path}: the code of row {row:,} has more than 32 bits")
    ids = [str(one) for one in batch.column("id").to_pylist()] if "id" in batch.schema.names else None
    sizes = scales = None
    if margins:
        sizes, scales = _margins(path, batch, start, bits)
    return CodeColumns.of(words, start, empty=empty, ids=ids, margin_bytes=sizes, margin_scales=scales)


def _value_words(path: object, row: int, value: str | bytes, bits: int) -> NDArray[np.uint64]:
    try:
        data = value if isinstance(value, bytes) else bytes.fromhex(value.removeprefix("0x"))[::-1]
    except ValueError:
        data = b""
    if len(data) != bits // 8:
        raise DataError(f"{path}: row {row:,} is not a code of {bits} bits: {str(value)[:60]!r}")
    (words,) = _words(np.frombuffer(data, np.uint8)[None], bits)
    return np.asarray(words, np.uint64)


def _margins(
    path: object, batch: Any, start: int, bits: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    lines = batch.column("margins").to_pylist()
    for at, line in enumerate(lines):
        if line is not None and (not isinstance(line, bytes) or len(line) != bits):
            raise DataError(
                f"{path}: the margins of row {start + at:,} are not {bits} bytes, one for each bit"
            )
    joined = b"".join(bytes(bits) if line is None else line for line in lines)
    scales = batch.column("scale").fill_null(0).to_numpy(zero_copy_only=False).astype(np.float32)
    if not np.isfinite(scales).all() or (scales < 0).any():
        row = start + int(np.flatnonzero(~(np.isfinite(scales) & (scales >= 0)))[0])
        raise DataError(f"{path}: the scale of row {row:,} is {scales[row - start]}, not a number from 0 up")
    return np.frombuffer(joined, np.uint8).reshape(len(lines), bits), scales
