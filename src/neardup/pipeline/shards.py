"""A shard: the columns of some successive documents, in memory or in one file that is whole or not there.

docs/reference/format.md, "Shard file", gives the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import FormatError
from neardup.features.texts import utf8_list
from neardup.pipeline.text_places import TextPlaces
from neardup.readers.text_block import IdColumn
from neardup.storage.column_file import ColumnFile

__all__ = [
    "DTYPES",
    "MAGIC",
    "PRINTS_MAGIC",
    "PRINT_DTYPES",
    "FileShard",
    "MemoryShard",
    "Prints",
    "Shard",
    "ShardColumns",
]

MAGIC, PRINTS_MAGIC = b"NDSHARD\0", b"NDPRINTS"
_MOST_META = 64 << 20
_VERIFIED = 16 << 20  # bytes read at a time to check them
Rows = NDArray[np.int64]

# The fingerprints of a shard's documents under names of their method's: `keys` [bands, n] and `alike` [n, 2], or
# `codes` [n, words] and `ranks` [n, many], or `places` or `values` [n, many], or whatever else a method keeps.
Prints = Mapping[str, NDArray[Any]]

# What every document has, with any method.
DTYPES: dict[str, Any] = {
    "digests": np.dtype("<u8"),
    "empty": np.dtype("u1"),
    "filtered": np.dtype("u1"),
    "tokens": np.dtype("<i8"),
    "sizes": np.dtype("<i8"),
    "files": np.dtype("<i4"),
    "places": np.dtype("<i8"),
    "sources": np.dtype("<i4"),
    "scores": np.dtype("<f8"),
}
PRINT_DTYPES: dict[str, Any] = {
    "keys": np.dtype("<u8"),
    "alike": np.dtype("<u8"),
    "codes": np.dtype("<u8"),
    "ranks": np.dtype("u1"),
    "places": np.dtype("<u8"),
    "values": np.dtype("<u4"),
}


@dataclass(frozen=True)
class ShardColumns:
    """The columns of some documents, all of one length.

    `digests` uint64[n, 2]; `empty` and `filtered` uint8, the latter a reason of `filters`; `tokens`; `sizes` in bytes
    of the document as it was read; `files` and `places`: which of `file_names` and which row in it; `sources` into
    `source_names`; `scores`, NaN where there is none. `failures` are pages that gave no text: file, row, reason;
    `whole` counts pages that were read whole because their main content was too little, `second` those that trafilatura
    read for that reason. `extras`, if there are any, only weigh the words of the documents.
    """

    ids: Sequence[str]
    digests: NDArray[np.uint64]
    empty: NDArray[np.uint8]
    filtered: NDArray[np.uint8]
    tokens: Rows
    sizes: Rows
    files: NDArray[np.int32]
    places: Rows
    sources: NDArray[np.int32]
    scores: NDArray[np.float64]
    file_names: tuple[str, ...]
    source_names: tuple[str, ...]
    failures: tuple[tuple[str, int, str], ...] = ()
    whole: int = 0
    second: int = 0
    extras: Sequence[bytes] | None = None


class Shard(Protocol):
    """The interface of a shard, in memory or in a file."""

    count: int
    file_names: tuple[str, ...]
    source_names: tuple[str, ...]
    failures: tuple[tuple[str, int, str], ...]
    whole: int
    second: int

    def column(self, name: str) -> NDArray[Any]:
        """A whole column."""
        ...

    def prints(self, name: str) -> NDArray[Any]:
        """A column of fingerprints, in its own shape."""
        ...

    def print_rows(self, name: str, rows: Rows) -> NDArray[Any]:
        """Some rows of a column of fingerprints; they ascend."""
        ...

    def keys(self, band: int) -> NDArray[np.uint64]:
        """One band's keys of all documents."""
        ...

    def ids(self, rows: Rows) -> list[str]: ...

    def id_bytes(self) -> tuple[NDArray[np.uint8], Rows]:
        """All ids as one buffer of UTF-8, and where each ends."""
        ...

    def text_bytes(self, rows: Rows) -> list[bytes]:
        """The texts of some documents as UTF-8; rows ascend."""
        ...

    def extras(self, rows: Rows) -> list[bytes]:
        """The extra texts of some documents, empty where there are none; rows ascend."""
        ...

    def release(self) -> None:
        """Texts asked for are no longer in use; their memory can be freed."""
        ...

    def text_ranges(self, rows: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        """Where the texts of some rows are in the files of a user; see `TextPlaces.ranges`."""
        ...

    def texts(self, rows: Rows) -> _core.Texts:
        """The texts of some documents, to be compared; rows ascend."""
        ...


class MemoryShard:
    """A shard held in memory. Its texts are where their owner stores them: nothing is copied."""

    def __init__(self, columns: ShardColumns, texts: _core.Texts, prints: Prints | None = None) -> None:
        self._columns, self._texts, self._prints = columns, texts, prints
        self.count = len(columns.ids)
        self.file_names, self.source_names = columns.file_names, columns.source_names
        self.failures = columns.failures
        self.whole = columns.whole
        self.second = columns.second

    def column(self, name: str) -> NDArray[Any]:
        found: NDArray[Any] = getattr(self._columns, name)
        return found

    def attach(self, prints: Prints) -> None:
        """Give it its fingerprints."""
        self._prints = prints

    @property
    def kept(self) -> Prints:
        """All columns of fingerprints that its method keeps."""
        assert self._prints is not None, "fingerprints are made before they are searched"
        return self._prints

    def prints(self, name: str) -> NDArray[Any]:
        return self.kept[name]

    def print_rows(self, name: str, rows: Rows) -> NDArray[Any]:
        found: NDArray[Any] = self.prints(name)[rows]
        return found

    def keys(self, band: int) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = self.prints("keys")[band]
        return keys

    @cached_property
    def _names(self) -> list[str]:
        return list(self._columns.ids)

    def ids(self, rows: Rows) -> list[str]:
        return [self._names[row] for row in rows.tolist()]

    def id_bytes(self) -> tuple[NDArray[np.uint8], Rows]:
        column = IdColumn.of(self._columns.ids)
        return column.data, column.ends

    def extras(self, rows: Rows) -> list[bytes]:
        held = self._columns.extras
        return [b"" if held is None else held[row] for row in rows.tolist()]

    def release(self) -> None:
        pass

    def text_bytes(self, rows: Rows) -> list[bytes]:
        return utf8_list(self.texts(rows))

    def text_ranges(self, rows: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        return iter(())

    def texts(self, rows: Rows) -> _core.Texts:
        return self._texts.take(rows)


class FileShard:
    """A shard in a file. Opening checks its header; columns are checked as they are read. Texts are mapped, and given
    back by `release`, or read from their place in a user's file; everything else is read."""

    def __init__(self, path: str | PathLike[str], scheme: str | None = None) -> None:
        self._file = file = ColumnFile(path, MAGIC)
        self.path, self.count, self.scheme = file.path, file.header.count, file.header.scheme
        if scheme is not None and scheme != self.scheme:
            raise FormatError(file.path, f"a shard of scheme {scheme}", f"one of {self.scheme}")
        for name, dtype in DTYPES.items():
            width = 2 if name == "digests" else 1
            if file.length(name) != self.count * width * dtype.itemsize:
                raise file.damage(f"a column {name} of {self.count} documents", f"{file.length(name)} bytes")
        for name in ("ends", "idends"):
            if file.length(name) != 8 * self.count:
                raise file.damage(f"a column {name} of {self.count} documents", f"{file.length(name)} bytes")
        if file.length("meta") > _MOST_META:
            raise file.damage("a shard's facts", f"{file.length('meta')} bytes of them")
        meta = json.loads(file.read("meta", 0, file.length("meta")).tobytes())
        self.file_names: tuple[str, ...] = tuple(meta["files"])
        self.source_names: tuple[str, ...] = tuple(meta["sources"])
        self.failures = tuple((str(f), int(row), str(why)) for f, row, why in meta["failures"])
        self.whole = int(meta.get("whole", 0))
        self.second = int(meta.get("second", 0))
        self.threads = 1
        self._placed: TextPlaces | None = None
        self._texts_of: tuple[NDArray[Any], NDArray[Any]] | None = (
            None  # file and size of each text in a place
        )
        if "text_files" in meta:
            for name in ("begins", "raws"):
                if file.length(name) != 8 * self.count:
                    raise file.damage(
                        f"a column {name} of {self.count} documents", f"{file.length(name)} bytes"
                    )
            begins, raws = (
                file.read(name, 0, 8 * self.count).view("<i8").astype(np.int64) for name in ("begins", "raws")
            )
            named = [one and (str(one[0]), int(one[1]), int(one[2])) for one in meta["text_files"]]
            self._placed = TextPlaces(begins, raws, named)
        self._sound: set[str] = set()  # columns of ends that were found to ascend
        self._prints: ColumnFile | None = None
        self._shapes: dict[str, list[int]] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def attach(self, path: str | PathLike[str], scheme: str) -> None:
        """Open the file of its fingerprints; FormatError if they are of another scheme or of other documents."""
        file = ColumnFile(path, PRINTS_MAGIC)
        if (file.header.count, file.header.scheme) != (self.count, scheme):
            got = f"{file.header.count} of {file.header.scheme}"
            raise file.damage(f"{self.count} fingerprints of {scheme}", got)
        shapes = json.loads(file.read("meta", 0, min(file.length("meta"), _MOST_META)).tobytes())
        self._types = {
            name: PRINT_DTYPES.get(name) or np.dtype(shape.pop(0)) for name, shape in shapes.items()
        }
        for name, shape in shapes.items():
            if int(np.prod(shape)) * self._types[name].itemsize != file.length(name):
                raise file.damage(f"a column {name} of shape {shape}", f"{file.length(name)} bytes")
        self._prints, self._shapes = file, shapes

    def verify(self, threads: int = 1) -> None:
        """Raise FormatError unless all columns, of its fingerprints too, are as they were written."""
        for file in [self._file] if self._prints is None else [self._file, self._prints]:
            for column in file.header.columns:
                for start in range(0, column.length, _VERIFIED):
                    file.read(column.name, start, min(start + _VERIFIED, column.length), threads)

    def column(self, name: str) -> NDArray[Any]:
        data: NDArray[Any] = self._file.read(name, 0, self._file.length(name)).view(DTYPES[name])
        return data.reshape(-1, 2) if name == "digests" else data

    def prints(self, name: str) -> NDArray[Any]:
        assert self._prints is not None, "fingerprints are made before they are searched"
        data: NDArray[Any] = self._prints.read(name, 0, self._prints.length(name)).view(self._types[name])
        return data.reshape(self._shapes[name])

    def print_rows(self, name: str, rows: Rows) -> NDArray[Any]:
        assert self._prints is not None, "fingerprints are made before they are searched"
        file, shape = self._prints, self._shapes[name]
        width = int(np.prod(shape[1:])) * self._types[name].itemsize
        file.check_spans(name, rows * width, (rows + 1) * width)
        return file.unchecked(name).view(self._types[name]).reshape(shape)[rows]

    def keys(self, band: int) -> NDArray[np.uint64]:
        assert self._prints is not None, "fingerprints are made before they are searched"
        size = 8 * self.count
        return self._prints.read("keys", band * size, (band + 1) * size).view("<u8")

    def ids(self, rows: Rows) -> list[str]:
        data, begins, ends = self._spans("ids", "idends", rows)
        return [data[a:b].tobytes().decode() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def text_ranges(self, rows: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        if self._placed is not None:
            yield from self._placed.ranges(rows, self._placed_texts()[0])

    def texts(self, rows: Rows) -> _core.Texts:
        texts = _core.Texts()
        texts.add_spans(*self._text_spans(rows))
        return texts

    def id_bytes(self) -> tuple[NDArray[np.uint8], Rows]:
        ends = self._file.read("idends", 0, 8 * self.count).view("<i8").astype(np.int64)
        return self._file.read("ids", 0, self._file.length("ids")), ends

    def text_bytes(self, rows: Rows) -> list[bytes]:
        data, begins, ends = self._text_spans(rows)
        return [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def extras(self, rows: Rows) -> list[bytes]:
        if "extras" not in {column.name for column in self._file.header.columns}:
            return [b""] * len(rows)
        data, begins, ends = self._spans("extras", "extends", rows)
        return [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def _text_spans(self, rows: Rows) -> tuple[NDArray[np.uint8], Rows, Rows]:
        """A buffer with the texts of these rows, and where each is in it."""
        if self._placed is None:
            return self._spans("texts", "ends", rows)
        return self._placed.read(rows, *self._placed_texts(), self._stored, self.threads)

    def _placed_texts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The file and the size of each text."""
        if self._texts_of is None:
            self._texts_of = self.column("files"), self.column("sizes")
        return self._texts_of

    def _stored(self, rows: Rows) -> list[bytes]:
        """Texts that are in the shard itself."""
        data, begins, ends = self._spans("texts", "ends", rows)
        return [data[a:b].tobytes() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def _spans(self, name: str, ends_name: str, rows: Rows) -> tuple[NDArray[np.uint8], Rows, Rows]:
        """The mapped column with the texts of these rows, and where each is in it, after their blocks are checked."""
        file, ends = self._file, self._ends(ends_name, name)
        begins = np.concatenate([[0], ends])[rows]
        wanted = ends[rows]
        file.check_spans(name, begins, wanted)
        return file.unchecked(name), begins, wanted

    def _ends(self, name: str, of: str) -> Rows:
        ends: Rows = self._file.column(name).view("<i8").astype(np.int64, copy=False)
        if name in self._sound:
            return ends
        if len(ends) and (ends[0] < 0 or np.any(np.diff(ends) < 0) or ends[-1] != self._file.length(of)):
            raise self._file.damage(f"ascending ends of {of}", "others")
        self._sound.add(name)
        return ends

    def release(self) -> None:
        self._file.release()
