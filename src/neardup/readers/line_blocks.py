"""A stream of lines cut into blocks of whole lines, each in a buffer of its own."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.readers.encodings import Bytes
from neardup.readers.lines import CHUNK

__all__ = ["SAMPLE", "Block", "LineBlocks"]

_BLOCK, _SPARE = 1 << 20, 1 << 16
SAMPLE = 400  # bytes that are shown of a line beyond the limit
_BOM = b"\xef\xbb\xbf"

# Whole lines, each with its line end, or, not whole, the beginning of one beyond the limit; and where in the file.
Block = tuple[memoryview, bool, int]


class LineBlocks:
    """The blocks of a stream one by one, each in a buffer of its own until it is given back. `ended` says that nothing
    follows the latest one."""

    def __init__(self, stream: Bytes, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._free: list[bytearray] = []
        self._found = self._cut()
        self._next = next(self._found, None)

    @property
    def ended(self) -> bool:
        return self._next is None

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        block = self._next
        if block is None:
            raise StopIteration
        self._next = next(self._found, None)
        return block

    def give_back(self, block: memoryview) -> None:
        """The buffer of this block may be used again."""
        room = block.obj
        if isinstance(room, bytearray) and len(room) == _BLOCK + _SPARE:
            self._free.append(room)

    def _room(self) -> bytearray:
        return self._free.pop() if self._free else bytearray(_BLOCK + _SPARE)

    def _cut(self) -> Iterator[Block]:
        stream, limit = self._stream, self._limit
        room, used, first, skipping = self._room(), 0, True, False
        start = 0  # where in the file the room begins
        while True:
            if len(room) == used:
                room = room + bytearray(max(_BLOCK + _SPARE, used))
            got, room = self._fill(room, used)
            if not got:
                break
            begin, used = 0, used + got
            if first:
                if used < len(_BOM):
                    continue
                begin, first = len(_BOM) if room.startswith(_BOM) else 0, False
            if skipping:
                end = room.find(b"\n", begin, used)
                if end < 0:
                    start, used = start + used, 0
                    continue
                begin, skipping = end + 1, False
            end = room.find(b"\n", begin, used)
            if end - begin > limit:
                # The first line is too long; what follows it is not.
                yield memoryview(bytes(room[begin : begin + SAMPLE])), False, start + begin
                begin = end + 1
            end = room.rfind(b"\n", begin, used)
            if end >= 0:
                rest = self._room() if used - end - 1 <= _BLOCK + _SPARE else bytearray(used - end - 1)
                rest[: used - end - 1] = memoryview(room)[end + 1 : used]
                yield memoryview(room)[begin : end + 1], True, start + begin
                room, start, used = rest, start + end + 1, used - end - 1
            else:
                room[: used - begin] = room[begin:used]
                start, used = start + begin, used - begin
            if used > limit:
                yield memoryview(bytes(room[:SAMPLE])), False, start
                start, used, skipping = start + used, 0, True
        if used and stream.damage is None:
            begin = len(_BOM) if first and room.startswith(_BOM) else 0
            if used > begin:
                yield memoryview(room[begin:used] + b"\n"), True, start + begin

    def _fill(self, room: bytearray, used: int) -> tuple[int, bytearray]:
        """More of the stream behind what is used of the room; how much, and the room, which may have grown."""
        stream = self._stream
        if stream.direct:
            return stream.readinto(memoryview(room)[used:]), room
        # Decompressors give as much as they like: little at a time mostly, which is gathered, or a lot.
        data = b"".join(_pieces(stream))
        room = room if used + len(data) <= len(room) else room[:used] + bytearray(len(data))
        room[used : used + len(data)] = data
        return len(data), room


def _pieces(stream: Bytes) -> Iterator[bytes]:
    """About a block of a compressed stream, read in the steps that the line reader takes, so that of a damaged file
    both get the same."""
    size = 0
    while (not size or size < _BLOCK // 2) and (piece := stream.read(CHUNK)):
        size += len(piece)
        yield piece
