"""Thrift's compact protocol, as much of it as Parquet's footers and page headers need."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["BYTES", "LIST", "STRUCTURE", "WHOLE", "CompactReader"]

WHOLE = (4, 5, 6)  # the kinds of fields: whole numbers of 2, 4 and 8 bytes
BYTES, LIST, STRUCTURE = 8, 9, 12
_TRUE, _FALSE, _BYTE, _DOUBLE, _SET = 1, 2, 3, 7, 10


class CompactReader:
    """A structure in bytes that nobody checked. What does not fit raises IndexError, ValueError or RecursionError."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and kind of each field of a structure. The caller reads the value of one before it asks for the
        next."""
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else self.whole()
            yield number, kind

    def items(self, kind: int) -> Iterator[None]:
        """Once for each item of a list, which the caller reads; ValueError if they are of another kind."""
        size, given = self._list()
        if size and given != kind:
            raise ValueError(f"a list of kind {given} in place of {kind}")
        for _ in range(size):
            yield

    def whole(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def bytes(self) -> bytes:
        size = self._varint()
        if self.at + size > len(self.data):
            raise IndexError("bytes behind the end")
        self.at += size
        return self.data[self.at - size : self.at]

    def skip(self, kind: int) -> None:
        if kind in WHOLE:
            self._varint()
        elif kind == BYTES:
            size = self._varint()
            self.at += size
        elif kind == STRUCTURE:
            for _, inner in self.fields():
                self.skip(inner)
        elif kind in (LIST, _SET):
            self._skip_list()
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        elif kind not in (_TRUE, _FALSE):  # those have no bytes of their own in a structure
            raise ValueError(f"no kind {kind} in Parquet")

    def _skip_list(self) -> None:
        size, kind = self._list()
        for _ in range(size):
            if kind in (_TRUE, _FALSE):
                self.at += 1
            else:
                self.skip(kind)
            if self.at > len(self.data):
                raise IndexError("a list behind the end")

    def _list(self) -> tuple[int, int]:
        """The number of its items, and their kind."""
        head = self._byte()
        size = head >> 4
        return self._varint() if size == 15 else size, head & 15

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("a number without an end")
