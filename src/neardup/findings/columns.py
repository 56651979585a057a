"""The column files of a findings folder, checked against its manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.findings.manifest import MANIFEST
from neardup.storage.column_file import ColumnFile

__all__ = ["DOCUMENTS", "MAGICS", "PAIRS", "TEXTS", "FindingsColumns"]

DOCUMENTS, PAIRS, TEXTS = "documents.nd", "pairs.nd", "texts.nd"
MAGICS = {DOCUMENTS: b"NDDOCS\0\0", PAIRS: b"NDPAIRS\0", TEXTS: b"NDTEXTS\0"}
Rows = NDArray[np.int64]


class FindingsColumns:
    """The columns of findings with this many `rows`. A file is opened when a column of it is first asked for."""

    def __init__(self, path: Path, manifest: dict[str, Any], rows: int) -> None:
        self.path, self.manifest, self.rows = path, manifest, rows
        self._files: dict[str, ColumnFile] = {}

    def open(self, file: str) -> ColumnFile:
        """A column file; FormatError unless it is the one that the manifest was written for."""
        if file not in self._files:
            opened = ColumnFile(self.path / file, MAGICS[file])
            written = self.manifest.get("files", {}).get(file)
            if written is not None and written != opened.seal:
                raise opened.damage("the file that the manifest was written for", "another one")
            count = {DOCUMENTS: self.rows, PAIRS: int(self.manifest["counts"]["pairs"])}.get(file)
            if count is not None and count != opened.header.count:
                raise FormatError(
                    self.path / MANIFEST, f"{opened.header.count:,} rows in {file}", f"{count:,}"
                )
            self._files[file] = opened
        return self._files[file]

    def column(self, file: str, name: str, dtype: Any) -> NDArray[Any]:
        """A whole column."""
        opened = self.open(file)
        if opened.length(name) % np.dtype(dtype).itemsize:
            raise opened.damage(f"whole numbers of {name}", f"{opened.length(name)} bytes")
        column: NDArray[Any] = opened.read(name, 0, opened.length(name)).view(dtype)
        return column

    def documents(self, name: str, dtype: Any, below: int | None = None) -> NDArray[Any]:
        """A column about every document; its numbers are from 0 up to `below`, if that is given."""
        column = self.column(DOCUMENTS, name, dtype)
        if len(column) != self.rows:
            raise self.open(DOCUMENTS).damage(f"{self.rows} of {name}", f"{len(column)}")
        if below is not None:
            self.check_range(DOCUMENTS, name, column, below)
        return column

    def check_range(self, file: str, name: str, column: NDArray[Any], below: int) -> None:
        """FormatError unless all numbers are from 0 up and below this one."""
        if len(column) and not 0 <= int(column.min()) <= int(column.max()) < below:
            raise FormatError(
                self.path / MANIFEST, f"{name} of {file} below {below:,}", f"{column.min()} to {column.max()}"
            )

    def offsets(self, file: str, name: str, ends: Rows, length: int) -> Rows:
        """Where each part of a column begins, and where the last one ends."""
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        if (np.diff(offsets) < 0).any() or offsets[-1] != length:
            raise self.open(file).damage(f"{name} that ascend to {length}", f"up to {offsets[-1]}")
        return offsets
