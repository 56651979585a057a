"""Documents of one file as columns: what a scan reads, without a Python object for each document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from neardup.readers.document import Document

__all__ = ["IdColumn", "TextBlock", "TextPlace"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IdColumn(Sequence[str]):
    """Ids as one buffer of UTF-8, and where each ends."""

    data: NDArray[np.uint8]
    ends: Rows

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(self)[index]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} ids")
        index %= len(self)
        begin = int(self.ends[index - 1]) if index else 0
        return self.data[begin : self.ends[index]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        data, begin = self.data.tobytes(), 0
        for end in self.ends.tolist():
            yield data[begin:end].decode()
            begin = end

    @classmethod
    def of(cls, ids: Sequence[str]) -> IdColumn:
        """The same ids as columns."""
        if isinstance(ids, cls):
            return ids
        return cls(*joined([name.encode() for name in ids]))

    @classmethod
    def together(cls, parts: Iterable[Sequence[str]]) -> IdColumn:
        """The ids of several parts, one after another."""
        columns = [cls.of(part) for part in parts]
        return cls(
            np.concatenate([np.empty(0, np.uint8), *(column.data for column in columns)]),
            ends_together([column.ends for column in columns]),
        )


def joined(items: Sequence[bytes]) -> tuple[NDArray[np.uint8], Rows]:
    """Some bytes one after another, and where each ends."""
    ends = np.cumsum(np.fromiter(map(len, items), np.int64, len(items)))
    return np.frombuffer(b"".join(items), np.uint8), ends


def ends_together(parts: Sequence[Rows]) -> Rows:
    """Ends in one buffer, where each part had a buffer of its own."""
    last = [int(ends[-1]) if len(ends) else 0 for ends in parts]
    before = np.cumsum([0, *last])
    moved = (ends + start for ends, start in zip(parts, before[:-1].tolist(), strict=True))
    return np.concatenate([np.empty(0, np.int64), *moved])


@dataclass(frozen=True)
class TextPlace:
    """Where the texts of a block are in a plain local file: text i from byte `begins[i]` on, in `raws[i]` bytes of a
    JSON string; -1 where it is not the value of one. Size and time of last change show whether the file is still the
    same."""

    path: str
    size: int
    changed: int
    begins: Rows
    raws: Rows


@dataclass(frozen=True)
class TextBlock:
    """Documents of one file: text i is the UTF-8 `data[offsets[i]:offsets[i + 1]]`, its row in the file `rows[i]`.

    `place` says where the texts can be read again, if that is known; `worked` is what the caller's work made of them.
    """

    file: str
    rows: Rows
    ids: Sequence[str]
    data: NDArray[np.uint8]
    offsets: Rows
    html: bool = False
    place: TextPlace | None = None
    worked: Any = None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, file: str, rows: list[int], documents: list[Document], html: bool = False) -> TextBlock:
        """The columns of documents; `html` says that their texts are pages."""
        data, ends = joined([document.text.encode() for document in documents])
        ids = [document.id for document in documents]
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        return cls(file, np.array(rows, np.int64), ids, data, offsets, html)

    def behind(self, start: int) -> TextBlock:
        """The documents from `start` on."""
        if start == 0:
            return self
        place = self.place
        if place is not None:
            place = replace(place, begins=place.begins[start:], raws=place.raws[start:])
        return replace(
            self,
            rows=self.rows[start:],
            ids=self.ids[start:],
            data=self.data[self.offsets[start] :],
            offsets=self.offsets[start:] - self.offsets[start],
            place=place,
            worked=None,
        )

    def merged(self, other: TextBlock) -> TextBlock:
        """These documents and others of the same file, in the order of their rows."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows, kind="stable")
        names = [*self.ids, *other.ids]
        data = np.concatenate([self.data[: self.offsets[-1]], other.data])
        begins = np.concatenate([self.offsets[:-1], other.offsets[:-1] + self.offsets[-1]])[order]
        ends = np.concatenate([self.offsets[1:], other.offsets[1:] + self.offsets[-1]])[order]
        spans = zip(begins.tolist(), ends.tolist(), strict=True)
        texts, offsets = joined([data[a:b].tobytes() for a, b in spans])
        place = self.place
        if place is not None:
            none = np.zeros(len(other), np.int64)
            place = replace(
                place,
                begins=np.concatenate([place.begins, none - 1])[order],
                raws=np.concatenate([place.raws, none])[order],
            )
        return TextBlock(
            self.file,
            rows[order],
            [names[i] for i in order.tolist()],
            texts,
            np.concatenate([[0], offsets]).astype(np.int64),
            self.html,
            place,
        )

    def without_place(self) -> tuple[NDArray[np.uint8], Rows]:
        """The texts that cannot be read again from the file, one after another, and the bytes of each text there."""
        sizes = np.diff(self.offsets)
        if self.place is None:
            return self.data[: self.offsets[-1]], sizes
        own = self.place.begins < 0
        spans = zip(self.offsets[:-1][own].tolist(), self.offsets[1:][own].tolist(), strict=True)
        texts, _ = joined([self.data[a:b].tobytes() for a, b in spans])
        return texts, np.where(own, sizes, 0)

    def documents(self) -> list[Document]:
        """The documents, without what else their lines held."""
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        texts = (self.data[a:b].tobytes().decode() for a, b in zip(begins, ends, strict=True))
        return [Document(name, text) for name, text in zip(self.ids, texts, strict=True)]
