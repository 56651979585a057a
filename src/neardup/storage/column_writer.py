"""Writes column files piece by piece. A file gets its final name only when it is complete."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.storage.atomic_file import AtomicFile, named_errors, write_at
from neardup.storage.column_file import MOST_SCHEME, PAGE, Column, Header, aligned, pieces
from neardup.values.threads import check_threads

__all__ = ["ColumnFileWriter"]


class ColumnFileWriter:
    """Writes a column file under a temporary name, for use in a `with` block; `finish` gives it its final name.

    `columns` has (name, block, length in bytes) in file order. An unknown length is None: the first such column grows
    in place, and the columns after it are written to temporary files beside the target. A file that is not `durable`
    is not synced: it survives the death of the process, not a power failure.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        magic: bytes,
        flags: int,
        bits: int,
        scheme: str,
        parameter: int,
        columns: Sequence[tuple[str, int, int | None]],
        durable: bool = True,
    ) -> None:
        self.path = Path(path)
        if len(scheme.encode()) > MOST_SCHEME:
            raise DataError(f"a scheme may have {MOST_SCHEME} bytes, this one has {len(scheme.encode())}")
        self._magic, self._flags, self._bits = magic, flags, bits
        self._scheme, self._parameter = scheme, parameter
        self._blocks = {name: block for name, block, _ in columns}
        self._promised = {name: length for name, _, length in columns}
        self._written = dict.fromkeys(self._blocks, 0)
        self._rest: dict[str, NDArray[np.uint8]] = {name: np.empty(0, np.uint8) for name in self._blocks}
        self._sums: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in self._blocks}
        self._starts: dict[str, int] = {}
        self._spools: dict[str, IO[bytes]] = {}
        self._whole = AtomicFile(self.path, durable=durable)
        self._file = self._whole.file
        self._open = contextlib.ExitStack()
        self._open.callback(self._whole.discard)
        at: int | None = PAGE
        for name, _, length in columns:
            if at is None:
                spool = tempfile.TemporaryFile(dir=self.path.parent)  # noqa: SIM115
                self._spools[name] = self._open.enter_context(spool)
            else:
                self._starts[name] = at
                at = None if length is None else aligned(at + length)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def append(self, name: str, values: NDArray[np.generic], threads: int = 1) -> None:
        """Add numbers to the end of a column."""
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        promised = self._promised[name]
        if promised is not None and self._written[name] + len(data) > promised:
            raise DataError(f"column {name} was declared with {promised} bytes and got more")
        if name in self._starts:
            self._write(self._starts[name] + self._written[name], data)
        else:
            self._spools[name].write(data.data)
        self._written[name] += len(data)
        block, rest = self._blocks[name], self._rest[name]
        if len(rest):
            missing = block - len(rest)
            rest, data = np.concatenate([rest, data[:missing]]), data[missing:]
            if len(rest) < block:
                self._rest[name] = rest
                return
            self._sum(name, rest, threads)
        whole = len(data) - len(data) % block
        self._sum(name, data[:whole], threads)
        self._rest[name] = data[whole:].copy()

    def finish(self, count: int) -> None:
        """Write the rest, the checksums and the header, and give the file its final name."""
        columns, at = [], PAGE
        for name, promised in self._promised.items():
            if promised is not None and self._written[name] != promised:
                raise DataError(
                    f"column {name} was declared with {promised} bytes and got {self._written[name]}"
                )
            self._sum(name, self._rest[name], 1)
            columns.append(Column(name, at, self._written[name], self._blocks[name]))
            at = aligned(at + self._written[name])
        for column in columns:
            if (spool := self._spools.get(column.name)) is not None:
                spool.seek(0)
                self._file.seek(column.start)
                shutil.copyfileobj(spool, self._file, 1 << 20)
        sums = [part for parts in self._sums.values() for part in parts]
        table = np.concatenate([np.empty(0, np.uint64), *sums])
        header = Header(
            self._magic, self._flags, self._bits, count, self._parameter, self._scheme, tuple(columns)
        )
        self._file.truncate(at + table.nbytes)
        self._write(at, table.view(np.uint8))
        self._write(0, np.frombuffer(header.pack(at + table.nbytes, at, table), np.uint8))
        self._whole.commit()

    def _sum(self, name: str, data: NDArray[np.uint8], threads: int) -> None:
        if not len(data):
            return
        block = self._blocks[name]
        done = sum(map(len, self._sums[name]))
        seed = (list(self._blocks).index(name) << 48) + done
        which = np.arange(pieces(len(data), block))
        self._sums[name].append(_core.block_checksums(data, block, seed, which, check_threads(threads)))

    def _write(self, at: int, data: NDArray[np.uint8]) -> None:
        with named_errors(self._whole.path):
            write_at(self._file.fileno(), data.data, at)
