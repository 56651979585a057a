"""Writing codes to files. A file appears when it is complete."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from neardup.errors import ConfigError, DataError
from neardup.readers.arrow_checks import pyarrow
from neardup.search.code_files.columns import CodeColumns, check_width, format_of
from neardup.search.code_files.reader import COLUMN
from neardup.search.disk.compressed import compress_segment
from neardup.search.disk.segment_writer import SegmentWriter
from neardup.search.disk.segments import Segment
from neardup.storage.output import Output, check_output_file, is_stream, open_output
from neardup.values.checks import checked, checked_methods

__all__ = ["CodeWriter"]

_HEADER = 128  # bytes of an npy header, which is written again with the number of rows


@checked_methods
class CodeWriter:
    """Writes codes to a file in the format that its name says; to be used in a `with`. An error leaves nothing behind.

    Segments are sorted under the `memory` limit and leave out empty documents. Only Parquet and hexadecimal text can
    say that a document has no code; with the others it is a DataError. Only Parquet keeps scheme and margins.
    """

    @checked
    def __init__(
        self,
        path: str | os.PathLike[str],
        scheme: str,
        bits: int,
        *,
        format: str | None = None,
        memory: int | str = "1GB",
        overwrite: bool = False,
        threads: int = 1,
    ) -> None:
        self.path, self.format = os.fspath(path), format_of(path, format)
        self.scheme, self.bits, self.rows, self.empty = scheme, check_width(bits, path), 0, 0
        self._memory, self._threads, self._overwrite = memory, threads, overwrite
        self._stack = ExitStack()
        self._sorted = self.path
        self._with_ids = self._with_margins = False
        self._output: Output | None = None
        self._segment: SegmentWriter | None = None
        self._table: Any = None

    def __enter__(self) -> Self:
        if self.format in ("segment", "compressed"):
            if is_stream(self.path):
                raise ConfigError(f"{self.path}: a segment is written to a file; name one")
            check_output_file(self.path, overwrite=self._overwrite)
            if self.format == "compressed":  # it is made of a sorted segment, which is removed afterwards
                folder = os.path.dirname(os.path.abspath(self.path))
                hidden = tempfile.TemporaryDirectory(dir=folder, prefix=f".{os.path.basename(self.path)}.")
                self._sorted = os.path.join(self._stack.enter_context(hidden), "sorted.seg")
            self._segment = SegmentWriter(
                self._sorted, self.scheme, self.bits, memory=self._memory, threads=self._threads
            )
            self._stack.push(self._segment)
            return self
        if self.format == "parquet":
            pyarrow("writing Parquet")
        output = open_output(self.path, overwrite=self._overwrite)
        self._output = output
        self._stack.push(output)
        if self.format == "npy":
            if is_stream(self.path):
                raise ConfigError(f"{self.path}: npy is written to a file; name one")
            output.write(bytes(_HEADER))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            if self._table is not None:  # it writes when it is closed: better now than when it is collected
                with suppress(Exception):
                    self._table.close()
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            if self.format == "parquet":
                self._parquet().close()
            elif self.format == "npy" and self._output is not None:
                self._output.file.seek(0)
                self._output.write(self._npy_header())
            elif self.format == "compressed" and self._segment is not None:
                self._segment.__exit__(None, None, None)
                with Segment.open(self._sorted) as segment:
                    compress_segment(segment, self.path)

    def add(self, columns: CodeColumns) -> None:
        """More codes, with rows that follow those before."""
        none = int(columns.empty.sum())
        self.rows, self.empty = self.rows + len(columns), self.empty + none
        if self.format in ("npy", "raw") and none:
            first = int(columns.rows[np.flatnonzero(columns.empty)[0]])
            raise DataError(
                f"{self.path}: row {first:,} is an empty document, which has no code, and {self.format} cannot say so: "
                "write Parquet, hexadecimal text or a segment"
            )
        if self._segment is not None:
            there = ~columns.empty
            self._segment.add(columns.codes[there], columns.rows[there])
        elif self.format == "parquet":
            table = self._arrow(columns)
            self._parquet().write_table(table)
        else:
            assert self._output is not None
            self._output.write(self._bytes(columns))

    def _bytes(self, columns: CodeColumns) -> bytes:
        lines = columns.codes.astype("<u8", copy=False).view(np.uint8).reshape(len(columns), -1)
        lines = lines[:, : self.bits // 8]
        if self.format != "hex":
            return np.ascontiguousarray(lines).tobytes()
        digits, size = np.ascontiguousarray(lines[:, ::-1]).tobytes().hex(), self.bits // 4
        text = []
        for at in range(len(columns)):
            code = "-" if columns.empty[at] else digits[at * size : (at + 1) * size]
            name = None if columns.ids is None else columns.ids[at]
            if name is not None and not name.isprintable():
                raise DataError(f"{self.path}: the id {name[:60]!r} does not fit in a line; write Parquet")
            text.append(code if name is None else f"{name}\t{code}")
        return "".join(f"{line}\n" for line in text).encode()

    def _npy_header(self) -> bytes:
        shape = f"({self.rows}, 2)" if self.bits == 128 else f"({self.rows},)"
        kind = "<u4" if self.bits == 32 else "<u8"
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        return (
            b"\x93NUMPY\x01\x00"
            + (_HEADER - 10).to_bytes(2, "little")
            + (head.ljust(_HEADER - 11).encode() + b"\n")
        )

    def _schema(self) -> Any:
        pa = pyarrow("writing Parquet")
        kind = {32: pa.uint32(), 64: pa.uint64(), 128: pa.binary(16)}[self.bits]
        fields = [("id", pa.string())] if self._with_ids else []
        fields += [(COLUMN, kind)]
        fields += [("margins", pa.binary(self.bits)), ("scale", pa.float32())] if self._with_margins else []
        return pa.schema(fields, {"neardup.scheme": self.scheme, "neardup.bits": str(self.bits)})

    def _parquet(self) -> Any:
        if self._table is None:
            from pyarrow import parquet

            assert self._output is not None
            self._table = parquet.ParquetWriter(self._output.file, self._schema(), compression="zstd")
        return self._table

    def _arrow(self, columns: CodeColumns) -> Any:
        pa = pyarrow("writing Parquet")
        if self._table is None:
            self._with_ids, self._with_margins = columns.ids is not None, columns.margin_bytes is not None
        schema, empty = self._schema(), columns.empty
        made: list[Any] = [] if columns.ids is None else [pa.array(columns.ids, pa.string())]
        if self.bits == 128:
            lines = columns.codes.astype("<u8", copy=False).tobytes()
            values = [None if gone else lines[16 * at : 16 * at + 16] for at, gone in enumerate(empty)]
            made.append(pa.array(values, pa.binary(16)))
        else:
            kind = np.uint32 if self.bits == 32 else np.uint64
            made.append(pa.array(columns.codes[:, 0].astype(kind), mask=empty))
        if columns.margin_bytes is not None:
            data = pa.py_buffer(np.ascontiguousarray(columns.margin_bytes))
            made.append(pa.Array.from_buffers(pa.binary(self.bits), len(columns), [None, data]))
            made.append(pa.array(columns.margin_scales, pa.float32()))
        return pa.Table.from_arrays(made, schema=schema)
