"""An Arrow file, a record batch at a time, without the batches that are too large to decode."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

from neardup.readers.arrow_messages import FILE_MARK, Message
from neardup.readers.interface import Terms

__all__ = ["ArrowFile"]


@dataclass(frozen=True)
class ArrowFile:
    """`reader` is that of pyarrow, for a file or a stream, and `place` what it reads from. `most` bytes may be
    decoded at a time. A large batch of a file on this machine that is not compressed is mapped: only rows that are
    used are in memory."""

    reader: Any
    place: Any
    messages: Sequence[Message]
    whole: bool
    most: int
    mapped: mmap.mmap | None = None

    @classmethod
    def open(cls, file: BinaryIO, messages: Sequence[Message], whole: bool, most: int) -> ArrowFile:
        """ArrowException if it is no such file."""
        import pyarrow as pa

        large = any(message.size > most // 4 and not message.decompressed for message in messages)
        mapped = _mapped(file) if large else None
        file.seek(0)
        named = file.read(len(FILE_MARK)) == FILE_MARK
        file.seek(0)
        place = file if mapped is None else pa.BufferReader(pa.py_buffer(mapped))
        reader = pa.ipc.open_file(place) if named else pa.ipc.open_stream(place)
        return cls(reader, place, messages, whole, most, mapped)

    @property
    def schema(self) -> Any:
        return self.reader.schema

    def batches(self, name: str, terms: Terms, wanted: Sequence[str]) -> Iterator[tuple[Any, int]]:
        """The wanted columns of each batch and its number of rows; None for one that was rejected. ArrowException if
        the file is damaged."""
        import pyarrow as pa

        shared = sum(self._decoded(message) for message in self.messages if message.dictionary)
        if shared > self.most:
            detail = f"its dictionaries take {shared:,} bytes at once to decode; give more memory"
            terms.rejects.add(name, None, "too large", detail)
            return
        row, number = 0, 0
        for message in self.messages:
            if message.dictionary:
                continue
            size, many = self._decoded(message), message.rows
            if size > 2 * self.most:
                rows = f"rows {row + 1:,} to {row + many:,}"
                detail = f"{rows} take {size:,} bytes at once to decode; give more memory"
                terms.rejects.add(name, row + 1, "too large", detail)
                if not self._random:
                    self.place.seek(message.end)
                yield None, many
            else:
                batch = self.reader.get_batch(number) if self._random else self.reader.read_next_batch()
                many = batch.num_rows
                yield batch.select(wanted), many
            row, number = row + many, number + 1
        if not self.whole:
            raise pa.ArrowInvalid("a message is damaged, or the end mark is missing: rows may be missing")

    def released(self, piece: Any) -> Any:
        """The same piece of a batch, after all memory of the pieces before it was freed."""
        if self.mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self.mapped.madvise(mmap.MADV_DONTNEED)
        return piece

    def __enter__(self) -> ArrowFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released(None)  # the mapping itself ends with the last batch that points into it

    @property
    def _random(self) -> bool:
        return hasattr(self.reader, "get_batch")

    def _decoded(self, message: Message) -> int:
        """The bytes that are in memory when the message has been read."""
        return message.decompressed or (0 if self.mapped is not None else message.size)


def _mapped(file: BinaryIO) -> mmap.mmap | None:
    """The file in memory as far as it is used; None if it is on no disk of this machine."""
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, AttributeError):
        return None
